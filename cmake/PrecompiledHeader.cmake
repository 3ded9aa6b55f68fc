# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# One precompiled header for all MLIR targets (docs/decisions/0001). CMake's own
# support writes absolute paths of the build folder into it and into every
# command, so that ccache would never find in one build folder what was compiled
# in another; hence a command of our own. Its input is /dev/null with the headers
# as options: no path of this checkout stands in the result, which is the same in
# every checkout and stays valid when one of them goes. It bypasses ccache, which
# would restore one that names another folder.

option(DGEMM_PRECOMPILED_HEADERS "Compile the common MLIR headers once" ON)
if(NOT DGEMM_PRECOMPILED_HEADERS OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang"
   OR NOT CMAKE_GENERATOR STREQUAL "Ninja")
  function(dgemm_use_precompiled_header target)
  endfunction()
  return()
endif()

# A precompiled header fits one setting, so executables are compiled as the
# libraries are.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})

string(TOUPPER ${CMAKE_BUILD_TYPE} dgemm_build_type)
separate_arguments(dgemm_pch_flags NATIVE_COMMAND
                   "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${dgemm_build_type}}")
list(APPEND dgemm_pch_flags -fPIC -fno-exceptions -std=c++20
     ${LLVM_DEFINITIONS_LIST})
if(DGEMM_ENABLE_ASSERTIONS)
  list(APPEND dgemm_pch_flags -UNDEBUG)
endif()
foreach(folder ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  list(APPEND dgemm_pch_flags -isystem ${folder})
endforeach()
list(REMOVE_DUPLICATES dgemm_pch_flags)

file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/MLIRPrecompiled.h dgemm_pch_headers
     REGEX "^#include")
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
             CMAKE_CONFIGURE_DEPENDS cmake/MLIRPrecompiled.h)
set(dgemm_pch_includes "")
foreach(line ${dgemm_pch_headers})
  string(REGEX REPLACE "^#include [<\"](.*)[>\"]$" "\\1" header "${line}")
  list(APPEND dgemm_pch_includes -include ${header})
endforeach()

set(dgemm_pch ${PROJECT_BINARY_DIR}/MLIRPrecompiled.pch)
# No time stamp in it: ccache compares contents.
add_custom_command(
  OUTPUT ${dgemm_pch}
  COMMAND ${CMAKE_CXX_COMPILER}
          ${dgemm_pch_flags} -Xclang -fno-pch-timestamp
          -fpch-instantiate-templates -x c++-header -MD -MF
          MLIRPrecompiled.pch.d ${dgemm_pch_includes} -c /dev/null
          -o MLIRPrecompiled.pch
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  DEPENDS ${PROJECT_SOURCE_DIR}/cmake/MLIRPrecompiled.h
  DEPFILE ${PROJECT_BINARY_DIR}/MLIRPrecompiled.pch.d
  COMMENT "Precompiling the common MLIR headers"
  VERBATIM)
add_custom_target(dgemm-pch DEPENDS ${dgemm_pch})

function(dgemm_use_precompiled_header target)
  add_dependencies(${target} dgemm-pch)
  # Ninja compiles in the build folder, so the relative name is enough.
  target_compile_options(${target} PRIVATE
                         "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch MLIRPrecompiled.pch>")
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set_property(SOURCE ${sources} DIRECTORY ${folder}
               APPEND PROPERTY OBJECT_DEPENDS ${dgemm_pch})
endfunction()
