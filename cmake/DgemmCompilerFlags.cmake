# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Flags common to every translation unit, the linker, and ccache.

# LLVM is built with RTTI and without exceptions. Exceptions are off in our own
# code too; a library that must catch what another library throws says
# EXCEPTIONS (see AddDgemm.cmake).
add_compile_options(
  -Wall -Wextra -Wno-unused-parameter -ffunction-sections -fdata-sections
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-fcolor-diagnostics)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fdiagnostics-color=always -Wno-dangling-reference)
endif()

if(DGEMM_ENABLE_ASSERTIONS)
  add_compile_options(-UNDEBUG)
endif()

# lld links in a fraction of the time of GNU ld and takes static archives in any
# order, which the static MLIR build relies on.
find_program(DGEMM_LLD NAMES ld.lld-22 ld.lld
             HINTS ${DGEMM_LLVM_PREFIX}/bin)
if(DGEMM_LLD)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(--ld-path=${DGEMM_LLD})
  else()
    add_link_options(-fuse-ld=lld)
  endif()
endif()
add_link_options(-Wl,--gc-sections -Wl,--as-needed)
if(NOT DGEMM_LINK_MLIR_DYLIB)
  # glibc stays dynamic: a fully static program cannot dlopen the CUDA driver.
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--icf=all -Wl,-s)
endif()

# The base directory makes hits possible between build folders that lie beside
# each other.
find_program(DGEMM_CCACHE ccache)
if(DGEMM_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  cmake_path(GET PROJECT_SOURCE_DIR PARENT_PATH dgemm_ccache_base)
  set(dgemm_launcher env CCACHE_BASEDIR=${dgemm_ccache_base} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${DGEMM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${dgemm_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${dgemm_launcher})
endif()
