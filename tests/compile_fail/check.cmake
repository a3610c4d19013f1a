# Compiles one case twice: as it stands it must build without a word; with -DSHOULD_FAIL it must
# fail with exactly one error, that says the sentence of the case's first line and shows what its
# second line lists, within ten lines of output. See README.md beside this file.
#
#   cmake -D "COMPILE=<compiler;flags>" -D SOURCE=<case.cpp> -P check.cmake
cmake_minimum_required(VERSION 3.22)
set(most_lines 10)

file(STRINGS "${SOURCE}" head LIMIT_COUNT 2)
list(POP_FRONT head first second)
if(NOT first MATCHES "^// error: (.+)$")
  message(FATAL_ERROR "${SOURCE}:1: expected `// error: <sentence>`")
endif()
set(sentence "${CMAKE_MATCH_1}")
if(NOT second MATCHES "^// shows: (.+)$")
  message(FATAL_ERROR "${SOURCE}:2: expected `// shows: <text> | <text>...`")
endif()
string(REPLACE " | " ";" shown "${CMAKE_MATCH_1}")

execute_process(COMMAND ${COMPILE} -fsyntax-only "${SOURCE}"
                RESULT_VARIABLE failed ERROR_VARIABLE output)
if(failed OR output)
  message("${output}")
  message(FATAL_ERROR "as it stands it must build, without a word")
endif()

execute_process(COMMAND ${COMPILE} -fsyntax-only -DSHOULD_FAIL "${SOURCE}"
                RESULT_VARIABLE failed ERROR_VARIABLE output)
if(NOT failed)
  message(FATAL_ERROR "with -DSHOULD_FAIL it must not build, and does")
endif()

string(REGEX MATCHALL "(^|[^a-z])error: " errors "${output}")
list(LENGTH errors errors)
string(REGEX MATCHALL "\n" lines "${output}")
list(LENGTH lines lines)
set(wrong "")
if(NOT errors EQUAL 1)
  string(APPEND wrong "  expected 1 error, got ${errors}\n")
endif()
if(lines GREATER most_lines)
  string(APPEND wrong "  expected ${most_lines} lines at most, got ${lines}\n")
endif()
foreach(text IN LISTS sentence shown)
  string(FIND "${output}" "${text}" at)
  if(at EQUAL -1)
    string(APPEND wrong "  expected to read: ${text}\n")
  endif()
endforeach()

message("${output}")
if(wrong)
  message(FATAL_ERROR "${wrong}")
endif()
message("ok: 1 error, ${lines} lines")
