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
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dgemm_LoadGlobalOp : Dgemm_Op<"load_global", [MemoryEffects<[MemRead]>]> {
  let summary = "load 4, 8 or 16 bytes of read-only global memory";
  let description = [{
    `ld.global.nc`: one thread loads words that nothing writes while the kernel
    runs. The address is a multiple of the size. Without the predicate, or
    when it is true, the words of memory; when it is false nothing is read and
    the words are zero.

    * `no_allocate`: the line is not kept in L1 (`L1::no_allocate`);
    * `evict_first`: the line is the first to leave L2 (a cache policy).

    Both fit data that is read once, as the weights of a GEMM of few rows.

    ```mlir
    %w = dgemm.load_global %p if %inside {no_allocate, evict_first} : vector<4xi32>
    ```
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<1>:$address, Optional<I1>:$predicate,
                       UnitAttr:$no_allocate, UnitAttr:$evict_first);
  let results = (outs AnyTypeOf<[I32, VectorOfLengthAndType<[2, 4], [I32]>],
                                "i32, vector<2xi32> or vector<4xi32>">:$words);
  let assemblyFormat = [{
    $address (`if` $predicate^)? attr-dict `:` qualified(type($words))
  }];
}

def Dgemm_MmaSyncOp : Dgemm_Op<"mma_sync", [NoMemoryEffect]> {
  let summary = "one multiply-accumulate of a warp, operands in registers";
  let description = [{
    `mma.sync.aligned.m16n8kK.row.col.f32`: D = A x B + C, A 16xK, B Kx8, C and
    D 16x8 in FP32. K is 32 bytes of the element type: 16 for bf16 and f16, 32
    for f8E4M3FN and f8E5M2 (which may be mixed). All 32 lanes of a warp
    execute it together.

    A register holds P = 4 / (bytes of an element) elements, the lowest K in its
    lowest bits. With g = lane / 4 and t = lane % 4, e = 0 .. P-1:

    | register | element |
    |---|---|
    | a0 | A[g][P t + e] |
    | a1 | A[g + 8][P t + e] |
    | a2 | A[g][4 P + P t + e] |
    | a3 | A[g + 8][4 P + P t + e] |
    | b0 | B[P t + e][g] |
    | b1 | B[4 P + P t + e][g] |
    | c0, c1 | C[g][2 t], C[g][2 t + 1] |
    | c2, c3 | C[g + 8][2 t], C[g + 8][2 t + 1] |

    As K is summed over, any permutation of it that A and B share gives the same
    result but for the order of the sum: a 16-byte load of a row may be used
    as four registers.

    Sums are FP32. On sm_90 ptxas makes two f16 multiplications with FP32 sums
    of an 8-bit form, one over the elements e = 0, 1 of each register and one
    over e = 2, 3, and adds their sum to C: the narrow accumulators that WGMMA
    has for FP8 play no part. The 8-bit forms need PTX 8.4.

    ```mlir
    %d:4 = dgemm.mma_sync (%a0, %a1, %a2, %a3) (%b0, %b1) (%c0, %c1, %c2, %c3) {a_type = f8E4M3FN, b_type = f8E4M3FN}
    ```
  }];
  let arguments = (ins I32:$a0, I32:$a1, I32:$a2, I32:$a3, I32:$b0, I32:$b1,
                       F32:$c0, F32:$c1, F32:$c2, F32:$c3, TypeAttr:$a_type,
                       TypeAttr:$b_type);
  let results = (outs F32:$d0, F32:$d1, F32:$d2, F32:$d3);
  let assemblyFormat = [{
    `(` $a0 `,` $a1 `,` $a2 `,` $a3 `)` `(` $b0 `,` $b1 `)`
    `(` $c0 `,` $c1 `,` $c2 `,` $c3 `)` attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Depth of the multiplication, 16 or 32; both types have the same.
    int64_t getK();
  }];
}

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

def Dgemm_WgmmaRegistersOp
    : Dgemm_Op<"wgmma_registers", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "one asynchronous warpgroup multiply-accumulate, A in registers";
  let description = [{
    `dgemm.wgmma` with A in four 32-bit registers of each thread, an LLVM struct
    of `i32`: warp w of the warpgroup holds rows 16 w .. 16 w + 15 in the layout
    that `dgemm.mma_sync` has for a0 .. a3. B is K-major, or N-major with
    `trans_b` (16-bit types).

    The tensor core may read the registers until the wait that covers the
    commit group; nothing else orders its access to them, so A must come
    through the `pin` of the `dgemm.wgmma_fence` before the multiplication.

    ```mlir
    %d = dgemm.wgmma_registers %a, %db, %c {n = 8, k = 16, a_type = bf16, b_type = bf16, scale_d = "one"} : !llvm.struct<(i32, i32, i32, i32)>, !dgemm.inflight<64x8xf32>
    ```
  }];
  let arguments = (ins Dgemm_RegistersLike:$a, I64:$descriptorB,
                       Dgemm_InflightType:$accumulator, I32Attr:$n, I32Attr:$k,
                       TypeAttr:$a_type, TypeAttr:$b_type, StrAttr:$scale_d,
                       UnitAttr:$trans_b);
  let results = (outs Dgemm_InflightType:$result);
  let assemblyFormat = [{
    $a `,` $descriptorB `,` $accumulator attr-dict
    `:` type($a) `,` type($result)
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
