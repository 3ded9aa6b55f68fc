// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel ops (L2), part three: what a consumer warpgroup does with finished
// accumulators, and the barriers between warpgroups.

#ifndef DGEMM_EPILOGUE_OPS
#define DGEMM_EPILOGUE_OPS

include "dgemm/Dialect/Dgemm/IR/DgemmPipelineOps.td"

def Dgemm_ScaleFragmentOp
    : Dgemm_Op<"scale_fragment",
               [Pure, AttrSizedOperandSegments,
                AllTypesMatch<["value", "result"]>]> {
  let summary = "multiply a 64xN fragment by scales";
  let description = [{
    Each value times the scale of its row and the scale of its column. `rows`
    are those of the thread's upper and lower row; `cols` is one scale for all
    columns, or two for every 8 columns: those of the thread's own columns.
    Scales that are left out are 1.

    ```mlir
    %y = dgemm.scale_fragment %x rows(%upper, %lower) cols(%c0, %c1) : !dgemm.fragment<64x8xf32>
    ```
  }];
  let arguments = (ins Dgemm_FragmentType:$value, Variadic<F32>:$rows,
                       Variadic<F32>:$cols);
  let results = (outs Dgemm_FragmentType:$result);
  let assemblyFormat = [{
    $value (`rows` `(` $rows^ `)`)? (`cols` `(` $cols^ `)`)? attr-dict `:`
    type($result)
  }];
  let hasVerifier = 1;
}

def Dgemm_AddGlobalOp
    : Dgemm_Op<"add_global",
               [MemoryEffects<[MemRead<Dgemm_GlobalResource>]>,
                AllTypesMatch<["value", "result"]>]> {
  let summary = "add the matching 64xN or 16xN block of C to a fragment";
  let description = [{
    C is row major with `stride` elements from row to row; elements outside
    `rows` x `cols` are not read and count as zero. `transposed`: as in
    `dgemm.store_global`.
  }];
  let arguments = (ins Dgemm_FragmentType:$value, LLVM_AnyPointer:$base,
                       I32:$row, I32:$col, I32:$rows, I32:$cols, I64:$stride,
                       TypeAttr:$element_type, UnitAttr:$transposed);
  let results = (outs Dgemm_FragmentType:$result);
  let assemblyFormat = [{
    $value `,` $base `[` $row `,` $col `]` `stride` $stride `within` `[` $rows
    `,` $cols `]` $element_type (`transposed` $transposed^)? attr-dict `:` type($base) `,` type($result)
  }];
}

def Dgemm_StoreGlobalOp
    : Dgemm_Op<"store_global",
               [MemoryEffects<[MemWrite<Dgemm_GlobalResource>]>]> {
  let summary = "store a 64xN or 16xN fragment from registers, checked";
  let description = [{
    Converts to `element_type` and writes the elements inside `rows` x `cols`;
    no other byte is touched. Pairs of columns go out as one store where both
    are inside. `transposed`: the fragment's rows are the matrix's columns, and
    `row`, `rows` count along those.
  }];
  let arguments = (ins Dgemm_FragmentType:$value, LLVM_AnyPointer:$base,
                       I32:$row, I32:$col, I32:$rows, I32:$cols, I64:$stride,
                       TypeAttr:$element_type, UnitAttr:$transposed);
  let assemblyFormat = [{
    $value `,` $base `[` $row `,` $col `]` `stride` $stride `within` `[` $rows
    `,` $cols `]` $element_type (`transposed` $transposed^)? attr-dict `:` type($base) `,` type($value)
  }];
}

def Dgemm_StageOp
    : Dgemm_Op<"stage", [MemoryEffects<[MemWrite<Dgemm_SharedResource>]>]> {
  let summary = "put columns of a fragment into a store box in shared memory";
  let description = [{
    Converts columns `col` to `col + width - 1` of the fragment to
    `element_type` and writes them, swizzled as the D tensor map has it, from
    column `to_col` on of the box of 64 rows by `box_cols` columns that lies
    `offset` bytes into the staging area of warpgroup `wg`.
  }];
  let arguments = (ins Dgemm_FragmentType:$value, I32:$wg, I32Attr:$col,
                       I32Attr:$width, I32Attr:$to_col, I32Attr:$box_cols,
                       I32Attr:$offset, TypeAttr:$element_type);
  let assemblyFormat = [{
    $value `cols` $col `width` $width `to` $wg `box` $box_cols `at` $to_col
    `offset` $offset $element_type attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Dgemm_TmaStoreOp
    : Dgemm_Op<"tma_store", [MemoryEffects<[MemRead<Dgemm_SharedResource>,
                                            MemWrite<Dgemm_GlobalResource>]>]> {
  let summary = "one thread: copy one staged box to D";
  let arguments = (ins Dgemm_TensorMapType:$map, I32:$col, I32:$row, I32:$wg,
                       I32Attr:$offset);
  let assemblyFormat = [{
    $map `[` $col `,` $row `]` `from` $wg `offset` $offset attr-dict
  }];
}
def Dgemm_StoreCommitOp
    : Dgemm_Op<"store_commit",
               [MemoryEffects<[MemRead<Dgemm_SharedResource>,
                               MemWrite<Dgemm_GlobalResource>]>]> {
  let summary = "one thread: close the group of the stores issued so far";
  let assemblyFormat = "attr-dict";
}
def Dgemm_StoreWaitOp
    : Dgemm_Op<"store_wait",
               [MemoryEffects<[MemRead<Dgemm_SharedResource>,
                               MemWrite<Dgemm_SharedResource>,
                               MemWrite<Dgemm_GlobalResource>]>]> {
  let summary = "one thread: wait for its stores";
  let description = [{
    Until at most `pending` groups remain; with `read` only until their
    shared memory has been read.
  }];
  let arguments = (ins I32Attr:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
}

def Dgemm_FenceAsyncOp
    : Dgemm_Op<"fence_async", [MemoryEffects<[MemRead<Dgemm_SharedResource>,
                                              MemWrite<Dgemm_SharedResource>]>]> {
  let summary = "make this thread's shared-memory writes visible to TMA";
  let assemblyFormat = "attr-dict";
}

def Dgemm_WarpgroupBarrierOp
    : Dgemm_Op<"warpgroup_barrier",
               [MemoryEffects<[MemRead<Dgemm_SharedResource>,
                               MemWrite<Dgemm_SharedResource>]>]> {
  let summary = "all 128 threads of consumer warpgroup `wg` meet";
  let arguments = (ins I32:$wg);
  let assemblyFormat = "$wg attr-dict";
}

def Dgemm_OrderWaitOp : Dgemm_RingBarrierOp<"order_wait"> {
  let summary = "consumer: wait for the tensor core to be handed over";
  let description = [{
    Warpgroup `wg` waits until another consumer has arrived for it with
    `dgemm.order_arrive`: before each tile in ping-pong, before each chain of
    multiplications where consumers multiply in turn.
  }];
  let arguments = (ins I32:$wg);
  let assemblyFormat = "$wg attr-dict";
}
def Dgemm_OrderArriveOp : Dgemm_RingBarrierOp<"order_arrive"> {
  let summary = "consumer: hand the tensor core to warpgroup `wg`";
  let description = [{
    With `pending` only when at most that many of the WGMMA groups committed so
    far still run (by what insert-fences puts in front).
  }];
  let arguments = (ins I32:$wg, OptionalAttr<I32Attr>:$pending);
  let assemblyFormat = "$wg attr-dict";
}

def Dgemm_ClusterRankOp : Dgemm_Op<"cluster_rank", [Pure]> {
  let summary = "number of this CTA within its cluster";
  let results = (outs I32:$rank);
  let assemblyFormat = "attr-dict `:` type($rank)";
}

def Dgemm_ClusterStartOp
    : Dgemm_Op<"cluster_start",
               [MemoryEffects<[MemRead<Dgemm_BarrierResource>,
                               MemWrite<Dgemm_BarrierResource>]>]> {
  let summary = "tell the cluster that this CTA runs";
  let description = [{
    All threads of the CTA. Its shared memory may be written by the others once
    they have waited for every CTA's start, which `dgemm.cluster_reduce` does.
  }];
  let assemblyFormat = "attr-dict";
}

def Dgemm_ClusterSyncOp
    : Dgemm_Op<"cluster_sync",
               [MemoryEffects<[MemRead<Dgemm_BarrierResource>,
                               MemWrite<Dgemm_BarrierResource>,
                               MemRead<Dgemm_SharedResource>,
                               MemWrite<Dgemm_SharedResource>]>]> {
  let summary = "all threads of all CTAs of the cluster meet";
  let description = [{
    At the end of a kernel whose CTAs release each other's slots: a CTA must
    not exit while others still arrive at its barriers.
  }];
  let assemblyFormat = "attr-dict";
}

def Dgemm_ClusterReduceOp
    : Dgemm_Op<"cluster_reduce",
               [MemoryEffects<[MemRead<Dgemm_SharedResource>,
                               MemWrite<Dgemm_SharedResource>,
                               MemRead<Dgemm_BarrierResource>,
                               MemWrite<Dgemm_BarrierResource>]>]> {
  let summary = "sum the fragments of all CTAs of the cluster, in the first";
  let description = [{
    All consumer threads of all CTAs. In the CTA with rank 0 the results are
    the sums over the cluster, added in the order of the ranks, so that the same
    problem gives the same bits; in the others they are their own values. `wg`
    is the warpgroup's number.
  }];
  let arguments = (ins Variadic<Dgemm_FragmentType>:$values, I32:$wg,
                       I32Attr:$parts);
  let results = (outs Variadic<Dgemm_FragmentType>:$sums);
  let assemblyFormat = [{
    $values `of` $wg `parts` $parts attr-dict `:` type($values) `->`
    type($sums)
  }];
  let hasVerifier = 1;
}

def Dgemm_SplitPartOp : Dgemm_Op<"split_part", [Pure]> {
  let summary = "which part of K this CTA multiplies, from 0";
  let description = [{
    Where K is split over CTAs that meet in the workspace: the schedule's
    `split_k` CTAs with neighbouring numbers work on the same tile.
  }];
  let results = (outs I32:$part);
  let assemblyFormat = "attr-dict `:` type($part)";
}

def Dgemm_WorkspaceReduceOp
    : Dgemm_Op<"workspace_reduce",
               [MemoryEffects<[MemRead<Dgemm_GlobalResource>,
                               MemWrite<Dgemm_GlobalResource>,
                               MemRead<Dgemm_SharedResource>,
                               MemWrite<Dgemm_SharedResource>]>]> {
  let summary = "sum a tile's partial fragments in the CTA that comes last";
  let description = [{
    All threads of warpgroup `wg`, which holds part number `part` of a tile's
    fragments. The parts have neighbouring places in the workspace at `base`,
    the first of them `place`, where each is put; `last` is true in the
    warpgroup that finds all others there. It alone gets sums, added in the
    order of the parts whoever was last, so that the same problem gives the same
    bits; the others get their own values. The counter of the first place is
    left as it was found: zero. A tile of one part has its sum already, and the
    workspace is not touched.
  }];
  let arguments = (ins Variadic<Dgemm_FragmentType>:$values,
                       LLVM_AnyPointer:$base, I32:$wg, I32:$part, I32:$parts,
                       I32:$place);
  let results = (outs Variadic<Dgemm_FragmentType>:$sums, I1:$last);
  let assemblyFormat = [{
    $values `of` $wg `part` $part `of` $parts `at` $place `through` $base
    attr-dict `:` type($base) `,` type($values) `->` type($sums)
  }];
  let hasVerifier = 1;
}

def Dgemm_IsLeaderOp : Dgemm_Op<"is_leader", [Pure]> {
  let summary = "true in the first thread of the warpgroup";
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif // DGEMM_EPILOGUE_OPS
