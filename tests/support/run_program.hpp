// Running a program of the build, and what it wrote.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "tests/formats/scratch_directory.hpp"

namespace imbrex::tests {

struct ProgramRun {
  int code;  ///< the exit code; 128 + the signal that ended it
  std::string out, err;
};

/// A word of the shell's, whatever is in it.
inline std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  result += '\'';
  return result;
}

/// Runs a program, with `settings` ("NAME=value ") in its environment and `input` as its standard
/// input.
inline ProgramRun run_program(const std::string& program, const std::vector<std::string>& arguments,
                              const std::string& settings = "", const std::string& input = "") {
  const ScratchDirectory directory;
  std::string command = settings;
  command += quoted(program);
  for (const std::string& argument : arguments) (command += ' ') += quoted(argument);
  (command += " < ") += quoted(directory.file("in", input));
  (command += " > ") += quoted(directory / "out");
  (command += " 2> ") += quoted(directory / "err");
  const int status = std::system(command.c_str());
  const auto contents = [&](const char* name) {
    std::ifstream file(directory / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, contents("out"), contents("err")};
}

/// The one line of a failed run; "" and a reason where it is not exactly one, begun by the
/// program's name, or the exit code is not 1.
inline std::string one_line_error(const ProgramRun& run, const std::string& name) {
  const std::string start = name + ": ";
  if (run.code != 1) return "exit code " + std::to_string(run.code);
  if (run.err.substr(0, start.size()) != start || run.err.find('\n') != run.err.size() - 1) {
    return "not one line that begins with " + start + run.err;
  }
  return run.err.substr(start.size(), run.err.size() - start.size() - 1);
}

}  // namespace imbrex::tests
