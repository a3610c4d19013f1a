# An overlay port of the tree that it lies in.
set(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../..")
set(VCPKG_BUILD_TYPE release)  # headers only

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DIMBREX_BUILD_TESTS=OFF -DIMBREX_BUILD_EXAMPLES=OFF -DIMBREX_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/imbrex)

# A file for pkg-config may name only what is there.
foreach(feature text json eigen)
  if(NOT feature IN_LIST FEATURES)
    file(REMOVE "${CURRENT_PACKAGES_DIR}/share/pkgconfig/imbrex-${feature}.pc")
  endif()
endforeach()
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib" "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
