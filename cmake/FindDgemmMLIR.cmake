# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds LLVM and MLIR and wraps them in one interface target, DgemmMLIRDeps, so
# that libraries need not know whether the build links the shared libraries or
# the static archives.

# LLVMConfig asks for a zstd target that exists only with libzstd-dev's CMake
# files; any package that has the library will do.
macro(dgemm_provide_zstd kind suffix)
  if(NOT TARGET zstd::libzstd_${kind})
    find_library(DGEMM_ZSTD_${kind} NAMES libzstd${suffix} zstd)
    if(DGEMM_ZSTD_${kind})
      add_library(zstd::libzstd_${kind} UNKNOWN IMPORTED GLOBAL)
      set_target_properties(zstd::libzstd_${kind} PROPERTIES IMPORTED_LOCATION
                            ${DGEMM_ZSTD_${kind}})
    endif()
  endif()
endmacro()

list(APPEND CMAKE_PREFIX_PATH ${DGEMM_LLVM_PREFIX})
find_package(LLVM ${DGEMM_LLVM_VERSION} REQUIRED CONFIG)
find_package(MLIR ${DGEMM_LLVM_VERSION} REQUIRED CONFIG)
dgemm_provide_zstd(shared .so)
dgemm_provide_zstd(static .a)
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Added as they are, the definitions arrive as one string and the compiler sees
# _GLIBCXX_USE_CXX11_ABI twice.
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

add_library(DgemmMLIRDeps INTERFACE)
target_include_directories(DgemmMLIRDeps SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS}
                           ${MLIR_INCLUDE_DIRS})
target_compile_options(DgemmMLIRDeps INTERFACE ${LLVM_DEFINITIONS_LIST})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

if(DGEMM_LINK_MLIR_DYLIB)
  target_link_libraries(DgemmMLIRDeps INTERFACE MLIR LLVM)
else()
  include(StaticMLIR)
endif()
