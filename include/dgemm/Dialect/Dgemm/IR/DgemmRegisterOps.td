// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel ops (L2), part four: the register form, in which every warp loads its
// share of K from global memory into registers and multiplies it with mma.sync,
// without ring and roles (docs/decisions/0009-register-form.md).

#ifndef DGEMM_REGISTER_OPS
#define DGEMM_REGISTER_OPS

include "dgemm/Dialect/Dgemm/IR/DgemmPipelineOps.td"

def Dgemm_WarpIdOp : Dgemm_Op<"warp_id", [Pure]> {
  let summary = "number of this warp within its CTA";
  let results = (outs I32:$warp);
  let assemblyFormat = "attr-dict `:` type($warp)";
}

def Dgemm_LoadStripOp
    : Dgemm_Op<"load_strip", [AttrSizedOperandSegments,
                              MemoryEffects<[MemRead<Dgemm_GlobalResource>]>]> {
  let summary = "load one K block of some rows into a warp's registers";
  let description = [{
    The K block with number `kblock` (as deep as the strip) of the rows from
    `row` on of a matrix with `stride` elements from row to row, whose rows
    begin on 16-byte boundaries. Rows beyond `rows` repeat the last one; their
    products belong to rows of D that do not exist. All lanes of the warp.

    The K block lies inside the matrix, unless `depth` gives K: what is beyond
    is then zero and not read. With `predicate` false nothing is read and all
    is zero.

    `streamed`: each byte is read once by the whole grid, so it is not kept in
    L1 and leaves L2 first.

    ```mlir
    %w = dgemm.load_strip %b[%n0, %kb] stride %ldb rows %n streamed : !llvm.ptr<1> -> !dgemm.strip<16x128xf8E4M3FN>
    %t = dgemm.load_strip %a[%m0, %kb] stride %lda rows %m depth %k : !llvm.ptr<1> -> !dgemm.strip<8x128xf8E4M3FN>
    ```
  }];
  let arguments = (ins LLVM_AnyPointer:$base, I32:$row, I32:$kblock,
                       I64:$stride, I32:$rows, Optional<I32>:$depth,
                       Optional<I1>:$predicate, UnitAttr:$streamed);
  let results = (outs Dgemm_StripType:$strip);
  let assemblyFormat = [{
    $base `[` $row `,` $kblock `]` `stride` $stride `rows` $rows
    (`depth` $depth^)? (`if` $predicate^)? (`streamed` $streamed^)? attr-dict
    `:` type($base) `->` type($strip)
  }];
}

def Dgemm_StripMmaOp
    : Dgemm_Op<"strip_mma",
               [Pure, OptionalTypesMatchWith<
                          "the accumulator has the result's type", "result",
                          "accumulator", "$_self">]> {
  let summary = "multiply two strips of a warp";
  let description = [{
    `%y = dgemm.strip_mma %a, %b, %x` is x + a x b^T; without `%x` the product
    alone. `a` has 16 rows, those of the result; the rows of `b`, a multiple of
    8, are its columns. Synchronous: the warp has the result.
  }];
  let arguments = (ins Dgemm_StripType:$a, Dgemm_StripType:$b,
                       Optional<Dgemm_FragmentType>:$accumulator);
  let results = (outs Dgemm_FragmentType:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $accumulator^)? attr-dict `:` type($a) `,` type($b)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Dgemm_WarpReduceOp
    : Dgemm_Op<"warp_reduce",
               [MemoryEffects<[MemRead<Dgemm_SharedResource>,
                               MemWrite<Dgemm_SharedResource>,
                               MemRead<Dgemm_BarrierResource>,
                               MemWrite<Dgemm_BarrierResource>]>]> {
  let summary = "sum the fragments of all warps of the CTA, in the first";
  let description = [{
    All threads of the CTA, once. In warp 0 the results are the sums over the
    `warps` warps, added in the order of their numbers, so that the same problem
    gives the same bits; in the others they are their own values.
  }];
  let arguments = (ins Variadic<Dgemm_FragmentType>:$values, I32Attr:$warps);
  let results = (outs Variadic<Dgemm_FragmentType>:$sums);
  let assemblyFormat = [{
    $values `warps` $warps attr-dict `:` type($values) `->` type($sums)
  }];
  let hasVerifier = 1;
}

#endif // DGEMM_REGISTER_OPS
