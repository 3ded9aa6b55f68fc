// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes, releases and fences that do not match.
//
// RUN: dgemm-opt %s --dgemm-plan-smem --dgemm-verify-kernel --verify-diagnostics --split-input-file

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
    // expected-error @+1 {{member 1 is filled 0 times, expected once}}
    dgemm.expect %ring[%c0] bytes 16384 : !ring
    dgemm.tma_load %a[%c0, %c0] to %ring[%c0] member 0 : !ring
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}

// -----

// The copy into another slot does not count.
!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
    %c1 = arith.constant 1 : i32
    // expected-error @+1 {{member 0 is filled 0 times, expected once}}
    dgemm.expect %ring[%c0] bytes 32768 : !ring
    dgemm.tma_load %a[%c0, %c0] to %ring[%c1] member 0 : !ring
    dgemm.tma_load %b[%c0, %c0] to %ring[%c0] member 1 : !ring
  }
  dgemm.role consumer registers 232 (%wg) {
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
    // expected-error @+1 {{announces 32767 bytes but the copies bring 32768}}
    dgemm.expect %ring[%c0] bytes 32767 : !ring
    dgemm.tma_load %a[%c0, %c0] to %ring[%c0] member 0 : !ring
    dgemm.tma_load %b[%c0, %c0] to %ring[%c0] member 1 : !ring
  }
  dgemm.role consumer registers 232 (%wg) {
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
    // expected-error @+1 {{announces missing bytes, but every copy is whole}}
    dgemm.expect %ring[%c0] bytes 32768 missing %c0 : !ring
    dgemm.tma_load %a[%c0, %c0] to %ring[%c0] member 0 : !ring
    dgemm.tma_load %b[%c0, %c0] to %ring[%c0] member 1 : !ring
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %last: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, ?x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %is = arith.constant true
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
    // expected-error @+1 {{must say how many bytes are missing where a copy brings only the last rows}}
    dgemm.expect %ring[%c0] bytes 32768 : !ring
    dgemm.tma_load %a[%c0, %c0] to %ring[%c0] member 0 last %last if %is : !ring
    dgemm.tma_load %b[%c0, %c0] to %ring[%c0] member 1 : !ring
  }
  dgemm.role consumer registers 232 (%wg) {
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
  // expected-error @+1 {{waits for slots in 1 places but releases them in 0}}
  dgemm.role consumer registers 232 (%wg) {
    dgemm.wait %ring[%c0] parity %c0 : !ring
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
    // expected-error @+1 {{has no dgemm.wgmma_fence in front; run dgemm-insert-fences}}
    %x = dgemm.mma %ring[%c0] rows %c0 cols 0 into %u fresh : !ring, !dgemm.inflight<64x128xf32>
  }
}
