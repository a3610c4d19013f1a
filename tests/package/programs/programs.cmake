# The programs of every consumer, and what must not have changed in the consumer's project.
set(settings CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS CMAKE_CXX_STANDARD CMAKE_CXX_EXTENSIONS
             CMAKE_EXE_LINKER_FLAGS CMAKE_MODULE_PATH CMAKE_PREFIX_PATH CMAKE_POSITION_INDEPENDENT_CODE
             CMAKE_INTERPROCEDURAL_OPTIMIZATION BUILD_TESTING BUILD_SHARED_LIBS
             CMAKE_RUNTIME_OUTPUT_DIRECTORY)
set(directory_settings COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS
                       LINK_LIBRARIES TESTS)

# Sets `result` to all settings as one text.
function(describe_settings result)
  set(text "")
  foreach(name IN LISTS settings)
    string(APPEND text "${name}=${${name}}\n")
  endforeach()
  foreach(name IN LISTS directory_settings)
    get_directory_property(value ${name})
    string(APPEND text "${name}=${value}\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

describe_settings(settings_before)

function(add_programs)
  describe_settings(settings_now)
  if(NOT settings_now STREQUAL settings_before)
    message(FATAL_ERROR "imbrex changed the project's settings. Before:\n${settings_before}"
                        "After:\n${settings_now}")
  endif()
  foreach(target test_base test_settings generate model docs_outputs)
    if(TARGET ${target})
      message(FATAL_ERROR "imbrex builds ${target} in somebody else's project")
    endif()
  endforeach()
  foreach(component imbrex openmp text json eigen)
    add_executable(with_${component} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/with_${component}.cpp)
    target_link_libraries(with_${component} PRIVATE imbrex::${component})
    target_compile_options(with_${component} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                                     -Werror)
  endforeach()
  add_executable(bystander ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/bystander.cpp)
endfunction()
