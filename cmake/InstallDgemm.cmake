# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# The install tree and the CMake package in it. Tools install themselves
# (AddDgemm.cmake). The libraries are for programs that link the same shared
# MLIR, so the portable build installs its binary only.

if(NOT DGEMM_LINK_MLIR_DYLIB)
  return()
endif()

include(CMakePackageConfigHelpers)
set(dgemm_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Dgemm)
get_property(dgemm_libraries GLOBAL PROPERTY DGEMM_LIBRARIES)

# Everything at once, for embedders that do not want to pick.
add_library(Dgemm INTERFACE)
add_library(Dgemm::Dgemm ALIAS Dgemm)
target_link_libraries(Dgemm INTERFACE ${dgemm_libraries})

install(TARGETS Dgemm DgemmMLIRDeps ${dgemm_libraries} EXPORT DgemmTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/
                  ${PROJECT_BINARY_DIR}/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
        PATTERN CMakeFiles EXCLUDE)
install(EXPORT DgemmTargets NAMESPACE Dgemm:: DESTINATION ${dgemm_package_dir})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/DgemmConfig.cmake.in
  ${PROJECT_BINARY_DIR}/DgemmConfig.cmake
  INSTALL_DESTINATION ${dgemm_package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/DgemmConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/DgemmConfig.cmake
              ${PROJECT_BINARY_DIR}/DgemmConfigVersion.cmake
        DESTINATION ${dgemm_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/dgemm)
