// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What a finished kernel must consist of.
//
// RUN: dgemm-opt %s --dgemm-plan-smem --dgemm-verify-kernel --verify-diagnostics --split-input-file

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
// expected-error @+1 {{expected one ring, one producer and one consumer, found 0, 0 and 0}}
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
// expected-error @+1 {{expected one ring, one producer and one consumer, found 1, 1 and 0}}
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
// expected-error @+1 {{expected one ring, one producer and one consumer, found 2, 1 and 1}}
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  %more = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<3 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{expected '!dgemm.ring<4 x[!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>' for this schedule}}
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
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
  dgemm.role consumer registers 232 (%wg) {
    // expected-error @+1 {{must stand in the kernel's own body}}
    dgemm.role producer registers 40 {
    }
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
    // expected-error @+1 {{is left from the tile level; the kernel pipeline has not finished}}
    %t = dgemm.slot %ring[%c0] member 0 : !ring -> !t
  }
}

// -----

// Tiles that no copy of this kernel brings.
!t = !dgemm.tile<128x8xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{for this schedule}}
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
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
  // expected-error @+1 {{expected 2 consumers to read a slot, found 1}}
  %ring = dgemm.ring consumers 1 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, cluster = 2x1 multicast b>, source = "user"} {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{expected the slots of 2 CTAs to be filled together, found 1}}
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, cluster = 2x1 multicast b>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 ctas 2 : !ring
  dgemm.role producer registers 40 {
    // expected-error @+1 {{expected a copy in 2 parts, found 1}}
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
    // expected-error @+1 {{expected the kernel's map for the last rows}}
    dgemm.tma_load %a[%c0, %c0] to %ring[%c0] member 0 : !ring
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
  %is = arith.constant true
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
    // expected-error @+1 {{expected no map for last rows, as every tile is whole}}
    dgemm.tma_load %a[%c0, %c0] to %ring[%c0] member 0 last %b if %is : !ring
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
  // expected-error @+1 {{must stand behind dgemm.grid_wait}}
  dgemm.role producer registers 40 {
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
  // expected-error @+1 {{must stand behind dgemm.grid_wait}}
  dgemm.grid_launch
  dgemm.grid_wait
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %w: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, tiles = dynamic>, source = "user"} {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{expected a dgemm.tile_queue in front}}
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.grid_wait
  dgemm.role producer registers 40 {
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
  dgemm.tile_queue consumers 2
  // expected-error @+1 {{expected no dgemm.tile_queue in front}}
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.grid_wait
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %w: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, tiles = dynamic>, source = "user"} {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{expected the ring's 2 consumers, found 1}}
  dgemm.tile_queue consumers 1
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.grid_wait
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %w: !llvm.ptr<1>, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, tiles = dynamic>, source = "user"} {
  %c0 = arith.constant 0 : i32
  dgemm.tile_queue consumers 2
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.grid_wait
  dgemm.role producer registers 40 {
    // expected-error @+1 {{expected numbers = "fetch", found ""}}
    dgemm.tiles (%m0, %n0) {
      dgemm.next
    }
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
  dgemm.grid_wait
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
    // expected-error @+1 {{expected numbers = "", found "receive"}}
    dgemm.tiles (%m0, %n0) attributes {numbers = "receive"} {
      dgemm.next
    }
  }
}
