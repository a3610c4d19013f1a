// Attention over three tokens with numbers small enough to follow with a pencil, every step
// printed.
#include <cmath>
#include <cstdio>

#include "cat_chases_dog.hpp"
#include "command_line.hpp"
#include "imbrex/kernels/attention.hpp"
#include "imbrex/kernels/reference/matmul.hpp"
#include "imbrex/kernels/reference/softmax.hpp"

using namespace imbrex;
using namespace examples::cat_chases_dog;

namespace {

constexpr const char* usage =
    "usage: attention_by_hand\n"
    "\n"
    "Works out the attention of three tokens, every step printed.\n";

void print(const char* title, const float* rows, index_t columns, const char* const* heads) {
  std::printf("\n%s\n%8s", title, "");
  for (index_t j = 0; j < columns; ++j) std::printf("%9s", heads[j]);
  std::printf("\n");
  for (index_t i = 0; i < tokens; ++i) {
    std::printf("%8s", names[i]);
    for (index_t j = 0; j < columns; ++j) {
      std::printf("%9.4f", static_cast<double>(rows[i * columns + j]));
    }
    std::printf("\n");
  }
}

constexpr const char* numbers[] = {"1", "2", "3", "4"};

void print_inputs() {
  std::printf("q = [1, 2], k = [3, 4]: q.k = %g\n", static_cast<double>(product_of_two()));
  print("queries q", q, head_dim, numbers);
  print("keys k", k, head_dim, numbers);
  print("values v", v, head_dim, numbers);
}

/// q k^T / sqrt(d_k), and -infinity where the key is later than the query.
void work_out_scores(float (&scores)[tokens * tokens]) {
  kernels::reference::matmul({scores, tokens, tokens, tokens}, {q, tokens, head_dim, head_dim},
                             kernels::ConstRows{k, tokens, head_dim, head_dim});
  print("scores q k^T: each row a query, each column a key", scores, tokens, names);

  for (float& score : scores) score /= std::sqrt(static_cast<float>(head_dim));
  print("scaled by 1 / sqrt(d_k) = 1/2", scores, tokens, names);

  for (index_t i = 0; i < tokens; ++i) {
    const KeyRange seen = Mask::causal().visible(i, tokens, tokens);
    for (index_t j = seen.last; j < tokens; ++j) scores[i * tokens + j] = -INFINITY;
  }
  print("masked: no token sees a later one", scores, tokens, names);
}

void work_out_weights(float (&softmax)[tokens * tokens], float (&scores)[tokens * tokens]) {
  kernels::reference::softmax({softmax, tokens, tokens, tokens}, {scores, tokens, tokens, tokens});
  print("weights: softmax of each row", softmax, tokens, names);
  for (index_t i = 0; i < tokens; ++i) {
    const float* row = softmax + i * tokens;
    std::printf("  row %-6s sums to %.4f\n", names[i],
                static_cast<double>(row[0] + row[1] + row[2]));
  }
  std::printf(
      "  \"chases\" gives \"dog\" exactly %g: under a causal mask its weights on \"cat\"\n"
      "  and on itself are all there is, and sum to 1\n",
      static_cast<double>(softmax[1 * tokens + 2]));
}

void work_out_output(float (&out)[tokens * head_dim], const float (&softmax)[tokens * tokens]) {
  for (index_t i = 0; i < tokens; ++i) {
    for (index_t j = 0; j < tokens; ++j) {
      for (index_t e = 0; e < head_dim; ++e) {
        out[i * head_dim + e] += softmax[i * tokens + j] * v[j * head_dim + e];
      }
    }
  }
  print("output: the values, added up with these weights", out, head_dim, numbers);
}

/// Throws where the library's kernel, or the compiler, come to something else.
void compare(const float (&out)[tokens * head_dim]) {
  const Rows<head_dim> tiled = attend<head_dim>(kernels::attention, v);
  float difference = 0;
  for (index_t i = 0; i < tokens * head_dim; ++i) {
    difference = std::fmax(difference, std::fabs(tiled.of[i] - out[i]));
    difference = std::fmax(difference, std::fabs(output.of[i] - out[i]));
  }
  const bool same = difference < 1e-6f;
  std::printf("\nthe library's kernel, and the compiler, give %s\n",
              same ? "the same" : "something else");
  if (!same) raise(Error("the kernel's output is not the one worked by hand"));
}

bool run(int argc, char** argv) {
  if (!examples::parse_nothing(argc, argv)) return false;
  float scores[tokens * tokens], softmax[tokens * tokens], out[tokens * head_dim] = {};
  print_inputs();
  work_out_scores(scores);
  work_out_weights(softmax, scores);
  work_out_output(out, softmax);
  compare(out);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_main("attention_by_hand", usage, argc, argv, run);
}
