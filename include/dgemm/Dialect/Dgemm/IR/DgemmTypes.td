// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Types of the kernel and machine levels.

#ifndef DGEMM_TYPES
#define DGEMM_TYPES

include "dgemm/Dialect/Dgemm/IR/DgemmDialect.td"

def Dgemm_FragmentType : Dgemm_Type<"Fragment", "fragment"> {
  let summary = "a tile of accumulators spread over the registers of warps";
  let description = [{
    `!dgemm.fragment<64x176xf32>`: rows x columns of 32-bit values held by one
    warpgroup (64 rows) or, before the accumulators are partitioned, by all
    consumer warpgroups of the CTA together (a multiple of 64 rows). In register
    form every warp has fragments of its own (16 rows).

    Thread t of the warpgroup (warp w = t / 32, lane l = t % 32) holds, for
    each group of 8 columns g, four values in this order: rows
    `16 w + l / 4` then `16 w + l / 4 + 8`, each with columns
    `8 g + 2 (l % 4)` and `8 g + 2 (l % 4) + 1`; of 16 rows each warp holds
    what warp 0 does of 64. At L3a a fragment of 64xN or 16xN is an LLVM struct
    of N / 2 values of f32.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dgemm_InflightType : Dgemm_Type<"Inflight", "inflight"> {
  let summary = "64xN accumulators that a WGMMA may still be writing";
  let description = [{
    `!dgemm.inflight<64x176xf32>`: the same values as
    `!dgemm.fragment<64x176xf32>`, between a `dgemm.wgmma_fence` that handed
    registers to the tensor core and the `dgemm.wgmma_wait` that gives them
    back. No op reads the values of this type, so an accumulator cannot be
    read before its wait by construction.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dgemm_TileType : Dgemm_Type<"Tile", "tile"> {
  let summary = "one operand tile in shared memory";
  let description = [{
    `!dgemm.tile<128x64xbf16, swizzle = 128>`: rows x columns, the columns
    contiguous; rows are `columns x element size` bytes and the 16-byte chunks
    of each span of `swizzle` bytes are permuted by the row (TMA's pattern).
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "Type":$elementType,
                        "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dgemm_RingType : Dgemm_Type<"Ring", "ring"> {
  let summary = "a ring of shared-memory slots with full and empty barriers";
  let description = [{
    `!dgemm.ring<4 x [!dgemm.tile<...>, !dgemm.tile<...>]>`: `slots` slots,
    each holding one value of every member type. Each slot has an mbarrier
    *full* (the producer's copies have arrived) and an mbarrier *empty* (every
    consumer has let go).
  }];
  let parameters = (ins "int64_t":$slots,
                        ArrayRefParameter<"Type">:$members);
  let assemblyFormat = "`<` $slots `x` `[` $members `]` `>`";
  let genVerifyDecl = 1;
}

def Dgemm_StripType : Dgemm_Type<"Strip", "strip"> {
  let summary = "one K block of some rows of an operand, in a warp's registers";
  let description = [{
    `!dgemm.strip<16x128xf8E4M3FN>`: rows x K of A or B, as a warp of the
    register form loads them from global memory and multiplies them.

    Lane l holds, for each 8 rows, row `l / 4` of them and of each 64 bytes of
    that row the 16 from byte `16 (l % 4)` on: what one load brings. The tensor
    core wants other bytes in a lane, but the order of K inside a product is
    free as long as both operands have the same. At L3a a strip is an LLVM
    struct of i32: for each 8 rows, for each 64 bytes, four words.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// 16-byte pieces of one row that each lane holds.
    int64_t getPieces() const;
  }];
}

def Dgemm_TensorMapType : Dgemm_Type<"TensorMap", "tensor_map"> {
  let summary = "a TMA tensor map, a kernel parameter passed by value";
  let description = [{
    128 bytes, 64-byte aligned; encoded by the host from the recipe in the
    launch metadata. Becomes a `grid_constant` `byval` pointer at L3a.
  }];
}

def Dgemm_AccumulatorLike
    : Type<Or<[CPred<"::llvm::isa<::mlir::dgemm::FragmentType>($_self)">,
               CPred<"::llvm::isa<::mlir::dgemm::InflightType>($_self)">,
               CPred<"::llvm::isa<::mlir::LLVM::LLVMStructType>($_self)">]>,
           "fragment, inflight accumulators or an LLVM struct of registers">;
def Dgemm_RegistersLike
    : Type<Or<[CPred<"::llvm::isa<::mlir::dgemm::FragmentType>($_self)">,
               CPred<"::llvm::isa<::mlir::LLVM::LLVMStructType>($_self)">]>,
           "fragment or an LLVM struct of registers">;

#endif // DGEMM_TYPES
