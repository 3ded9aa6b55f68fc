# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# Pages made from TableGen. The target dgemm-docs writes them below the build
# folder; scripts/update_generated_docs.sh copies them to docs/generated or
# compares them with what is committed there.

# One page: the records of `source` (a path below include/), printed by an
# mlir-tblgen generator into docs/generated/<page>.
function(dgemm_add_doc page source)
  set(input ${PROJECT_SOURCE_DIR}/include/${source})
  set(output ${PROJECT_BINARY_DIR}/docs/generated/${page})
  cmake_path(GET input PARENT_PATH folder)
  file(GLOB records ${folder}/*.td)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory
            ${PROJECT_BINARY_DIR}/docs/generated
    COMMAND ${MLIR_TABLEGEN_EXE} ${ARGN} -I ${PROJECT_SOURCE_DIR}/include
            -I ${folder} -I ${MLIR_INCLUDE_DIR} ${input} -o ${output}
    DEPENDS ${records}
    COMMENT "Writing docs/generated/${page}")
  set_property(GLOBAL APPEND PROPERTY DGEMM_DOC_PAGES ${output})
endfunction()

function(dgemm_add_docs)
  set(MLIR_INCLUDE_DIR ${MLIR_INCLUDE_DIRS})
  list(GET MLIR_INCLUDE_DIR -1 MLIR_INCLUDE_DIR)
  dgemm_add_doc(DgemmDialect.md dgemm/Dialect/Dgemm/IR/Dgemm.td
                -gen-dialect-doc -dialect=dgemm)
  # One page per Passes.td, named after the folder that holds it and the file.
  file(GLOB_RECURSE passes RELATIVE ${PROJECT_SOURCE_DIR}/include
       CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/dgemm/*Passes.td)
  foreach(file ${passes})
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    cmake_path(GET file STEM stem)
    dgemm_add_doc(${name}${stem}.md ${file} -gen-pass-doc)
  endforeach()
  get_property(pages GLOBAL PROPERTY DGEMM_DOC_PAGES)
  add_custom_target(dgemm-docs DEPENDS ${pages})
endfunction()
