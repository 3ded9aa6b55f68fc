// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// DgemmPlugin.so brings our dialect and passes into a stock mlir-opt:
//
//   mlir-opt-22 --load-dialect-plugin=DgemmPlugin.so
//               --load-pass-plugin=DgemmPlugin.so
//               --pass-pipeline="builtin.module(dgemm-select-schedule)"
//
// Passes go into --pass-pipeline: the host makes its flags for passes before it
// loads a plugin.

#include "dgemm/InitAllDialects.h"
#include "dgemm/InitAllPasses.h"

#include "mlir/IR/Dialect.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"

static constexpr const char *pluginName = "dgemm";

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, pluginName, LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            mlir::dgemm::registerDgemmDialect(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  // The host has upstream's passes already; a second registration of one name
  // would end the process.
  return {MLIR_PLUGIN_API_VERSION, pluginName, LLVM_VERSION_STRING,
          [] { mlir::dgemm::registerDgemmPasses(); }};
}
