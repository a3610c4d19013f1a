# What the port calls, with the effect that learn.microsoft.com/vcpkg/maintainers/functions tells of:
# vcpkg itself comes from the network. `ports` is a folder a choice of features, with what vcpkg
# would have in buildtrees, packages and installed.

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" SOURCE_PATH OPTIONS)
  run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${ports}/buildtrees"
      "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" "-DCMAKE_CXX_COMPILER=${CXX}" ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run("${CMAKE_COMMAND}" --build "${ports}/buildtrees" --target install)
endfunction()

# The files move from three folders below the prefix to two, and are told so.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" CONFIG_PATH "")
  if(NOT arg_CONFIG_PATH STREQUAL "share/cmake/imbrex")
    message(FATAL_ERROR "CONFIG_PATH: expected share/cmake/imbrex, got ${arg_CONFIG_PATH}")
  endif()
  set(share "${CURRENT_PACKAGES_DIR}/share")
  file(RENAME "${share}/cmake/imbrex" "${share}/imbrex")
  file(REMOVE_RECURSE "${share}/cmake")
  file(GLOB files "${share}/imbrex/*.cmake")
  set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REPLACE "${up}${up}${up}" "${up}${up}" text "${text}")
    string(REPLACE "{CMAKE_CURRENT_LIST_DIR}/../../../" "{CMAKE_CURRENT_LIST_DIR}/../../" text
                   "${text}")
    file(WRITE "${file}" "${text}")
  endforeach()
endfunction()

# Each file's packages must be there: its own, and those of the features that were asked for.
function(vcpkg_fixup_pkgconfig)
  set(folders "${CURRENT_PACKAGES_DIR}/share/pkgconfig:${ports}/installed")
  file(GLOB files "${CURRENT_PACKAGES_DIR}/share/pkgconfig/*.pc")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM LAST_ONLY package)
    run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_LIBDIR=${folders}" "${PKG_CONFIG}" --print-errors
        --exists "${package}")
  endforeach()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" FILE_LIST)
  file(COPY_FILE "${arg_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright")
endfunction()
