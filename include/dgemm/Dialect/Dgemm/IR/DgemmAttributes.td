// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Attributes of the problem and schedule levels. Each wraps the plain struct
// that the cost model and the runtime use, so a field is defined once.

#ifndef DGEMM_ATTRIBUTES
#define DGEMM_ATTRIBUTES

include "dgemm/Dialect/Dgemm/IR/DgemmDialect.td"
include "dgemm/Dialect/Dgemm/IR/DgemmEnums.td"

def Dgemm_DispatchAttr : Dgemm_Attr<"Dispatch", "dispatch"> {
  let summary = "one schedule per range of M";
  let description = [{
    A table over a run-time M: the first row whose bound is at least M is
    taken. Bounds rise strictly, the last row is `_` and takes every other M.
    A row may name who chose it; a row without a name was chosen by the op's
    `source`. A row may be `undecided`, as long as another one is decided:
    `dgemm-apply-tuning` and `dgemm-select-schedule` fill it in.

    ```mlir
    #dgemm.dispatch<[
      M upto 64 : #dgemm.schedule<tile = 64x128x64, consumers = 1 cooperative, regs = [0, 0]> from "tuned",
      M upto 256 : undecided,
      _ : #dgemm.schedule<tile = 128x128x64>]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds,
                        ArrayRefParameter<"::mlir::dgemm::ScheduleAttr">:$schedules,
                        ArrayRefParameter<"::mlir::StringAttr">:$sources);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether some row has no schedule (a null one) yet.
    bool hasUndecidedRows() const {
      return ::llvm::is_contained(getSchedules(), nullptr);
    }
    /// Largest M of a row; -1 for the last row, which has no bound.
    int64_t getMaxM(size_t row) const {
      return row < getBounds().size() ? getBounds()[row] : -1;
    }
    size_t getNumRows() const { return getSchedules().size(); }
    /// Who chose a row; null where the row does not say.
    ::mlir::StringAttr getRowSource(size_t row) const {
      return getSources()[row];
    }
  }];
}

def Dgemm_ProblemAttr : Dgemm_Attr<"Problem", "problem"> {
  let summary = "a GEMM as plain data, carried by its kernel";
  let description = [{
    Layout, then M, N and K (`?` where known only at run time), then element
    types, scales and flags; what equals its default is not printed, except
    types.

    ```mlir
    #dgemm.problem<nt, ?x7168x2048, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32, scale_b = 128x128 f32>
    ```
  }];
  let parameters = (ins "::dgemm::Problem":$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dgemm_ScalingAttr : Dgemm_Attr<"Scaling", "scaling"> {
  let summary = "how the scales of one operand are laid out";
  let description = [{
    One scale for each rows x columns block of the operand, rows counted along
    M (for A) or N (for B), columns along K; the matrix of scales has
    `ceil(dim / block)` entries each way. A block size of 0 is the whole
    dimension: `tensor` spells 0x0 and `row` 1x0. `mn_major` stores the matrix
    of scales transposed, `[K blocks, rows]`.

    ```mlir
    #dgemm.scaling<1x128 f32 mn_major>
    ```
  }];
  let parameters = (ins "::dgemm::ScaleSpec":$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dgemm_ScheduleAttr : Dgemm_Attr<"Schedule", "schedule"> {
  let summary = "how a GEMM is computed: every decision, verified";
  let description = [{
    Wraps the struct `::dgemm::Schedule`. Fields come in any order, each at
    most once; a field left out has its default. The printed form leaves out
    what equals the default and begins with the tile.

    ```mlir
    #dgemm.schedule<tile = 128x176x128, consumers = 2 cooperative, n_blocks = 2 overlapped, stages = 4, promote = 128>
    ```

    | field | meaning |
    |---|---|
    | `tile = MxNxK` | tile of one CTA, in elements |
    | `consumers = 2 cooperative\|pingpong [in_turn]` | consumer warpgroups and how they share tiles; each starts a product when the one before it is half way through its own |
    | `n_blocks = 2 [overlapped]` | pieces of the tile's N; promotion of one product under those that follow in the ring step |
    | `stages = 4`, `kblocks_per_stage = 2` | slots of the ring and K blocks in each |
    | `swizzle = [128, 128, 128]` | bytes, of A, B and D in shared memory: 0, 32, 64 or 128 |
    | `cluster = 2x1 [multicast a\|b]` | CTAs along M and N, and the operand loaded once for all |
    | `promote = 128` | K elements between promotions of FP8 partial sums; 0 for none |
    | `regs = [40, 232]` | registers per producer and consumer thread; 0 and 0 for an even share |
    | `raster = along_m\|along_n group 16` | order in which tiles are visited |
    | `split_k = 4 cluster\|workspace\|stream_k` | parts of K and where partial sums meet; with `stream_k` only tiles that fill no whole wave are cut, into about so many parts at most |
    | `form = plain\|swap_ab\|register` | which operand gives WGMMA its rows |
    | `store = tma\|vector` | how D leaves the registers |
    | `persistent = true\|false`, `ctas_per_sm = 2` | CTAs that walk over many tiles, and how many share an SM |
  }];
  let parameters = (ins "::dgemm::Schedule":$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Reads the text between the angle brackets, as a command line gives it.
    /// Null after `emitError` was called for what is wrong with it.
    static ::mlir::dgemm::ScheduleAttr
    parseText(::mlir::MLIRContext *context, ::llvm::StringRef text,
              ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
  }];
}

def Dgemm_TargetAttr : Dgemm_Attr<"Target", "target"> {
  let summary = "the chip and the limits that schedules are checked against";
  let description = [{
    Attached to the module as `dgemm.target` by `dgemm-verify-target`. Only
    `sm_90a` is accepted: WGMMA, setmaxnreg and the other instructions that
    kernels are made of exist in no other architecture. `ptx` is the PTX ISA
    version times ten. Limits that equal those of H100 are not printed.

    ```mlir
    #dgemm.target<chip = "sm_90a", ptx = 80>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"architecture as ptxas names it">:$chip,
    "int64_t":$ptx,
    DefaultValuedParameter<"int64_t", "232448">:$shared_memory_per_block,
    DefaultValuedParameter<"int64_t", "233472">:$shared_memory_per_sm,
    DefaultValuedParameter<"int64_t", "65536">:$registers_per_sm,
    DefaultValuedParameter<"int64_t", "255">:$max_registers_per_thread,
    DefaultValuedParameter<"int64_t", "1024">:$max_threads_per_block,
    DefaultValuedParameter<"int64_t", "8">:$max_cluster_size);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The limits as the cost model takes them.
    ::dgemm::TargetLimits getLimits() const;
    /// A chip with its own limits. Null after `emitError` was called where no
    /// kernel can be made for it.
    static ::mlir::dgemm::TargetAttr
    forChip(::mlir::MLIRContext *context, ::llvm::StringRef chip, int64_t ptx,
            ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError);
    /// The target of the nearest enclosing op that carries one, or null.
    static ::mlir::dgemm::TargetAttr lookup(::mlir::Operation *op);
    /// The attribute name under which a module carries its target.
    static constexpr ::llvm::StringLiteral kAttrName = "dgemm.target";
  }];
}

def Dgemm_ScheduleOrDispatch
    : AnyAttrOf<[Dgemm_ScheduleAttr, Dgemm_DispatchAttr],
                "a #dgemm.schedule or a #dgemm.dispatch">;

#endif // DGEMM_ATTRIBUTES
