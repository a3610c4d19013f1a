# What README.md and docs/shapes.md quote of the compiler is what it says of
# linear_of_its_own_output.cpp: in README.md the error and its note, in docs/shapes.md all of it,
# without the numbers of lines and columns.
#
#   cmake -D "COMPILE=<g++;flags>" -D ROOT=<top folder> -P quoted.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C ${COMPILE} -fsyntax-only -DSHOULD_FAIL
                        "${ROOT}/tests/compile_fail/linear_of_its_own_output.cpp"
                ERROR_VARIABLE output)
string(REPLACE "${ROOT}/" "" output "${output}")
string(REGEX REPLACE ":[0-9]+:[0-9]+:" ":" output "${output}")
string(REGEX REPLACE "\\.cpp:[0-9]+:" ".cpp:" output "${output}")
string(REGEX REPLACE "\n +[0-9]+ \\|" "\n     |" output "${output}")
string(REGEX REPLACE "\n +\\|" "\n     |" output "${output}")

string(REGEX MATCH "error: [^\n]*\n" error "${output}")
string(REGEX MATCH "note: [^\n]*\n" note "${output}")
string(REGEX REPLACE "imbrex::(axes::)?" "" short "${error}${note}")

function(expect_in document quotation)
  file(READ "${ROOT}/${document}" text)
  string(FIND "${text}" "\n${quotation}" at)
  if(at EQUAL -1)
    message("${document} does not quote what the compiler says:\n${quotation}")
    set(stale TRUE PARENT_SCOPE)
  endif()
endfunction()

expect_in(README.md "${short}")
expect_in(docs/shapes.md "${output}")
if(stale OR NOT error)
  message(FATAL_ERROR "stale")
endif()
message("README.md and docs/shapes.md quote what the compiler says")
