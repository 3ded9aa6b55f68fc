# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Static MLIR and LLVM for the portable build. All archives are named; only the
# objects that something refers to are linked.
#
# The distribution's exported targets are made for the shared build, so
# dependencies are taken off here: LLVM and MLIR, which are the shared libraries
# and to which a "static" link would silently stay bound; Polly, whose archive
# is not shipped; libz3.so, from which no object of ours needs a symbol.

get_property(dgemm_mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
set(dgemm_static_names ${dgemm_mlir_libs} ${LLVM_AVAILABLE_LIBS})
list(FILTER dgemm_static_names INCLUDE REGEX "^(MLIR|LLVM)")
# Tests of upstream, and what would want libcurl or libpfm.
list(FILTER dgemm_static_names EXCLUDE
     REGEX "^MLIR.*Test|Debuginfod|HTTP|Fuzz|Exegesis|OptDriver|LineEditor")
set(dgemm_static_libs)
foreach(lib ${dgemm_static_names})
  if(NOT TARGET ${lib})
    continue()
  endif()
  get_target_property(kind ${lib} TYPE)
  if(NOT kind STREQUAL STATIC_LIBRARY)
    continue()
  endif()
  get_target_property(deps ${lib} INTERFACE_LINK_LIBRARIES)
  if(deps)
    list(FILTER deps EXCLUDE REGEX
         "^(LLVM|MLIR|\\$<LINK_ONLY:LLVM>|\\$<LINK_ONLY:MLIR>)$|Polly|z3")
    set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${deps}")
  endif()
  list(APPEND dgemm_static_libs ${lib})
endforeach()
target_link_libraries(DgemmMLIRDeps INTERFACE ${dgemm_static_libs})
