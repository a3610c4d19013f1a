# What a compiler, a linker and objdump say of small programs, one check a run:
#
#   cmake -D CHECK=<check> -D "COMPILE=<compiler;flags>" -D SCRATCH=<dir> [-D COMPILER=<id>] [-D OBJDUMP=<program>]
#         [-D NM=<program>] [-D "OBJECTS=<object>|..."] [-D "FOLDERS=<Eigen's>"] -P check.cmake
cmake_minimum_required(VERSION 3.22)
set(here "${CMAKE_CURRENT_LIST_DIR}")
file(MAKE_DIRECTORY "${SCRATCH}")

# compile(<command's other words> ...): sets `code` and `output`.
macro(compile)
  execute_process(COMMAND ${COMPILE} ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
endmacro()

# Units whose settings agree link, and those that disagree do not.
function(settings_that_disagree_do_not_link)
  set(settings " " -fopenmp -fno-exceptions "-fopenmp -fno-exceptions" -DIMBREX_COMPILED_KERNELS=1)
  foreach(here_settings IN LISTS settings)
    separate_arguments(flags UNIX_COMMAND "${here_settings}")
    string(MAKE_C_IDENTIFIER "${here_settings}" name)
    foreach(unit HERE THERE)
      compile(${flags} -D${unit} -c "${here}/settings.cpp" -o "${SCRATCH}/${name}_${unit}.o")
      if(NOT code EQUAL 0)
        message(FATAL_ERROR "${here_settings}: ${output}")
      endif()
    endforeach()
  endforeach()
  foreach(one IN LISTS settings)
    foreach(other IN LISTS settings)
      string(MAKE_C_IDENTIFIER "${one}" one_name)
      string(MAKE_C_IDENTIFIER "${other}" other_name)
      compile(-fopenmp "${SCRATCH}/${one_name}_HERE.o" "${SCRATCH}/${other_name}_THERE.o"
              -o "${SCRATCH}/program")
      if(one STREQUAL other AND NOT code EQUAL 0)
        message(FATAL_ERROR "'${one}' must link with itself:\n${output}")
      elseif(NOT one STREQUAL other
             AND (code EQUAL 0 OR NOT output MATCHES "undefined reference to .*size_of"))
        message(FATAL_ERROR "'${one}' must not link with '${other}':\n${output}")
      endif()
    endforeach()
  endforeach()
endfunction()

# Units from different versions do not link either, and do not get each other's functions: all that a
# program may have twice is named by the version, but for the axes of shapes (see version.hpp).
function(symbols_are_named_by_the_version)
  string(REGEX MATCHALL "[^|]+" objects "${OBJECTS}")
  foreach(object IN LISTS objects)
    execute_process(COMMAND "${NM}" --defined-only -C "${object}" OUTPUT_VARIABLE symbols
                    COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE ";" "," symbols "${symbols}")  # not a list's
    string(REGEX MATCHALL "[0-9a-f]+ [VWuTBDR] [^\n]*imbrex::[^\n]*" symbols "${symbols}")
    list(LENGTH symbols count)
    message("${object}: ${count} symbols")
    if(count EQUAL 0)
      message(FATAL_ERROR "${object} has no symbols of the library")
    endif()
    list(FILTER symbols EXCLUDE REGEX "::v[0-9]+_[0-9]+_[0-9]+[_a-z]*::")
    list(FILTER symbols EXCLUDE REGEX " imbrex::(Axis<|axes::|shape_detail::Names<)")
    if(symbols)
      string(REPLACE ";" "\n" symbols "${symbols}")
      message(FATAL_ERROR "without a version, in ${object}:\n${symbols}")
    endif()
  endforeach()
endfunction()

# Without exceptions an error prints its message and ends the program.
function(errors_end_a_program_without_exceptions)
  compile(-fno-exceptions -fno-rtti "${here}/without_exceptions.cpp" -o "${SCRATCH}/program")
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${output}")
  endif()
  execute_process(COMMAND "${SCRATCH}/program" RESULT_VARIABLE code OUTPUT_VARIABLE output
                  ERROR_VARIABLE error)
  if(code EQUAL 0 OR NOT output STREQUAL "6\n" OR NOT error STREQUAL
     "imbrex: no such file: cannot be opened: No such file or directory\n")
    message(FATAL_ERROR "ended with ${code}\n${output}\n${error}")
  endif()
endfunction()

# Arithmetic that is not IEEE's is refused, where the compiler says so to the preprocessor.
function(fast_math_is_refused)
  set(refused -ffast-math -Ofast -ffinite-math-only)
  if(COMPILER STREQUAL "GNU")
    list(APPEND refused -funsafe-math-optimizations "-ffast-math -fno-finite-math-only"
                "-fassociative-math -fno-signed-zeros -fno-trapping-math" -freciprocal-math)
  endif()
  file(WRITE "${SCRATCH}/fast.cpp" "#include \"imbrex/base/version.hpp\"\n")
  foreach(words IN LISTS refused)
    separate_arguments(flags UNIX_COMMAND "${words}")
    compile(${flags} -fsyntax-only "${SCRATCH}/fast.cpp")
    if(code EQUAL 0 OR NOT output MATCHES "imbrex needs IEEE arithmetic")
      message(FATAL_ERROR "${words} must be refused:\n${output}")
    endif()
  endforeach()
  foreach(flags -O3 -fno-math-errno)
    compile(${flags} -fsyntax-only "${SCRATCH}/fast.cpp")
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${flags} must not be refused:\n${output}")
    endif()
  endforeach()
endfunction()

# A program that includes every header runs nothing of the library's before main.
function(no_static_initialisers)
  string(REGEX MATCHALL "[^|]+" objects "${OBJECTS}")
  compile(-O2 -c "${here}/static_initialiser.cpp" -o "${SCRATCH}/static_initialiser.o")
  foreach(object IN LISTS objects ITEMS "${SCRATCH}/static_initialiser.o")
    execute_process(COMMAND "${OBJDUMP}" -h "${object}" OUTPUT_VARIABLE sections
                    COMMAND_ERROR_IS_FATAL ANY)
    if(sections MATCHES "\\.(init_array|ctors)")
      list(APPEND found "${object}")
    endif()
  endforeach()
  list(LENGTH objects count)
  if(count LESS 4 OR NOT found STREQUAL "${SCRATCH}/static_initialiser.o")
    message(FATAL_ERROR "of ${count} objects, with static initialisers: ${found}")
  endif()
endfunction()

# Eigen's macros are the user's: tensors are its matrices, and back, with any of those that change
# its types.
function(eigen_flags)
  list(TRANSFORM FOLDERS PREPEND -isystem)
  foreach(words -DEIGEN_DEFAULT_TO_ROW_MAJOR -DEIGEN_DEFAULT_DENSE_INDEX_TYPE=int
                "-DEIGEN_DONT_VECTORIZE -DEIGEN_MAX_ALIGN_BYTES=0 -DEIGEN_NO_AUTOMATIC_RESIZING")
    separate_arguments(flags UNIX_COMMAND "${words}")
    compile(${flags} ${FOLDERS} -O1 -Wall -Wextra -Wconversion -Werror "${here}/eigen_flags.cpp"
            -o "${SCRATCH}/eigen_flags")
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${words}:\n${output}")
    endif()
    execute_process(COMMAND "${SCRATCH}/eigen_flags" RESULT_VARIABLE code OUTPUT_VARIABLE output)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${words}:\n${output}ended with ${code}")
    endif()
    message("ok: ${words}")
  endforeach()
endfunction()

# Objects have one size and alignment, whatever instruction set a unit is compiled for, and none that
# `new` or a container could not serve.
function(layout_is_that_of_any_instruction_set)
  set(object "${SCRATCH}/other.o")
  compile(-DOTHER -mavx512f -mfma -c "${here}/layout.cpp" -o "${object}")
  if(code EQUAL 0)
    compile("${here}/layout.cpp" "${object}" ${LIBRARIES} -o "${SCRATCH}/layout")
  endif()
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${output}")
  endif()
  execute_process(COMMAND "${SCRATCH}/layout" RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "the last one differs, or is aligned to more than any")
  endif()
endfunction()

cmake_language(CALL ${CHECK})
