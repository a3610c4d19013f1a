// The order of the folders, as rules over lines of text: which header may include which.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace architecture {

/// A folder of include/imbrex and its number. A header sees its own folder and smaller numbers.
struct Folder {
  std::string_view name;
  int number;
};

inline constexpr Folder folders[] = {
    {"base", 0},       {"tensor", 1},   {"formats", 2},     {"kernels", 2},
    {"layers", 3},     {"text", 3},     {"model", 4},       {"checkpoint", 5},
    {"generation", 6}, {"training", 7}, {"distributed", 8}, {"interop", 9},
};

/// A header that is no part of the language's library, and the only places that may include it.
struct Door {
  std::string_view header;  ///< the beginning of what stands between < and >
  std::string_view places;  ///< beginnings of paths, separated by spaces
};

inline constexpr Door doors[] = {
    {"Eigen/", "imbrex/interop/"},
    {"pcre2.h", "imbrex/text/"},
    {"utf8proc.h", "imbrex/text/"},
    {"omp.h", "imbrex/base/threads.hpp"},
    {"pthread.h", "imbrex/base/threads.hpp"},
    {"nlohmann/", "imbrex/formats/json"},
    {"mpi.h", "imbrex/distributed/"},
    {"immintrin.h", "imbrex/kernels/"},
    {"arm_neon.h", "imbrex/kernels/"},
    {"cpuid.h", "imbrex/base/isa.hpp"},
    {"sys/auxv.h", "imbrex/base/isa.hpp"},
    {"fcntl.h", "imbrex/formats/"},
    {"sys/", "imbrex/formats/"},
    {"unistd.h", "imbrex/formats/"},
};

inline constexpr std::size_t most_lines = 450;

/// The folder of "imbrex/tensor/view.hpp" is "tensor"; of an umbrella, "imbrex/tensor.hpp", none.
inline std::string_view folder_of(std::string_view path) {
  const std::size_t from = path.find('/') + 1, to = path.find('/', from);
  return to == std::string_view::npos ? std::string_view() : path.substr(from, to - from);
}

/// -1 for an unknown folder.
inline int number_of(std::string_view folder) {
  for (const Folder& f : folders) {
    if (f.name == folder) return f.number;
  }
  return -1;
}

/// C++ text less its comments and its string and character literals (raw ones are not used).
inline std::string without_comments_and_literals(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
      if (i < text.size()) out += '\n';
    } else if (text.substr(i, 2) == "/*") {
      i = text.find("*/", i + 2);
      if (i == std::string_view::npos) break;
      ++i;
    } else if (c == '"' ||
               (c == '\'' && (i == 0 || !isalnum(static_cast<unsigned char>(text[i - 1]))))) {
      for (++i; i < text.size() && text[i] != c && text[i] != '\n'; ++i) {
        if (text[i] == '\\') ++i;
      }
      out += c;
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

/// Whether `word` stands in `text` as a whole word.
inline bool has_word(std::string_view text, std::string_view word) {
  const auto in_word = [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end])))
      return true;
  }
  return false;
}

namespace detail {

inline bool begins_with_one_of(std::string_view path, std::string_view beginnings) {
  while (!beginnings.empty()) {
    const std::size_t space = beginnings.find(' ');
    if (path.starts_with(beginnings.substr(0, space))) return true;
    if (space == std::string_view::npos) break;
    beginnings.remove_prefix(space + 1);
  }
  return false;
}

/// What is wrong with `path` including <header>; empty if nothing is.
inline std::string wrong_angle_include(std::string_view path, std::string_view header) {
  for (const Door& door : doors) {
    if (!header.starts_with(door.header)) continue;
    if (begins_with_one_of(path, door.places)) return "";
    return "only " + std::string(door.places) + " may include it";
  }
  const bool standard = header.find_first_of("./") == std::string_view::npos;
  return standard ? "" : "no header of the C++ library, and no door is known for it";
}

/// What is wrong with `path` including "header".
inline std::string wrong_quoted_include(std::string_view path, std::string_view header) {
  if (header.find("..") != std::string_view::npos) return "no .. in includes";
  if (!header.starts_with("imbrex/")) return "includes are written from the root: imbrex/...";
  const std::string_view from = folder_of(path), to = folder_of(header);
  if (from.empty()) return "";  // umbrellas include what they like
  if (to.empty()) return "only umbrellas include umbrellas";
  if (number_of(to) < 0) return "a folder without a number";
  if (from != to && number_of(to) >= number_of(from)) {
    return "a header sees its own folder and smaller numbers: " + std::string(from) + " is " +
           std::to_string(number_of(from)) + ", " + std::string(to) + " is " +
           std::to_string(number_of(to));
  }
  return "";
}

}  // namespace detail

/// All that is wrong with one header, a line each. `path` starts with "imbrex/".
inline std::vector<std::string> faults(std::string_view path, std::string_view text) {
  std::vector<std::string> found;
  const std::string name(path);
  const bool umbrella = folder_of(path).empty();
  if (!umbrella && number_of(folder_of(path)) < 0)
    found.push_back(name + ": a folder without a number");

  bool once = false;
  std::size_t lines = 0, includes = 0;
  for (std::size_t at = 0; at < text.size(); ++lines) {
    const std::size_t end = text.find('\n', at);
    std::string_view line = text.substr(at, end == std::string_view::npos ? end : end - at);
    at = end == std::string_view::npos ? text.size() : end + 1;
    once = once || line == "#pragma once";
    while (!line.empty() && (line.front() == ' ' || line.front() == '#')) line.remove_prefix(1);
    if (!line.starts_with("include")) {
      if (umbrella && !line.empty() && !line.starts_with("//") && line != "pragma once") {
        found.push_back(name + ": umbrellas only include: " + std::string(line));
      }
      continue;
    }
    const std::size_t open = line.find_first_of("<\""), close = line.find_last_of(">\"");
    if (open == std::string_view::npos || close <= open) continue;
    ++includes;
    const std::string_view header = line.substr(open + 1, close - open - 1);
    const std::string wrong = line[open] == '<' ? detail::wrong_angle_include(path, header)
                                                : detail::wrong_quoted_include(path, header);
    if (!wrong.empty()) found.push_back(name + ": " + std::string(header) + ": " + wrong);
  }

  const std::string code = without_comments_and_literals(text);
  if (lines > most_lines) {
    found.push_back(name + ": expected " + std::to_string(most_lines) + " lines at most, got " +
                    std::to_string(lines));
  }
  // Bodies that each instruction set includes again have no guard and no includes of their own.
  const bool body = path.starts_with("imbrex/kernels/") && path.ends_with(".inl");
  if (once == body || (body && includes > 0)) {
    found.push_back(name +
                    ": #pragma once in every header, and in no .inl, which includes nothing");
  }
  if (has_word(code, "catch")) found.push_back(name + ": no header has a catch");
  if (has_word(code, "throw") && path != "imbrex/base/errors.hpp") {
    found.push_back(name + ": only base/errors.hpp has a throw");
  }
  return found;
}

}  // namespace architecture
