// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The dgemm dialect itself and the base classes of its ops, types and
// attributes.

#ifndef DGEMM_DIALECT
#define DGEMM_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Dgemm_Dialect : Dialect {
  let name = "dgemm";
  let cppNamespace = "::mlir::dgemm";
  let summary = "GEMMs for Hopper: the problem, its schedule and its kernel";
  let description = [{
    The dialect spans four levels (docs/Levels.md):

    * **L0 problem**: `dgemm.matmul` says what is multiplied.
    * **L1 scheduled**: the same op with `#dgemm.schedule` (or
      `#dgemm.dispatch`) and the name of who chose it.
    * **L2 kernel**: `dgemm.kernel` with a tile loop, a ring of shared-memory
      slots, warp roles and warpgroup-wide fragments.
    * **L3a machine**: NVVM and LLVM plus a few `dgemm` machine ops for what
      upstream lacks: WGMMA whose accumulators are typed as *in flight* until
      a wait gives them back.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Registered by the files that own them.
    void registerTypes();
    void registerAttributes();
    /// Discardable attribute of a converted kernel function: the launch
    /// metadata document as JSON text.
    static constexpr ::llvm::StringLiteral kLaunchMetadataAttr =
        "dgemm.launch_metadata";
  }];
}

class Dgemm_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Dgemm_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}
class Dgemm_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Dgemm_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}
class Dgemm_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dgemm_Dialect, mnemonic, traits>;

#endif // DGEMM_DIALECT
