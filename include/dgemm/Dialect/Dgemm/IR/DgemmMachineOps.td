// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine ops (L3a): the few instructions for which upstream has no op that is
// right for us. Each has a documented meaning, which the emulator executes,
// and becomes assembly text in lower-to-asm. The fence and the wait also stand
// at L2, on fragments instead of LLVM structs.

#ifndef DGEMM_MACHINE_OPS
#define DGEMM_MACHINE_OPS

include "dgemm/Dialect/Dgemm/IR/DgemmDialect.td"
include "dgemm/Dialect/Dgemm/IR/DgemmTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dgemm_WgmmaUndefOp : Dgemm_Op<"wgmma_undef"> {
  let summary = "accumulators with no defined value, to start a fresh chain";
  let description = [{
    Names 64xN accumulator registers whose value is not defined. Only a
    `dgemm.wgmma` with `scale_d = zero` (which ignores them) may take them.

    ```mlir
    %t = dgemm.wgmma_undef : !dgemm.inflight<64x88xf32>
    ```
  }];
  let results = (outs Dgemm_InflightType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Dgemm_WgmmaFenceOp
    : Dgemm_Op<"wgmma_fence",
               [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "hand accumulator registers to the tensor core";
  let description = [{
    `wgmma.fence.sync.aligned`, tied to the accumulators it orders: every
    earlier register access of them by this warp happens before any later
    WGMMA, and the compiler can move none across it. Fragments (structs at
    L3a) become in flight; values in flight stay so. With no operands it is
    the plain fence. `pin` operands are registers that no WGMMA touches but
    whose computation must not sink below the fence; they come back unchanged.

    Executed by all 32 lanes of each of the four warps of a warpgroup.
  }];
  let arguments = (ins Variadic<Dgemm_AccumulatorLike>:$accumulators,
                       Variadic<Dgemm_RegistersLike>:$pin);
  let results = (outs Variadic<Dgemm_InflightType>:$handed,
                      Variadic<Dgemm_RegistersLike>:$pinned);
  let assemblyFormat = [{
    (`(` $accumulators^ `:` type($accumulators) `)`)?
    (`pin` `(` $pin^ `:` type($pin) `)`)? attr-dict
    (`->` `(` type($handed)^ `)`)? (`pinned` `(` type($pinned)^ `)`)?
  }];
  let hasVerifier = 1;
}

def Dgemm_WgmmaOp
    : Dgemm_Op<"wgmma", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "one asynchronous warpgroup multiply-accumulate";
  let description = [{
    `wgmma.mma_async.sync.aligned.m64nNkK`: D += A x B (or D = A x B with
    `scale_d = zero`), A 64xK and B KxN read from shared memory through matrix
    descriptors (64-bit: start address / 16 in bits 0-13, leading byte offset
    / 16 in bits 16-29, stride byte offset / 16 in bits 32-45, base offset in
    bits 49-51, swizzle in bits 62-63: 1 = 128 B, 2 = 64 B, 3 = 32 B). K is 32
    bytes of the element type. Both operands are K-major unless `trans_a` /
    `trans_b` (16-bit types only) says M- or N-major.

    The multiplication runs at any time between issue and the completion of
    its commit group; until then the accumulators and the shared memory it
    reads belong to it. Sums are FP32 for 16-bit inputs; for FP8 inputs the
    hardware keeps fewer bits (docs/numerics.md).

    ```mlir
    %d = dgemm.wgmma %da, %db, %c {n = 88, k = 32, a_type = f8E4M3FN, b_type = f8E4M3FN, scale_d = "zero"} : !dgemm.inflight<64x88xf32>
    ```
  }];
  let arguments = (ins I64:$descriptorA, I64:$descriptorB,
                       Dgemm_InflightType:$accumulator, I32Attr:$n, I32Attr:$k,
                       TypeAttr:$a_type, TypeAttr:$b_type, StrAttr:$scale_d,
                       UnitAttr:$trans_a, UnitAttr:$trans_b);
  let results = (outs Dgemm_InflightType:$result);
  let assemblyFormat = [{
    $descriptorA `,` $descriptorB `,` $accumulator attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
}

def Dgemm_WgmmaWaitOp
    : Dgemm_Op<"wgmma_wait",
               [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "wait until at most N commit groups are pending";
  let description = [{
    `wgmma.wait_group.sync.aligned N`, tied to the values it concerns:

    * `resolve`: accumulators whose group is complete after this wait; they
      come back as registers (fragments at L2, LLVM structs at L3a);
    * `keep`: accumulators that stay in flight but whose later use must stay
      below the wait;
    * `pin`: registers of other values whose computation must not move across
      the wait.

    Results stand in that order. All 128 threads of the warpgroup execute it.

    ```mlir
    %r = dgemm.wgmma_wait 0 resolve(%t : !dgemm.inflight<64x88xf32>) -> (!dgemm.fragment<64x88xf32>)
    ```
  }];
  let arguments = (ins I32Attr:$pending, Variadic<Dgemm_InflightType>:$resolve,
                       Variadic<Dgemm_InflightType>:$keep,
                       Variadic<Dgemm_RegistersLike>:$pin);
  let results = (outs Variadic<Dgemm_RegistersLike>:$resolved,
                      Variadic<Dgemm_InflightType>:$kept,
                      Variadic<Dgemm_RegistersLike>:$pinned);
  let assemblyFormat = [{
    $pending (`resolve` `(` $resolve^ `:` type($resolve) `)`)?
    (`keep` `(` $keep^ `:` type($keep) `)`)?
    (`pin` `(` $pin^ `:` type($pin) `)`)? attr-dict
    (`->` `(` type($resolved)^ `)`)? (`kept` `(` type($kept)^ `)`)?
    (`pinned` `(` type($pinned)^ `)`)?
  }];
  let hasVerifier = 1;
}

#endif // DGEMM_MACHINE_OPS
