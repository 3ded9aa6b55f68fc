// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Ops of the problem and schedule levels (L0, L1), and the launch that a
// problem becomes once its kernels exist.

#ifndef DGEMM_OPS
#define DGEMM_OPS

include "dgemm/Dialect/Dgemm/IR/DgemmAttributes.td"
include "dgemm/Dialect/Dgemm/IR/DgemmDialect.td"
include "dgemm/Dialect/Dgemm/IR/DgemmInterfaces.td"
include "dgemm/Dialect/Dgemm/IR/DgemmTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

// Rank, element type and layout are left to the op's verifier, whose messages
// name the operand.
def Dgemm_Buffer : AnyTypeOf<[AnyTensor, AnyMemRef, AnyUnrankedMemRef],
                             "tensor or memref">;
def Dgemm_EpilogueInput
    : AnyTypeOf<[AnyTensor, AnyMemRef, AnyUnrankedMemRef, AnyFloat,
                 AnySignlessInteger],
                "tensor, memref, float or signless integer">;

def Dgemm_LaunchOp
    : Dgemm_Op<"launch", [AttrSizedOperandSegments,
                          DestinationStyleOpInterface,
                          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run the kernel made for a GEMM";
  let description = [{
    Stands where a `dgemm.matmul` stood once its kernels exist (end of L1), on
    the same operands and with the same result. The kernel is the row of the
    table that fits M, as in `#dgemm.dispatch`; one kernel alone needs no
    table.

    ```mlir
    %r = dgemm.launch [M upto 64 : @proj_small, _ : @proj_large]
           ins(%a, %b : tensor<?x7168xf8E4M3FN>, tensor<4096x7168xf8E4M3FN>)
           scales(%sa, %sb : tensor<?x56xf32>, tensor<32x56xf32>)
           outs(%d : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
    ```
  }];
  let arguments = (ins Dgemm_Buffer:$a, Dgemm_Buffer:$b,
                       Optional<Dgemm_Buffer>:$scale_a,
                       Optional<Dgemm_Buffer>:$scale_b,
                       Optional<Dgemm_Buffer>:$c,
                       Variadic<Dgemm_EpilogueInput>:$epilogue_inputs,
                       Dgemm_Buffer:$d,
                       TypedArrayAttrBase<SymbolRefAttr,
                                          "symbols of kernels">:$kernels,
                       DenseI64ArrayAttr:$bounds);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getDMutable());
    }
    /// Largest M of a row; -1 for the last row, which has no bound.
    int64_t getMaxM(size_t row) {
      return row < getBounds().size() ? getBounds()[row] : -1;
    }
  }];
}

def Dgemm_MatmulOp
    : Dgemm_Op<"matmul", [AttrSizedOperandSegments,
                          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                          DeclareOpInterfaceMethods<Dgemm_ScheduledOpInterface,
                                                    ["getProblem"]>,
                          DestinationStyleOpInterface, IsolatedFromAbove,
                          SingleBlock]> {
  let summary = "D = (C +) (A scaled) x (B scaled), on tensors or memrefs";
  let description = [{
    Level L0, and L1 once it carries a schedule. `layout` says how A and B are
    stored (see `#dgemm.layout`); D and C are `[M, N]`. Sizes may be static or
    dynamic and may be 0: with K = 0 the sum is empty, with M or N = 0 nothing
    is computed. All shaped operands are tensors, or all are memrefs; memrefs
    are contiguous along their last dimension and may have any row stride.

    `scales` gives FP8 operands one factor per block (see `#dgemm.scaling`);
    an operand without scales is written `_`. `acc` adds a matrix C of D's
    shape and type; without it the old content of D is never read.
    `fast_accumulate` leaves FP8 products in the tensor core's own accumulator
    for all of K, which is faster and less exact.

    The epilogue region maps one accumulator element (f32, or i32 for i8
    operands, after scales and C) to the element that is stored. Its further
    arguments are elements of `epilogue_ins`: matrices whose dimensions are
    D's or 1, vectors along N, or scalars. The value yielded has D's element
    type or the accumulator's, which is then rounded to D's.

    ```mlir
    %r = dgemm.matmul nt ins(%a, %b : tensor<?x7168xf8E4M3FN>, tensor<4096x7168xf8E4M3FN>)
           scales(%sa by 1x128, %sb by 128x128 : tensor<?x56xf32>, tensor<32x56xf32>)
           epilogue_ins(%bias : tensor<4096xf32>)
           outs(%d : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
           epilogue (%acc: f32, %x: f32) {
             %y = arith.addf %acc, %x : f32
             dgemm.yield %y : f32
           }
    ```
  }];
  let arguments = (ins Dgemm_Buffer:$a, Dgemm_Buffer:$b,
                       Optional<Dgemm_Buffer>:$scale_a,
                       Optional<Dgemm_Buffer>:$scale_b,
                       Optional<Dgemm_Buffer>:$c,
                       Variadic<Dgemm_EpilogueInput>:$epilogue_inputs,
                       Dgemm_Buffer:$d, Dgemm_MatmulLayoutAttr:$layout,
                       OptionalAttr<Dgemm_ScalingAttr>:$scaling_a,
                       OptionalAttr<Dgemm_ScalingAttr>:$scaling_b,
                       UnitAttr:$fast_accumulate,
                       OptionalAttr<Dgemm_ScheduleOrDispatch>:$schedule,
                       OptionalAttr<StrAttr>:$source);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [
    // D = A x B, or with c, D = C + A x B. On tensors the result type is d's.
    // The epilogue region is left empty.
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$d,
                   CArg<"::dgemm::Layout", "::dgemm::Layout::NT">:$layout,
                   CArg<"::mlir::Value", "{}">:$c)>,
    // The same with scales; a null value means that the operand has none. The
    // types inside the ScaleSpecs must be the scales' element types.
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                   "::mlir::Value":$scaleA, "::dgemm::ScaleSpec":$specA,
                   "::mlir::Value":$scaleB, "::dgemm::ScaleSpec":$specB,
                   "::mlir::Value":$d,
                   CArg<"::mlir::Value", "{}">:$c)>
  ];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getDMutable());
    }
    /// The one schedule for every M, or null when there is none or a table.
    ::mlir::dgemm::ScheduleAttr getSingleSchedule() {
      return ::llvm::dyn_cast_or_null<::mlir::dgemm::ScheduleAttr>(
          getScheduleAttr());
    }
    bool hasEpilogue() { return !getEpilogue().empty(); }
    /// f32, or i32 for i8 operands.
    ::mlir::Type getAccumulatorType();
  }];
}

def Dgemm_YieldOp
    : Dgemm_Op<"yield", [HasParent<"MatmulOp">, Pure, Terminator]> {
  let summary = "the element that an epilogue stores";
  let description = [{
    Ends the epilogue region of `dgemm.matmul`.

    ```mlir
    dgemm.yield %y : f32
    ```
  }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // DGEMM_OPS
