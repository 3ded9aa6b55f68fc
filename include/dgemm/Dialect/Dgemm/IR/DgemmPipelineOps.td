// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel ops (L2), part two: the ring of shared-memory slots, copies into it,
// and the tensor-core blocks that read it. Slot number and phase are explicit
// i32 values.

#ifndef DGEMM_PIPELINE_OPS
#define DGEMM_PIPELINE_OPS

include "dgemm/Dialect/Dgemm/IR/DgemmDialect.td"
include "dgemm/Dialect/Dgemm/IR/DgemmTypes.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dgemm_SharedResource : Resource<"::mlir::dgemm::SharedMemoryResource">;
def Dgemm_BarrierResource : Resource<"::mlir::dgemm::BarrierResource">;
def Dgemm_GlobalResource : Resource<"::mlir::dgemm::GlobalMemoryResource">;
def Dgemm_TensorCoreResource : Resource<"::mlir::dgemm::TensorCoreResource">;

def Dgemm_RingOp : Dgemm_Op<"ring", [MemoryEffects<[MemAlloc]>]> {
  let summary = "the kernel's ring of operand slots";
  let description = [{
    Names the ring and initialises its barriers before any warp passes the
    op: full[slot] expects one arrival (the producer's) plus the copied bytes,
    empty[slot] one arrival from each of `consumers` warpgroups.

    With `ctas` above 1 the slots of that many CTAs of the cluster are filled
    together by multicast: the warpgroups of all of them let go of a slot in
    each, and no warp of the cluster passes the op before every CTA's barriers
    are initialised.
  }];
  let arguments = (ins I32Attr:$consumers,
                       DefaultValuedAttr<I32Attr, "1">:$ctas);
  let results = (outs Dgemm_RingType:$ring);
  let assemblyFormat = [{
    `consumers` $consumers (`ctas` $ctas^)? attr-dict `:` type($ring)
  }];
  let hasVerifier = 1;
}

def Dgemm_TileQueueOp : Dgemm_Op<"tile_queue", [MemoryEffects<[MemAlloc]>]> {
  let summary = "the queue of tile numbers from the producer to the consumers";
  let description = [{
    Two places in shared memory, used in turn. Initialises their barriers in
    front of the `dgemm.ring`, which lets the warps pass: full[place] expects
    the producer's arrival, empty[place] one from every warp of the `consumers`
    warpgroups that read it. In ping-pong each warpgroup has its own place.
  }];
  let arguments = (ins I32Attr:$consumers);
  let assemblyFormat = "`consumers` $consumers attr-dict";
}

def Dgemm_GridWaitOp
    : Dgemm_Op<"grid_wait", [MemoryEffects<[MemRead<Dgemm_GlobalResource>,
                                            MemWrite<Dgemm_GlobalResource>]>]> {
  let summary = "wait until the kernels before this one have finished";
  let description = [{
    All threads. Where the launch asked for programmatic dependence, the kernel
    starts before those in front of it have finished; what they write may be
    read, and what they read be written, only after this op. In another launch
    it does nothing.
  }];
  let assemblyFormat = "attr-dict";
}

def Dgemm_GridLaunchOp
    : Dgemm_Op<"grid_launch", [MemoryEffects<[MemRead<Dgemm_GlobalResource>,
                                              MemWrite<Dgemm_GlobalResource>]>]> {
  let summary = "let the kernel behind this one start";
  let description = [{
    All threads. A dependent kernel that was launched for it may take up SMs as
    soon as every CTA has come here; it waits for this kernel's end with its own
    `dgemm.grid_wait`.
  }];
  let assemblyFormat = "attr-dict";
}

def Dgemm_AdvanceOp : Dgemm_Op<"advance", [Pure]> {
  let summary = "the slot and phase after one (or `by`) more K steps";
  let description = [{
    `(slot + by)` wrapped at the number of slots; the phase bit flips once for
    each wrap.
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32:$phase,
                       Optional<I32>:$by);
  let results = (outs I32:$next_slot, I32:$next_phase);
  let assemblyFormat = [{
    $ring `,` $slot `,` $phase (`by` $by^)? attr-dict `:` type($ring)
  }];
}

class Dgemm_RingBarrierOp<string mnemonic, list<Trait> traits = []>
    : Dgemm_Op<mnemonic, !listconcat(
          traits, [MemoryEffects<[MemRead<Dgemm_BarrierResource>,
                                  MemWrite<Dgemm_BarrierResource>,
                                  MemRead<Dgemm_SharedResource>,
                                  MemWrite<Dgemm_SharedResource>]>])>;

def Dgemm_AcquireOp : Dgemm_RingBarrierOp<"acquire"> {
  let summary = "producer: wait until every consumer has let go of the slot";
  let description = [{
    Waits for the completion of the phase of empty[slot] with parity `phase`.
    The producer starts with phase 1, which a fresh barrier counts as complete.
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32:$phase);
  let assemblyFormat =
      "$ring `[` $slot `]` `parity` $phase attr-dict `:` type($ring)";
}
def Dgemm_ExpectOp : Dgemm_RingBarrierOp<"expect"> {
  let summary = "producer: arrive at full[slot] and announce its bytes";
  let description = [{
    `bytes` are those of a full slot; `missing` of them do not come, because a
    tile has fewer rows than the slot.
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32Attr:$bytes,
                       Optional<I32>:$missing);
  let assemblyFormat = [{
    $ring `[` $slot `]` `bytes` $bytes (`missing` $missing^)? attr-dict `:`
    type($ring)
  }];
}
def Dgemm_WaitOp : Dgemm_RingBarrierOp<"wait"> {
  let summary = "consumer: wait until the slot's copies have arrived";
  let description = [{
    Nothing is left to wait for if `seen` is true: what an earlier `dgemm.peek`
    at the same slot and phase has found.
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32:$phase,
                       Optional<I1>:$seen);
  let assemblyFormat = [{
    $ring `[` $slot `]` `parity` $phase (`unless` $seen^)? attr-dict `:`
    type($ring)
  }];
}
def Dgemm_PeekOp : Dgemm_RingBarrierOp<"peek"> {
  let summary = "consumer: whether the slot's copies have arrived";
  let description = [{
    Does not wait. If true, the slot may be read as after `dgemm.wait`.
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32:$phase);
  let results = (outs I1:$arrived);
  let assemblyFormat =
      "$ring `[` $slot `]` `parity` $phase attr-dict `:` type($ring)";
}
def Dgemm_ReleaseOp : Dgemm_RingBarrierOp<"release"> {
  let summary = "consumer: one arrival at empty[slot] for this warpgroup";
  let description = [{
    The warpgroup no longer reads the slot. In a ring of several CTAs it says
    so in each of them. `pending` is the number of the most
    recently committed WGMMA groups that read other slots and may still run;
    all older ones are waited for first (by what insert-fences puts in front).
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot,
                       DefaultValuedAttr<I32Attr, "0">:$pending);
  let assemblyFormat = "$ring `[` $slot `]` attr-dict `:` type($ring)";
}

def Dgemm_SlotOp : Dgemm_Op<"slot", [Pure]> {
  let summary = "the tile that a slot holds";
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32Attr:$member);
  let results = (outs Dgemm_TileType:$tile);
  let assemblyFormat = [{
    $ring `[` $slot `]` `member` $member attr-dict `:` type($ring)
    `->` type($tile)
  }];
  let hasVerifier = 1;
}

def Dgemm_TmaLoadOp
    : Dgemm_Op<"tma_load", [AttrSizedOperandSegments,
                            MemoryEffects<[MemRead<Dgemm_GlobalResource>,
                                           MemWrite<Dgemm_SharedResource>]>]> {
  let summary = "copy one box into a slot; its bytes arrive at full[slot]";
  let description = [{
    Coordinates stand in the tensor map's order, the contiguous one first, in
    elements. Elements outside the tensor are written as zeros and counted as
    bytes. `hint` is "evict_first", "evict_last" or "evict_normal".

    `part %p of n`: the box is the p-th of n equal runs of the member's rows,
    and goes to the same place of the slot in each of the ring's n CTAs, at
    whose full[slot] its bytes arrive. Together they bring all of the member.

    `last %map if %c`: where %c holds, the tile is the operand's last and has
    fewer rows than the slot. They alone are copied, through a map whose box
    they are, K block by K block; the slot's other rows stay as they were.
  }];
  let arguments = (ins Dgemm_TensorMapType:$map, Variadic<I32>:$coordinates,
                       Dgemm_RingType:$ring, I32:$slot, I32Attr:$member,
                       DefaultValuedAttr<StrAttr, "\"evict_normal\"">:$hint,
                       Optional<I32>:$part,
                       DefaultValuedAttr<I32Attr, "1">:$parts,
                       Optional<Dgemm_TensorMapType>:$last_map,
                       Optional<I1>:$is_last);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $ring `[` $slot `]` `member` $member
    (`part` $part^ `of` $parts)? (`last` $last_map^ `if` $is_last)? attr-dict
    `:` type($ring)
  }];
  let hasVerifier = 1;
}

def Dgemm_MmaOp
    : Dgemm_Op<"mma", [MemoryEffects<[MemRead<Dgemm_SharedResource>,
                                      MemRead<Dgemm_TensorCoreResource>,
                                      MemWrite<Dgemm_TensorCoreResource>]>,
                       AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "one 64xN block of one slot on the tensor core";
  let description = [{
    Issues the WGMMAs of K block `k_block` of the slot (of all its K blocks
    when absent) for rows `row` to `row + 63` of
    the slot's A tile (member 0) and columns `col` to `col + n - 1` of its B
    tile (member 1): accumulator + a x b^T, or with `fresh` the product alone.
    With `half` 0 or 1 it issues the first or the second half of them only.
    With `swapped` the rows are those of B's tile and the columns those of A's,
    and the result is the transposed block.
    Asynchronous: the result is in flight until a `dgemm.wgmma_wait`.
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32:$row,
                       I32Attr:$col, Dgemm_InflightType:$accumulator,
                       UnitAttr:$fresh, OptionalAttr<I32Attr>:$k_block,
                       OptionalAttr<I32Attr>:$half, UnitAttr:$swapped);
  let results = (outs Dgemm_InflightType:$result);
  let assemblyFormat = [{
    $ring `[` $slot `]` `rows` $row `cols` $col `into` $accumulator
    (`fresh` $fresh^)? attr-dict `:` type($ring) `,` type($result)
  }];
  let hasVerifier = 1;
}

def Dgemm_WgmmaCommitOp
    : Dgemm_Op<"wgmma_commit",
               [MemoryEffects<[MemRead<Dgemm_TensorCoreResource>,
                               MemWrite<Dgemm_TensorCoreResource>]>]> {
  let summary = "close the group of the multiplications issued so far";
  let assemblyFormat = "attr-dict";
}

def Dgemm_RowScalesOp
    : Dgemm_Op<"row_scales", [MemoryEffects<[MemRead<Dgemm_SharedResource>]>]> {
  let summary = "this thread's two A scales of an m64 block, from the slot";
  let description = [{
    Scales of rows `row + 16 warp + lane / 4` and 8 rows further down, for K
    block `k_block` of the slot.
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32:$row,
                       I32Attr:$member,
                       DefaultValuedAttr<I32Attr, "0">:$k_block);
  let results = (outs F32:$upper, F32:$lower);
  let assemblyFormat = [{
    $ring `[` $slot `]` `member` $member `rows` $row attr-dict `:` type($ring)
  }];
}

def Dgemm_GlobalRowScalesOp
    : Dgemm_Op<"global_row_scales",
               [MemoryEffects<[MemRead<Dgemm_GlobalResource>]>]> {
  let summary = "this thread's two A scales of an m64 block, from memory";
  let description = [{
    `base[row * row_stride + kblock * k_stride]` for the two rows of
    `dgemm.row_scales`, counted from the first row of A; rows beyond `limit`
    read the last one. With `lanes 4 to %last` each of the four threads that
    share the rows reads those of another K block, `min(kblock + lane % 4,
    last)`; `dgemm.lane_scale` hands them out.
  }];
  let arguments = (ins LLVM_AnyPointer:$base, I32:$row, I32:$limit,
                       I32:$kblock, I64:$row_stride, I64:$k_stride,
                       DefaultValuedAttr<I32Attr, "1">:$lanes,
                       Optional<I32>:$last);
  let results = (outs F32:$upper, F32:$lower);
  let assemblyFormat = [{
    $base `[` $row `,` $kblock `]` `strides` `[` $row_stride `,` $k_stride `]`
    `limit` $limit (`lanes` $lanes `to` $last^)? attr-dict `:` type($base)
  }];
  let builders = [
    OpBuilder<(ins "Value":$base, "Value":$row, "Value":$limit,
                   "Value":$kblock, "Value":$rowStride, "Value":$kStride,
                   CArg<"int32_t", "1">:$lanes, CArg<"Value", "{}">:$last)>
  ];
  let hasVerifier = 1;
}

def Dgemm_ColumnScalesOp
    : Dgemm_Op<"column_scales",
               [MemoryEffects<[MemRead<Dgemm_SharedResource>]>]> {
  let summary = "this thread's A scales of a swapped block, from the slot";
  let description = [{
    In swap-AB form the rows of A are the columns of the block: for each 8 of
    them the scales of the thread's two, `col + 8 g + 2 (lane % 4)` and the next.
  }];
  let arguments = (ins Dgemm_RingType:$ring, I32:$slot, I32Attr:$col,
                       I32Attr:$member, I32Attr:$k_block);
  let results = (outs Variadic<F32>:$scales);
  let assemblyFormat = [{
    $ring `[` $slot `]` `member` $member `cols` $col `k_block` $k_block
    attr-dict `:` type($ring) `->` type($scales)
  }];
  let hasVerifier = 1;
}

def Dgemm_GlobalColumnScalesOp
    : Dgemm_Op<"global_column_scales",
               [MemoryEffects<[MemRead<Dgemm_GlobalResource>]>]> {
  let summary = "this thread's A scales of a swapped block, from memory";
  let description = [{
    `base[row * row_stride + kblock * k_stride]` for the columns of
    `dgemm.column_scales`, which are rows of A counted from `row`; rows beyond
    `limit` read the last one.
  }];
  let arguments = (ins LLVM_AnyPointer:$base, I32:$row, I32:$limit,
                       I32:$kblock, I64:$row_stride, I64:$k_stride);
  let results = (outs Variadic<F32>:$scales);
  let assemblyFormat = [{
    $base `[` $row `,` $kblock `]` `strides` `[` $row_stride `,` $k_stride `]`
    `limit` $limit attr-dict `:` type($base) `->` type($scales)
  }];
  let hasVerifier = 1;
}

def Dgemm_ColScaleOp
    : Dgemm_Op<"col_scale",
               [MemoryEffects<[MemRead<Dgemm_GlobalResource>]>]> {
  let summary = "one B scale";
  let description = [{
    `base[min(group, groups - 1) * group_stride + kblock * k_stride]`, `group`
    being the number of the scale block along N and `groups` how many there
    are. With `lanes 32 to %last` (or 4) each of that many neighbours reads that
    of another K block, `min(kblock + lane % lanes, last)`; `dgemm.lane_scale`
    hands them out.
  }];
  let arguments = (ins LLVM_AnyPointer:$base, I32:$group, I32:$groups,
                       I32:$kblock, I64:$group_stride, I64:$k_stride,
                       DefaultValuedAttr<I32Attr, "1">:$lanes,
                       Optional<I32>:$last);
  let results = (outs F32:$scale);
  let assemblyFormat = [{
    $base `[` $group `,` $kblock `]` `strides` `[` $group_stride `,` $k_stride
    `]` `groups` $groups (`lanes` $lanes `to` $last^)? attr-dict
    `:` type($base)
  }];
  let builders = [
    OpBuilder<(ins "Value":$base, "Value":$group, "Value":$groups,
                   "Value":$kblock, "Value":$groupStride, "Value":$kStride,
                   CArg<"int32_t", "1">:$lanes, CArg<"Value", "{}">:$last)>
  ];
  let hasVerifier = 1;
}

def Dgemm_LaneScaleOp : Dgemm_Op<"lane_scale", [Pure]> {
  let summary = "the scale that another thread of the warp holds";
  let description = [{
    `held` of lane `index` among the `lanes` (4 or 32) neighbours that this
    thread belongs to. All threads of the warp must take part.
  }];
  let arguments = (ins F32:$held, I32:$index, I32Attr:$lanes);
  let results = (outs F32:$scale);
  let assemblyFormat = "$held `[` $index `]` `of` $lanes attr-dict";
  let hasVerifier = 1;
}

def Dgemm_PromoteOp
    : Dgemm_Op<"promote", [AttrSizedOperandSegments, Pure,
                           AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "add one scaled 64xN partial product to its FP32 sum";
  let description = [{
    result = accumulator + partial * (row scale * column scale). `rows` are the
    thread's upper and lower row scale. `cols` are the column scales of the
    one or more scale blocks that the columns fall into; `boundaries[i]` is the
    first column (a multiple of 8) that belongs to block i + 1. With
    `each_column` there are instead the scales of the thread's two columns of
    every 8 (`dgemm.column_scales`). Without either
    the partial product is added as it is. A partial product that is still in
    flight is waited for by what insert-fences puts in front.
  }];
  let arguments = (ins Dgemm_FragmentType:$accumulator,
                       Dgemm_AccumulatorLike:$partial, Variadic<F32>:$rows,
                       Variadic<F32>:$cols,
                       DefaultValuedAttr<DenseI32ArrayAttr, "{}">:$boundaries,
                       UnitAttr:$each_column);
  let results = (outs Dgemm_FragmentType:$result);
  let assemblyFormat = [{
    $accumulator `,` $partial (`rows` `(` $rows^ `)`)?
    (`cols` `(` $cols^ `)`)? (`each_column` $each_column^)? attr-dict
    `:` type($partial) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // DGEMM_PIPELINE_OPS
