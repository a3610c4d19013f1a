# Configures, builds and runs one consumer, as somebody else would.
#
#   cmake -D WAY=<way> -D SCRATCH=<dir> -D IMBREX=<source tree> -D BUILD=<build tree> -D CXX=<compiler>
#         -P consume.cmake
#
# WAY is a folder beside this file with a project, or: install, which puts imbrex where the others
# find it; pkg_config; version; vcpkg.
cmake_minimum_required(VERSION 3.22)

set(prefix "${SCRATCH}/moved")
set(here "${CMAKE_CURRENT_LIST_DIR}")
set(components imbrex openmp text json eigen)
set(build "${SCRATCH}/${WAY}")
file(REMOVE_RECURSE "${build}")

# run(<command> ...): it must succeed, and its output is shown when it does not.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${text}\nended with ${code}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

# The prefix is moved after installing: nothing may say where it was.
function(install)
  file(REMOVE_RECURSE "${SCRATCH}/installed" "${prefix}")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/installed")
  file(RENAME "${SCRATCH}/installed" "${prefix}")
  file(GLOB_RECURSE texts "${prefix}/*.cmake" "${prefix}/*.pc")
  foreach(file IN LISTS texts)
    file(READ "${file}" text)
    foreach(path "${SCRATCH}" "${IMBREX}" "${BUILD}")
      string(FIND "${text}" "${path}" at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} names ${path}")
      endif()
    endforeach()
  endforeach()
endfunction()

# The compiler, told by pkg-config alone.
function(pkg_config)
  file(MAKE_DIRECTORY "${build}")
  set(ENV{PKG_CONFIG_PATH} "${prefix}/share/pkgconfig")
  file(STRINGS "${IMBREX}/include/imbrex/base/version.hpp" version REGEX "define IMBREX_VERSION_")
  string(REGEX REPLACE "[^0-9;]+" "" version "${version}")
  list(JOIN version "." version)
  foreach(component IN LISTS components)
    set(package "imbrex-${component}")
    string(REPLACE imbrex-imbrex imbrex package "${package}")
    run("${PKG_CONFIG}" --exact-version=${version} ${package})
    run("${PKG_CONFIG}" --cflags --libs ${package})
    separate_arguments(flags UNIX_COMMAND "${output}")
    set(program "${build}/with_${component}")
    run("${CXX}" -std=c++20 -Wall -Wextra "${here}/programs/with_${component}.cpp" -o "${program}"
        ${flags})
    run("${program}")
  endforeach()
endfunction()

# What states the version beside the header states the same; another version in the same tree is
# refused.
function(version)
  set(header "${IMBREX}/include/imbrex/base/version.hpp")
  file(STRINGS "${header}" version REGEX "define IMBREX_VERSION_")
  string(REGEX REPLACE "[^0-9;]+" "" version "${version}")
  list(JOIN version "." version)
  file(READ "${IMBREX}/.packaging/vcpkg/imbrex/vcpkg.json" port)
  string(JSON port_version GET "${port}" version)
  if(NOT port_version STREQUAL version)
    message(FATAL_ERROR "vcpkg.json: expected version ${version}, got ${port_version}")
  endif()

  file(COPY "${IMBREX}/CMakeLists.txt" "${IMBREX}/.cmake" DESTINATION "${build}/other")
  file(READ "${header}" text)
  string(REPLACE "IMBREX_VERSION_MAJOR 0" "IMBREX_VERSION_MAJOR 7" text "${text}")
  file(WRITE "${build}/other/include/imbrex/base/version.hpp" "${text}")
  file(WRITE "${build}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)\n"
             "project(consumer LANGUAGES CXX)\nadd_subdirectory(\"${IMBREX}\" imbrex)\n"
             "add_subdirectory(other)\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${build}" -B "${build}/build"
                          "-DCMAKE_CXX_COMPILER=${CXX}"
                  RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(code EQUAL 0 OR NOT text MATCHES "imbrex 7.* and imbrex ${version} do not go together")
    message(FATAL_ERROR "two versions in one tree: ${code}\n${text}")
  endif()
endfunction()

# install_port(<features ...>): into ${ports}/packages, by the port's own words. Of other packages
# there are those that the features bring.
function(install_port)
  set(PORT imbrex)
  set(FEATURES core ${ARGV})
  set(CURRENT_PACKAGES_DIR "${ports}/packages")
  file(MAKE_DIRECTORY "${ports}/installed")
  set(text_package libpcre2-8)
  set(json_package nlohmann_json)
  set(eigen_package eigen3)
  foreach(feature IN LISTS ARGV)
    set(package "${${feature}_package}")
    run("${PKG_CONFIG}" --variable=pcfiledir ${package})
    string(STRIP "${output}" folder)
    file(COPY "${folder}/${package}.pc" DESTINATION "${ports}/installed")
  endforeach()
  include("${here}/vcpkg/stand_ins.cmake")
  include("${IMBREX}/.packaging/vcpkg/imbrex/portfile.cmake")
  foreach(folder "" /share)
    file(GLOB things RELATIVE "${ports}/packages${folder}" "${ports}/packages${folder}/*")
    list(APPEND all ${things})
  endforeach()
  if(NOT all STREQUAL "include;share;imbrex;pkgconfig" OR
     NOT EXISTS "${ports}/packages/include/imbrex/imbrex.hpp" OR
     NOT EXISTS "${ports}/packages/share/imbrex/copyright")
    message(FATAL_ERROR "the port's files: ${all}")
  endif()
endfunction()

# The port, with no feature, and with all as CMake finds it.
function(vcpkg)
  set(ports "${build}/none")
  install_port()
  set(ports "${build}/all")
  install_port(text json eigen)
  set(build "${build}/consumer")
  set(prefix "${ports}/packages")
  set(WAY find_package)
  consume()
endfunction()

function(consume)
  run("${CMAKE_COMMAND}" -S "${here}/${WAY}" -B "${build}" "-DIMBREX=${IMBREX}"
      "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_PREFIX_PATH=${prefix}")
  run("${CMAKE_COMMAND}" --build "${build}")
  foreach(component IN LISTS components)
    run("${build}/with_${component}")
  endforeach()
  if(WAY STREQUAL "add_subdirectory")
    run("${CMAKE_COMMAND}" --install "${build}" --prefix "${build}/installed")
    if(EXISTS "${build}/installed/include")
      message(FATAL_ERROR "imbrex is installed along with a project that it is a part of")
    endif()
  endif()
endfunction()

find_program(PKG_CONFIG pkg-config)
if(WAY MATCHES "^(pkg_config|vcpkg)$" AND NOT PKG_CONFIG)
  message("skipped: pkg-config is not installed")
elseif(WAY MATCHES "^(install|pkg_config|version|vcpkg)$")
  cmake_language(CALL ${WAY})
else()
  consume()
endif()
