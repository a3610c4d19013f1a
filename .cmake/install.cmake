# Headers, a CMake package and pkg-config files. Nothing of it depends on the architecture, and
# nothing says where it lies: an installed tree may be moved.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/imbrex")

install(DIRECTORY include/imbrex DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/imbrex")

# find_package: each component's target in a file of its own, included where its library is found.
configure_package_config_file(.cmake/imbrexConfig.cmake.in imbrexConfig.cmake
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(imbrexConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/imbrexConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/imbrexConfigVersion.cmake" .cmake/FindPCRE2.cmake
        DESTINATION "${package_dir}")
foreach(target imbrex imbrex_openmp imbrex_text imbrex_json imbrex_eigen)
  install(TARGETS ${target} EXPORT ${target})
  install(EXPORT ${target} NAMESPACE imbrex:: FILE ${target}.cmake DESTINATION "${package_dir}")
endforeach()

# pkg-config: imbrex_pc(<name> <description> <requires> <cflags> <libs>)
set(pc_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_DATADIR}")
  set(pc_include "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  file(RELATIVE_PATH up "/${pc_dir}" "/${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_include "\${pcfiledir}/${up}")
endif()

function(imbrex_pc name description requires cflags libs)
  configure_file(.cmake/imbrex.pc.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${pc_dir}")
endfunction()

set(same "imbrex = ${PROJECT_VERSION}")
imbrex_pc(imbrex "${PROJECT_DESCRIPTION}" "" "-I\${includedir}" "")
imbrex_pc(imbrex-openmp "imbrex with threads" "${same}" "-fopenmp" "-fopenmp")
imbrex_pc(imbrex-text "imbrex with tokenizers" "${same}, libpcre2-8" "" "")
imbrex_pc(imbrex-json "imbrex with JSON documents" "${same}, nlohmann_json" "" "")
imbrex_pc(imbrex-eigen "imbrex with Eigen's matrices" "${same}, eigen3 >= 3.4" "" "")
