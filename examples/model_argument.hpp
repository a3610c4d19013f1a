// Which model an example program is about: a preset by name, or a GGUF file.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "imbrex/model/presets.hpp"

namespace examples {

/// Edits (a character put in, left out or exchanged) that lead from a to b (Levenshtein 1966).
inline std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = (std::min)({exchanged, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// "llama-1-7b, llama-2-7b, llama-2-70b": the three presets whose names are closest to `name`.
inline std::string close_names(std::string_view name) {
  std::vector<std::pair<std::size_t, std::string_view>> names;
  for (const imbrex::presets::Preset& preset : imbrex::presets::all) {
    names.emplace_back(edits(name, preset.name), preset.name);
  }
  std::partial_sort(names.begin(), names.begin() + 3, names.end());
  std::string text(names[0].second);
  for (const int i : {1, 2}) (text += ", ") += names[static_cast<std::size_t>(i)].second;
  return text;
}

/// Whether a word means a file rather than a preset.
inline bool is_file(std::string_view word) {
  return word.ends_with(".gguf") || word.find('/') != word.npos;
}

/// The last part of a path, safe to print: what a heading calls a file.
inline std::string file_title(std::string_view path) {
  return imbrex::printable(path.substr(path.find_last_of('/') + 1), 200);
}

/// The preset called `name`. Throws UsageError, with the names that are close.
inline const imbrex::presets::Preset& preset_called(std::string_view name) {
  const imbrex::presets::Preset* preset = imbrex::presets::find(name);
  if (preset == nullptr) {
    imbrex::raise(UsageError("no preset is called '" + imbrex::printable(name) +
                             "'; close to it: " + close_names(imbrex::printable(name))));
  }
  return *preset;
}

}  // namespace examples
