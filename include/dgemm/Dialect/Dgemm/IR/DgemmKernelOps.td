// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel ops (L2), part one: the kernel, its warp roles, the tile loop and the
// ops that act on whole CTA tiles before the pipeline and the warps are made
// explicit.

#ifndef DGEMM_KERNEL_OPS
#define DGEMM_KERNEL_OPS

include "dgemm/Dialect/Dgemm/IR/DgemmAttributes.td"
include "dgemm/Dialect/Dgemm/IR/DgemmDialect.td"
include "dgemm/Dialect/Dgemm/IR/DgemmTypes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dgemm_SmemPlanAttr : Dgemm_Attr<"SmemPlan", "smem_plan"> {
  let summary = "where everything lies in dynamic shared memory";
  let description = [{
    Byte offsets from the 1024-aligned start of dynamic shared memory: the
    ring's slots of A, B and the A scales (`step` bytes from slot to slot), the
    staging of the store (`boxes` boxes of 64 rows by `columns` columns for a
    warpgroup's tile, `at_once` of them staged together), the barriers, and
    where the other CTAs of a cluster put partial sums, or warpgroups hear that
    they came last (`part` bytes for each).

    ```mlir
    #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 22528,
      scale_a = 155648 step 512, store = 157696 size 49152
      (boxes = 3 at_once 3 of 8192 bytes columns = 64),
      barriers = 206848 size 64, reduce = 0 part 0, total = 206912>
    ```
  }];
  let parameters = (ins "int64_t":$offsetA, "int64_t":$slotBytesA,
      "int64_t":$offsetB, "int64_t":$slotBytesB, "int64_t":$offsetScaleA,
      "int64_t":$slotBytesScaleA, "int64_t":$offsetStore,
      "int64_t":$storeBytes, "int64_t":$storeBoxes,
      "int64_t":$storeBoxesPerChunk, "int64_t":$storeBoxBytes,
      "int64_t":$storeBoxColumns, "int64_t":$offsetBarriers,
      "int64_t":$barrierBytes, "int64_t":$offsetReduce, "int64_t":$reducePart,
      "int64_t":$total);
  let assemblyFormat = [{
    `<` `a` `=` $offsetA `step` $slotBytesA `,` `b` `=` $offsetB `step`
    $slotBytesB `,` `scale_a` `=` $offsetScaleA `step` $slotBytesScaleA `,`
    `store` `=` $offsetStore `size` $storeBytes `(` `boxes` `=` $storeBoxes
    `at_once` $storeBoxesPerChunk `of` $storeBoxBytes `bytes` `columns` `=`
    $storeBoxColumns `)` `,` `barriers` `=` $offsetBarriers `size`
    $barrierBytes `,` `reduce` `=` $offsetReduce `part` $reducePart `,`
    `total` `=` $total `>`
  }];
  let builders = [AttrBuilder<(ins "const ::dgemm::SmemPlan &":$plan), [{
    return $_get($_ctxt, plan.offsetA, plan.slotBytesA, plan.offsetB,
                 plan.slotBytesB, plan.offsetScaleA, plan.slotBytesScaleA,
                 plan.offsetStore, plan.storeBytes, plan.storeBoxes,
                 plan.storeBoxesPerChunk, plan.storeBoxBytes,
                 plan.storeBoxColumns, plan.offsetBarriers,
                 plan.barrierBytes, plan.offsetReduce, plan.reducePart,
                 plan.total);
  }]>];
}

def Dgemm_KernelOp
    : Dgemm_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock,
                          NoTerminator]> {
  let summary = "one GEMM kernel";
  let description = [{
    A kernel for one problem and one schedule. Block arguments are the kernel's
    parameters in the order of the launch metadata: `!dgemm.tensor_map`,
    `!llvm.ptr<1>`, `i32` and `i64` values (`getArgumentFor`). The body is
    executed by every thread of every CTA; `dgemm.role` regions belong to some
    of the warps only.

    `smem` is absent until plan-smem has run.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Dgemm_ProblemAttr:$problem,
                       Dgemm_ScheduleAttr:$schedule, StrAttr:$source,
                       OptionalAttr<Dgemm_SmemPlanAttr>:$smem);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The parameter of this kind, or a null value when the kernel has none.
    ::mlir::Value getTensorMap(::dgemm::Operand operand);
    /// The map of the operand's last rows (`dgemm::copiesLastRows`).
    ::mlir::Value getLastRowsMap(::dgemm::Operand operand);
    ::mlir::Value getPointer(::dgemm::Operand operand);
    ::mlir::Value getSize(::dgemm::Symbol symbol);
    ::mlir::Value getRasterGroup();
    /// Types of the block arguments for this launch metadata.
    static ::llvm::SmallVector<::mlir::Type>
    getParameterTypes(::mlir::MLIRContext *context,
                      const ::dgemm::KernelMetadata &metadata);
  }];
}

def Dgemm_RoleOp : Dgemm_Op<"role", [SingleBlock, NoTerminator]> {
  let summary = "code of some of a kernel's warps";
  let description = [{
    `dgemm.role producer registers 40 { ... }` is executed by one elected
    thread of the producer warpgroup; `dgemm.role consumer registers 232
    (%wg) { ... }` by every thread of every consumer warpgroup, `%wg` (i32)
    being the warpgroup's number from 0. `registers` is the register count the
    warpgroup asks for with setmaxnreg.
  }];
  let arguments = (ins StrAttr:$role, I32Attr:$registers);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isProducer() { return getRole() == "producer"; }
  }];
}

def Dgemm_TilesOp
    : Dgemm_Op<"tiles", [SingleBlock, RecursiveMemoryEffects,
                         AttrSizedOperandSegments]> {
  let summary = "the loop over the output tiles of this CTA";
  let description = [{
    Runs its body once for each tile of D that falls to this CTA, in the order
    of the schedule's raster. The first two block arguments are the tile's
    first row and first column in elements (i32); the others carry
    `iter_args` from tile to tile. With `lane` (i32) of `lanes`, only every
    `lanes`-th of the CTA's tiles is visited, from number `lane`
    (ping-pong consumers).

    Without `numbers` the CTA's tiles follow from its number and how many CTAs
    there are. With `numbers = "fetch"` one thread takes the number of each
    tile from the counter in the workspace, which all CTAs share, and passes it
    on through the kernel's `dgemm.tile_queue`; with "receive" the warps of the
    consumers take it from there.

    With `shares` the CTA has parts of tiles too: its share of the tiles that
    do not fill a whole wave, whose K steps are dealt out evenly over the CTAs,
    then its tiles of the whole waves. Five more block arguments (i32) follow
    the corner: the first K step and the one behind the last, which part of the
    tile's sum this is and how many there are, and the place in the workspace
    where the first of them goes.

    ```mlir
    dgemm.tiles (%m0, %n0) iter_args(%slot = %c0 : i32) { ... dgemm.next %s : i32 }
    dgemm.tiles (%m0, %n0) shares(%first, %last, %part, %parts, %place) { ... dgemm.next }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inits, Optional<I32>:$lane,
                       DefaultValuedAttr<I32Attr, "1">:$lanes,
                       OptionalAttr<StrAttr>:$numbers, UnitAttr:$shares);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inits,
                                 CArg<"::mlir::Value", "{}">:$lane,
                                 CArg<"int32_t", "1">:$lanes,
                                 CArg<"bool", "false">:$shares)>];
  let extraClassDeclaration = [{
    /// Block arguments: the tile's corner, and with `shares` this CTA's part.
    static constexpr unsigned kCornerArguments = 2, kShareArguments = 5;
    ::mlir::Value getRow() { return getBody().getArgument(0); }
    ::mlir::Value getColumn() { return getBody().getArgument(1); }
    ::mlir::Value getFirstStep() { return getShareArgument(0); }
    ::mlir::Value getEndStep() { return getShareArgument(1); }
    ::mlir::Value getPart() { return getShareArgument(2); }
    ::mlir::Value getParts() { return getShareArgument(3); }
    ::mlir::Value getPlace() { return getShareArgument(4); }
    /// The block arguments that carry values from tile to tile.
    ::mlir::Block::BlockArgListType getCarried() {
      return getBody().getArguments().drop_front(numTileArguments());
    }
    /// How many block arguments describe the tile.
    unsigned numTileArguments() {
      return kCornerArguments + (getShares() ? kShareArguments : 0);
    }

  private:
    ::mlir::Value getShareArgument(unsigned number) {
      return getBody().getArgument(kCornerArguments + number);
    }

  public:
  }];
}

def Dgemm_NextOp
    : Dgemm_Op<"next", [Terminator, Pure, HasParent<"TilesOp">]> {
  let summary = "end of one tile; carries values to the next";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Dgemm_KBlocksOp : Dgemm_Op<"k_blocks", [Pure]> {
  let summary = "number of ring steps that cover K";
  let description = [{
    ceil(K / (tileK x kblocks_per_stage)).
  }];
  let results = (outs I32:$count);
  let assemblyFormat = "attr-dict `:` type($count)";
}

def Dgemm_ZeroOp : Dgemm_Op<"zero", [Pure]> {
  let summary = "a fragment of zeros";
  let results = (outs Dgemm_FragmentType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Dgemm_LoadOp : Dgemm_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "bring one operand tile of one K block into shared memory";
  let description = [{
    `%t = dgemm.load "a" [%m0, %kb] : !dgemm.tile<...>`: the rows from `row` on
    (elements) and the K block with number `kblock`. Elements outside the
    operand read as zero. Before materialize-pipeline the tile is a value;
    afterwards the op has become a TMA copy into a ring slot.
  }];
  let arguments = (ins StrAttr:$operand, I32:$row, I32:$kblock);
  let results = (outs Dgemm_TileType:$tile);
  let assemblyFormat =
      "$operand `[` $row `,` $kblock `]` attr-dict `:` type($tile)";
  let hasVerifier = 1;
}

def Dgemm_TileMmaOp
    : Dgemm_Op<"tile_mma",
               [Pure, OptionalTypesMatchWith<
                          "the accumulator has the result's type", "result",
                          "accumulator", "$_self">]> {
  let summary = "multiply two operand tiles, whole CTA tile at once";
  let description = [{
    `%y = dgemm.tile_mma %a, %b, %x` is x + a x b^T; without `%x` the product
    alone. Value semantics: nothing is asynchronous yet.
  }];
  let arguments = (ins Dgemm_TileType:$a, Dgemm_TileType:$b,
                       Optional<Dgemm_FragmentType>:$accumulator);
  let results = (outs Dgemm_FragmentType:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $accumulator^)? attr-dict `:` type($a) `,` type($b)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Dgemm_TilePromoteOp
    : Dgemm_Op<"tile_promote",
               [MemoryEffects<[MemRead]>,
                AllTypesMatch<["accumulator", "partial", "result"]>]> {
  let summary = "add a scaled partial product to the FP32 accumulator";
  let description = [{
    `%y = dgemm.tile_promote %x, %t at [%m0, %n0, %kb]`: y = x + sa * t * sb
    with the scales of K block `kb` for the tile at row `m0`, column `n0`.
    Scales that do not change along K are left to the epilogue, and the partial
    sum is added unscaled. When the A scales travel through the ring,
    `row_scales` is their tile; otherwise they are read from global memory.
  }];
  let arguments = (ins Dgemm_FragmentType:$accumulator,
                       Dgemm_FragmentType:$partial, I32:$m0, I32:$n0,
                       I32:$kblock, Optional<Dgemm_TileType>:$row_scales);
  let results = (outs Dgemm_FragmentType:$result);
  let assemblyFormat = [{
    $accumulator `,` $partial `at` `[` $m0 `,` $n0 `,` $kblock `]`
    (`row_scales` $row_scales^ `:` type($row_scales))? attr-dict
    `:` type($result)
  }];
}

def Dgemm_TileStoreOp
    : Dgemm_Op<"tile_store", [AttrSizedOperandSegments,
                              MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "epilogue of one tile";
  let description = [{
    Applies what the problem asks for after the K loop (scales that do not
    change along K, D = C + A x B), converts to D's type and stores the tile at
    row `m0`, column `n0`; elements outside D are not written. Before
    partition-mma there is one value, the whole CTA tile; afterwards the
    64-row blocks of warpgroup `wg`, all n-blocks of the first m64 block first.
    In register form there is no `wg`: the 16-row blocks of the warp.
  }];
  let arguments = (ins Variadic<Dgemm_FragmentType>:$values, I32:$m0, I32:$n0,
                       Optional<I32>:$wg);
  let assemblyFormat = [{
    $values `at` `[` $m0 `,` $n0 `]` (`of` $wg^)? attr-dict `:` type($values)
  }];
}

#endif // DGEMM_KERNEL_OPS
