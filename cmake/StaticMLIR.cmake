# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Static MLIR and LLVM for the portable build. The distribution's exported
# targets are made for the shared build, so two things in them are mended here.

get_property(dgemm_mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
set(dgemm_mlir_static)
foreach(lib ${dgemm_mlir_libs})
  if(NOT TARGET ${lib})
    continue()
  endif()
  # Each archive names the target LLVM, which is libLLVM.so: a "static" link
  # would silently stay bound to it.
  get_target_property(deps ${lib} INTERFACE_LINK_LIBRARIES)
  if(deps)
    list(FILTER deps EXCLUDE REGEX "^(LLVM|\\$<LINK_ONLY:LLVM>)$")
    set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${deps}")
  endif()
  list(APPEND dgemm_mlir_static ${lib})
endforeach()

# LLVMSupport names libz3.so, from which no object of ours ever needs a symbol.
get_target_property(deps LLVMSupport INTERFACE_LINK_LIBRARIES)
list(FILTER deps EXCLUDE REGEX "z3")
# A static zstd would do as well, but the shared one is on every Debian.
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${deps}")

llvm_map_components_to_libnames(
  dgemm_llvm_static
  Core Support TargetParser BitReader BitWriter IRReader Linker Passes Analysis
  TransformUtils InstCombine ScalarOpts IPO Vectorize Target CodeGen MC
  NVPTX X86 OrcJIT ExecutionEngine RuntimeDyld JITLink Remarks FrontendOffloading
  Coroutines AsmParser)
target_link_libraries(DgemmMLIRDeps INTERFACE ${dgemm_mlir_static}
                      ${dgemm_llvm_static})
