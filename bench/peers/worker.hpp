// A program that stays and answers: what the workers of bench/peers have in common. A line of words
// comes in, a line of JSON goes out; the driver (run.py) asks two workers in turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "imbrex/base/errors.hpp"
#include "imbrex/base/index.hpp"
#include "imbrex/base/printable.hpp"

namespace peers {

using imbrex::index_t;

/// Seconds that run() takes.
template <class Run>
double seconds(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Number i of the same operand in every program: Knuth's multiplicative hash of i, its upper 24
/// bits as a fraction, less a half.
inline float operand(index_t i, std::uint32_t seed) {
  const std::uint32_t hash = (static_cast<std::uint32_t>(i) + seed) * 2654435761u;
  return static_cast<float>(hash >> 8) * 0x1p-24f - 0.5f;
}

/// The words of a request, in order. Throws Error where one is missing.
class Words {
 public:
  explicit Words(const std::string& line) : in_(line) {}

  std::string text() {
    std::string word;
    if (!(in_ >> word)) imbrex::raise(imbrex::Error("a word is missing"));
    return word;
  }
  index_t number() { return std::stoll(text()); }

 private:
  std::istringstream in_;
};

/// An answer: one JSON object on a line. Names and strings are the program's own.
class Answer {
 public:
  Answer& add(const char* name, double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return raw(name, digits);
  }
  Answer& add(const char* name, const std::string& value) { return raw(name, quoted(value)); }
  Answer& add(const char* name, const std::vector<double>& values) {
    std::string list = "[";
    for (const double value : values) {
      char digits[64];
      std::snprintf(digits, sizeof digits, "%.9g", value);
      list += (list.size() > 1 ? ", " : "") + std::string(digits);
    }
    return raw(name, list + "]");
  }
  void send() const {
    std::printf("{%s}\n", fields_.c_str());
    std::fflush(stdout);
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : imbrex::printable(text)) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result + "\"";
  }

  Answer& raw(const char* name, const std::string& value) {
    fields_ += (fields_.empty() ? "" : ", ") + quoted(name) + ": " + value;
    return *this;
  }

  std::string fields_;
};

/// Answers requests until the input ends: answer(words, name). What a request throws is its answer.
template <class Respond>
void answer_all(const Respond& respond) {
  for (std::string line; std::getline(std::cin, line);) {
    Words words(line);
    try {
      const std::string request = words.text();
      respond(request, words).send();
    } catch (const std::exception& error) {
      Answer().add("error", error.what()).send();
    }
  }
}

}  // namespace peers
