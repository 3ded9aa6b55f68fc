# SPDX-FileCopyrightText: The dgemm authors
# SPDX-License-Identifier: Apache-2.0
#
# How a library, a tool and a unit test of dgemm are declared:
#
#   add_dgemm_library(DgemmFoo A.cpp B.cpp [MLIR] [EXCEPTIONS]
#                     [DEPENDS target...] [LINK_LIBS DgemmBar ...]
#                     [PRIVATE_LIBS lib...])
#   add_dgemm_tool(dgemm-foo foo.cpp ENTRY dgemmFooMain [MLIR] [EXCEPTIONS]
#                  LINK_LIBS ...)
#   add_dgemm_plugin(DgemmPlugin A.cpp LINK_LIBS ...)
#   add_dgemm_unittest(FooTests A.cpp [MLIR] [EXCEPTIONS] LINK_LIBS ...)
#
# MLIR          compile with LLVM's flags and link MLIR and LLVM
# EXCEPTIONS    enable C++ exceptions (off otherwise)
# LINK_LIBS     our own libraries; part of the interface
# PRIVATE_LIBS  libraries of others that the headers do not show
# ENTRY         the tool's `int dgemmFooMain(int argc, char **argv)`, in the
#               global namespace; main() is generated. The portable build puts
#               all tools into one binary, so a tool keeps its llvm::cl options
#               inside functions, never at namespace scope.

include_guard()

# Adds the topmost folder with a CMakeLists.txt on each branch below `root`. C++
# files in a folder that no CMakeLists.txt covers are an error.
function(dgemm_add_tree root)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${root}/CMakeLists.txt)
    add_subdirectory(${PROJECT_SOURCE_DIR}/${root}
                     ${PROJECT_BINARY_DIR}/${root})
    return()
  endif()
  file(GLOB children RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/${root}/*)
  foreach(child ${children})
    if(child MATCHES "\\.cpp$")
      message(FATAL_ERROR "${child}: its folder has no CMakeLists.txt")
    elseif(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${child})
      dgemm_add_tree(${child})
    endif()
  endforeach()
endfunction()

function(dgemm_collect_targets directory result)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(children DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(child ${children})
    dgemm_collect_targets(${child} below)
    list(APPEND targets ${below})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# dgemm-headers: every header that TableGen makes. All MLIR libraries depend on
# it, so no library has to list the generated headers of those it uses.
function(dgemm_collect_headers)
  add_custom_target(dgemm-headers)
  dgemm_collect_targets(${PROJECT_SOURCE_DIR} targets)
  list(FILTER targets INCLUDE REGEX "IncGen$")
  if(targets)
    add_dependencies(dgemm-headers ${targets})
  endif()
endfunction()

# Flags shared by libraries, tools and tests.
function(dgemm_set_flags target)
  cmake_parse_arguments(ARG "MLIR;EXCEPTIONS" "" "" ${ARGN})
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(${target} PRIVATE
                           $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  endif()
  if(ARG_MLIR)
    add_dependencies(${target} dgemm-headers)
    if(NOT ARG_EXCEPTIONS)
      dgemm_use_precompiled_header(${target})
    endif()
  endif()
endfunction()

# Links to our own libraries are made at the end (dgemm_resolve_links), when
# all are declared, so that a misspelt name is an error of the configuration and
# not of the linker, and folders may come in any order.
function(dgemm_link target scope)
  foreach(lib ${ARGN})
    set_property(GLOBAL APPEND PROPERTY DGEMM_LINKS ${target}|${scope}|${lib})
  endforeach()
endfunction()

function(dgemm_resolve_links)
  get_property(links GLOBAL PROPERTY DGEMM_LINKS)
  foreach(link ${links})
    string(REPLACE "|" ";" parts "${link}")
    list(GET parts 0 target)
    list(GET parts 1 scope)
    list(GET parts 2 lib)
    if(lib MATCHES "^Dgemm" AND NOT TARGET ${lib})
      message(FATAL_ERROR "${target} links ${lib}, which no folder declares")
    endif()
    target_link_libraries(${target} ${scope} ${lib})
  endforeach()
endfunction()

function(add_dgemm_library name)
  cmake_parse_arguments(ARG "MLIR;EXCEPTIONS" "" "DEPENDS;LINK_LIBS;PRIVATE_LIBS"
                        ${ARGN})
  if(ARG_MLIR AND DGEMM_PLAIN_ONLY)
    return()
  endif()
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(Dgemm::${name} ALIAS ${name})
  target_include_directories(
    ${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                   $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set(flags)
  if(ARG_MLIR)
    list(APPEND flags MLIR)
    target_link_libraries(${name} PUBLIC DgemmMLIRDeps)
  endif()
  if(ARG_EXCEPTIONS)
    list(APPEND flags EXCEPTIONS)
  endif()
  dgemm_set_flags(${name} ${flags})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  dgemm_link(${name} PUBLIC ${ARG_LINK_LIBS})
  foreach(lib ${ARG_PRIVATE_LIBS})
    set(kind)
    if(TARGET ${lib})
      get_target_property(kind ${lib} TYPE)
    endif()
    if(kind STREQUAL INTERFACE_LIBRARY)
      # Headers only: nothing that a user of the installed library would need.
      target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:${lib}>)
    else()
      target_link_libraries(${name} PRIVATE ${lib})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY DGEMM_LIBRARIES ${name})
endfunction()

# Adds the generated main() of one entry point to a target.
function(dgemm_generate_main target entry)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}-main.cpp)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"// Generated by add_dgemm_tool.
int @entry@(int argc, char **argv);
int main(int argc, char **argv) { return @entry@(argc, argv); }
")
  target_sources(${target} PRIVATE ${file})
endfunction()

function(add_dgemm_tool name)
  cmake_parse_arguments(ARG "MLIR;EXCEPTIONS" "ENTRY" "LINK_LIBS;PRIVATE_LIBS"
                        ${ARGN})
  set(flags)
  if(ARG_MLIR)
    list(APPEND flags MLIR)
  endif()
  if(ARG_EXCEPTIONS)
    list(APPEND flags EXCEPTIONS)
  endif()
  if(DGEMM_MULTICALL AND ARG_ENTRY)
    set(target obj.${name})
    add_library(${target} OBJECT ${ARG_UNPARSED_ARGUMENTS})
    set_property(GLOBAL APPEND PROPERTY DGEMM_TOOL_OBJECTS ${target})
    set_property(GLOBAL APPEND PROPERTY DGEMM_TOOL_ENTRIES ${name}=${ARG_ENTRY})
  else()
    set(target ${name})
    add_executable(${target} ${ARG_UNPARSED_ARGUMENTS})
    if(ARG_ENTRY)
      dgemm_generate_main(${target} ${ARG_ENTRY})
    endif()
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  if(ARG_MLIR)
    target_link_libraries(${target} PRIVATE DgemmMLIRDeps)
  endif()
  dgemm_set_flags(${target} ${flags})
  dgemm_link(${target} PRIVATE ${ARG_LINK_LIBS} ${ARG_PRIVATE_LIBS})
  set_property(GLOBAL APPEND PROPERTY DGEMM_TOOLS ${target})
endfunction()

# The portable build's one binary: picks the tool by argv[0] or by the first
# argument, with symbolic links for the tools' own names.
function(dgemm_finish_tools)
  if(NOT DGEMM_MULTICALL)
    return()
  endif()
  get_property(objects GLOBAL PROPERTY DGEMM_TOOL_OBJECTS)
  get_property(entries GLOBAL PROPERTY DGEMM_TOOL_ENTRIES)
  set(DGEMM_ENTRY_DECLS)
  set(DGEMM_ENTRY_ROWS)
  set(links)
  foreach(pair ${entries})
    string(REGEX MATCH "^([^=]+)=(.+)$" _ ${pair})
    set(tool ${CMAKE_MATCH_1})
    string(APPEND DGEMM_ENTRY_DECLS "int ${CMAKE_MATCH_2}(int, char **);\n")
    string(APPEND DGEMM_ENTRY_ROWS "    {\"${tool}\", ${CMAKE_MATCH_2}},\n")
    list(APPEND links COMMAND ${CMAKE_COMMAND} -E create_symlink dgemm
         $<TARGET_FILE_DIR:dgemm>/${tool})
    install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -E create_symlink
      dgemm \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${tool}\")")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/MulticallMain.cpp.in
                 ${PROJECT_BINARY_DIR}/MulticallMain.cpp @ONLY)
  add_executable(dgemm ${PROJECT_BINARY_DIR}/MulticallMain.cpp)
  target_link_libraries(dgemm PRIVATE ${objects})
  add_custom_command(TARGET dgemm POST_BUILD ${links})
  install(TARGETS dgemm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# A module that a program with the shared MLIR, such as the distribution's own
# mlir-opt, loads. It holds our libraries and refers to the shared MLIR, of
# which a process may have only one; the portable build therefore has none.
function(add_dgemm_plugin name)
  if(NOT DGEMM_LINK_MLIR_DYLIB)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} MODULE ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_link_libraries(${name} PRIVATE DgemmMLIRDeps)
  dgemm_set_flags(${name} MLIR)
  dgemm_link(${name} PRIVATE ${ARG_LINK_LIBS})
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY DGEMM_TOOLS ${name})
endfunction()

function(add_dgemm_unittest name)
  cmake_parse_arguments(ARG "MLIR;EXCEPTIONS" "" "LINK_LIBS;PRIVATE_LIBS"
                        ${ARGN})
  if(NOT DGEMM_ENABLE_TESTS OR (ARG_MLIR AND DGEMM_PLAIN_ONLY))
    return()
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                        ${PROJECT_BINARY_DIR}/test/Unit)
  set(flags)
  if(ARG_MLIR)
    list(APPEND flags MLIR)
    target_link_libraries(${name} PRIVATE DgemmMLIRDeps)
  endif()
  if(ARG_EXCEPTIONS)
    list(APPEND flags EXCEPTIONS)
  endif()
  dgemm_set_flags(${name} ${flags})
  dgemm_link(${name} PRIVATE ${ARG_LINK_LIBS} ${ARG_PRIVATE_LIBS})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_property(GLOBAL APPEND PROPERTY DGEMM_UNITTESTS ${name})
endfunction()
