// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Enumerations that stand in IR text on their own. Those that only occur inside
// a schedule are enums of the plain C++ struct.

#ifndef DGEMM_ENUMS
#define DGEMM_ENUMS

include "dgemm/Dialect/Dgemm/IR/DgemmDialect.td"
include "mlir/IR/EnumAttr.td"

// The values are those of ::dgemm::Layout, so that one is a cast of the other.
def Dgemm_MatmulLayout
    : I32EnumAttr<"MatmulLayout",
                  "storage of A, then B: n as written, t transposed", [
        I32EnumAttrCase<"NT", 0, "nt">, I32EnumAttrCase<"NN", 1, "nn">,
        I32EnumAttrCase<"TN", 2, "tn">, I32EnumAttrCase<"TT", 3, "tt">]> {
  let cppNamespace = "::mlir::dgemm";
  let genSpecializedAttr = 0;
}

def Dgemm_MatmulLayoutAttr
    : EnumAttr<Dgemm_Dialect, Dgemm_MatmulLayout, "layout"> {
  let summary = "how A and B lie in memory";
  let description = [{
    `nt`: A is stored `[M, K]` and B `[N, K]`, both with K contiguous. `nn`: B
    is `[K, N]`. `tn`: A is `[K, M]`, B `[K, N]`. `tt`: A is `[K, M]`, B
    `[N, K]`. A transpose is thus an attribute and never a copy.

    ```mlir
    #dgemm.layout<nt>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

#endif // DGEMM_ENUMS
