// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplications outside their fence, commit and wait; boxes outside the plan.
//
// RUN: dgemm-opt %s --dgemm-plan-smem --dgemm-verify-kernel --verify-diagnostics --split-input-file

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
    %u = dgemm.wgmma_undef : !dgemm.inflight<64x128xf32>
    dgemm.wgmma_fence
    dgemm.wgmma_wait 0
    // expected-error @+1 {{has no dgemm.wgmma_fence in front; run dgemm-insert-fences}}
    %x = dgemm.mma %ring[%c0] rows %c0 cols 0 into %u fresh : !ring, !dgemm.inflight<64x128xf32>
    dgemm.wgmma_commit
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
    %u = dgemm.wgmma_undef : !dgemm.inflight<64x128xf32>
    dgemm.wgmma_fence
    // expected-error @+1 {{belongs to no committed group; run dgemm-insert-fences}}
    %x = dgemm.mma %ring[%c0] rows %c0 cols 0 into %u fresh : !ring, !dgemm.inflight<64x128xf32>
    dgemm.wgmma_wait 0
    dgemm.wgmma_commit
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
    %u = dgemm.wgmma_undef : !dgemm.inflight<64x128xf32>
    %z = dgemm.zero : <64x128xf32>
    dgemm.wgmma_fence
    %x = dgemm.mma %ring[%c0] rows %c0 cols 0 into %u fresh : !ring, !dgemm.inflight<64x128xf32>
    dgemm.wgmma_commit
    // expected-error @+1 {{reads a product that is still in flight}}
    %y = dgemm.promote %z, %x : !dgemm.inflight<64x128xf32> -> !dgemm.fragment<64x128xf32>
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
    %u = dgemm.wgmma_undef : !dgemm.inflight<64x128xf32>
    dgemm.wgmma_fence
    // expected-error @+1 {{adds to accumulators that have no value; it must be fresh}}
    %x = dgemm.mma %ring[%c0] rows %c0 cols 0 into %u : !ring, !dgemm.inflight<64x128xf32>
    dgemm.wgmma_commit
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
    %z = dgemm.zero : <64x128xf32>
    // expected-error @+1 {{offset 16384 is none of the 2 store boxes of 8192 bytes}}
    dgemm.stage %z cols 0 width 64 to %wg box 64 at 0 offset 16384 bf16 : !dgemm.fragment<64x128xf32>
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
    // expected-error @+1 {{offset 64 is none of the 2 store boxes of 8192 bytes}}
    dgemm.tma_store %d[%c0, %c0] from %wg offset 64
  }
}
