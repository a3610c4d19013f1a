// Where two widely read sets of notes on Transformers are off, or seem to be: what they say, typed
// in, beside what the library computes.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cat_chases_dog.hpp"
#include "imbrex/model/ledger.hpp"
#include "imbrex/model/presets.hpp"
#include "table.hpp"

namespace examples::notes_differ {

using namespace imbrex;

/// A claim, and the lines that stand beside it.
struct Point {
  const char* topic;
  std::vector<std::string> notes, computed;
};

/// Llama 2 7B as it would be with these heads and a head that is the embedding.
constexpr Config llama2_7b_with(index_t kv_heads, bool tied) {
  Config config = presets::llama2_7b;
  config.dims.kv_heads = kv_heads;
  config.tie_embeddings = tied;
  return config;
}

inline Point parameters() {
  constexpr const Config& real = presets::llama2_7b;
  constexpr Config theirs = llama2_7b_with(8, true);
  constexpr ParameterCount p = count_parameters(theirs);
  static_assert(count_parameters(real).total == 6'738'415'616);
  return {"Llama 2 7B's parameters",
          {"8 KV groups, embeddings tied: 32 layers of 5.66 B and 0.131 B make 6.74 B"},
          {grouped(count_parameters(real).total) + ": " + std::to_string(real.dims.kv_heads) +
               " KV heads, embeddings " + (real.tie_embeddings ? "tied" : "not tied"),
           grouped(p.total) + " with 8 and tied: " + grouped(p.total - p.embedding) + " and " +
               grouped(p.embedding)}};
}

inline Point head_width() {
  constexpr const Dims& d = presets::llama2_7b.dims;
  return {"d_k of Llama 2 7B",
          {"64, with D = 4096 and 32 heads (the second text has 128)"},
          {std::to_string(d.head_dim) + " = " + grouped(d.model) + " / " + std::to_string(d.heads) +
           "; " + std::to_string(d.heads) + " heads of 64 are " + grouped(d.heads * 64) + " wide"}};
}

/// "llama-3.2-1b, llama-3.2-3b", in lines of some length.
inline std::vector<std::string> llamas(bool tied) {
  std::vector<std::string> lines{tied ? "tied:" : "not tied:"};
  for (const presets::Preset& preset : presets::all) {
    const std::string name = preset.name;
    if (!name.starts_with("llama-") || preset.config.tie_embeddings != tied) continue;
    if (lines.back().size() > 64) {
      lines.back() += ',';
      lines.emplace_back("         " + name);
    } else {
      lines.back() += (lines.back().back() == ':' ? " " : ", ") + name;
    }
  }
  return lines;
}

inline Point tied_embeddings() {
  std::vector<std::string> lines = llamas(true);
  for (const std::string& line : llamas(false)) lines.push_back(line);
  return {"embeddings tied to the head", {"all Llamas"}, std::move(lines)};
}

inline Point attention_traffic() {
  // One head of Llama 2 7B at 4096 tokens; an A100's multiprocessor has 192 KiB, 2 bytes a number.
  constexpr index_t T = 4096, d = presets::llama2_7b.dims.head_dim, M = 192 * 1024 / 2;
  return {"traffic of tiled attention (M: numbers in fast memory)",
          {"O(T^2 d / M), the plain form O(T^2); and O(N) in the second text",
           "at T = " + grouped(T) + ", d = " + grouped(d) + ", M = " + grouped(M) + ": " +
               grouped(T * T * d / M) + " numbers; q, k and v alone are " + grouped(3 * T * d)},
          {"Theta(T^2 d^2 / M): " + grouped(T * T * d * d / M),
           "the plain form Theta(T d + T^2): " + grouped(T * d + T * T) +
               "; memory, not traffic, is O(T)"}};
}

inline Point optimiser() {
  constexpr TrainingBytes bytes = training_bytes(presets::llama2_7b);
  constexpr index_t n = count_parameters(presets::llama2_7b).total;
  return {"AdamW's states for Llama 2 7B",
          {"16 bytes a parameter, 20 in all: 134.8 GB (the first text has 16 in all)"},
          {std::to_string(bytes.optimiser / n) + " bytes a parameter (" +
               in_gigabytes(bytes.optimiser) + "), with weights and gradients " +
               std::to_string(bytes.total / n),
           in_gigabytes(bytes.total) + " in all"}};
}

inline Point masked_row() {
  const auto& weights = cat_chases_dog::weights;
  const auto weight = [&](index_t key) {
    return decimals(static_cast<double>(weights(1, key)), 4);
  };
  const double seen = static_cast<double>(weights(1, 0)) + static_cast<double>(weights(1, 1));
  return {"the second of three tokens under a causal mask",
          {"weights about 0.4x on \"cat\", 0.2x on itself, 0.3x on \"dog\""},
          {weight(0) + " on \"cat\", " + weight(1) + " on itself, " + weight(2) +
               " on \"dog\" (attention_by_hand)",
           std::string("the third token's is ") +
               (weights(1, 2) == 0 ? "exactly 0" : "not 0, which is a mistake") +
               ", the other two sum to " + decimals(seen, 4)}};
}

inline Point grouped_queries() {
  constexpr Config gqa = llama2_7b_with(8, false);
  constexpr index_t whole = kv_cache_bytes(presets::llama2_7b, {});
  constexpr index_t shared = kv_cache_bytes(gqa, {});
  return {"grouped queries",
          {"32 query heads in 8 groups, a KV head each: the cache shrinks 4 times"},
          {"right: " + std::to_string(gqa.dims.heads / gqa.dims.kv_heads) +
           " query heads a KV head; " + in_units(shared) + " a token for " + in_units(whole) +
           ", " + std::to_string(whole / shared) + " times less"}};
}

inline Point scores() {
  constexpr index_t T = 4096, bytes = presets::llama2_7b.dims.heads * T * T * 2;
  return {"scores of a sequence of 4096 tokens",
          {"4096^2 x 2 bytes x 32 heads: 1 GB and more"},
          {"right: " + grouped(bytes) + " bytes, " + in_gigabytes(bytes) +
           ", if they were stored; tiles never are"}};
}

inline void print_lines(const char* title, const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::printf("   %-11s%s\n", i == 0 ? title : "", lines[i].c_str());
  }
}

/// All points, theirs beside ours.
inline void print() {
  int number = 0;
  for (const Point& point : {parameters(), head_width(), tied_embeddings(), attention_traffic(),
                             optimiser(), masked_row(), grouped_queries(), scores()}) {
    std::printf("%s%d. %s\n", number > 0 ? "\n" : "", number + 1, point.topic);
    print_lines("the notes", point.notes);
    print_lines("imbrex", point.computed);
    ++number;
  }
}

}  // namespace examples::notes_differ
