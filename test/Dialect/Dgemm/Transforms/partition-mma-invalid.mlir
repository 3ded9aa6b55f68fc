// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// K loops that are not what the passes before leave.
//
// RUN: dgemm-opt %s --dgemm-partition-mma --verify-diagnostics --split-input-file

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %ring = dgemm.ring consumers 2 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
      %zero = dgemm.zero : !acc
    dgemm.tiles (%m0, %n0) {
      // expected-error @+1 {{the K loop must carry '!dgemm.fragment<128x128xf32>', slot and phase, as scheduled}}
      %r:3 = scf.for %kb = %c0 to %c1 step %c1 iter_args(%slot = %c0, %x = %zero, %phase = %c0) -> (i32, !acc, i32) : i32 {
        dgemm.wait %ring[%slot] parity %phase : !ring
        %t = dgemm.slot %ring[%slot] member 0 : !ring -> !t
        %y = dgemm.tile_mma %t, %t, %x : !t, !t -> !acc
        scf.yield %slot, %y, %phase : i32, !acc, i32
      }
      dgemm.tile_store %r#1 at [%m0, %n0] : !acc
      dgemm.next
    }
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %ring = dgemm.ring consumers 2 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
      %zero = dgemm.zero : !acc
    dgemm.tiles (%m0, %n0) {
      // expected-error @+1 {{the K loop must carry '!dgemm.fragment<128x128xf32>', slot and phase, as scheduled}}
      %r:4 = scf.for %kb = %c0 to %c1 step %c1 iter_args(%x = %zero, %slot = %c0, %phase = %c0, %more = %c0) -> (!acc, i32, i32, i32) : i32 {
        dgemm.wait %ring[%slot] parity %phase : !ring
        %t = dgemm.slot %ring[%slot] member 0 : !ring -> !t
        %y = dgemm.tile_mma %t, %t, %x : !t, !t -> !acc
        scf.yield %y, %slot, %phase, %more : !acc, i32, i32, i32
      }
      dgemm.tile_store %r#0 at [%m0, %n0] : !acc
      dgemm.next
    }
  }
}

// -----

// Another tile than the schedule's.
!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
!acc = !dgemm.fragment<64x64xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %ring = dgemm.ring consumers 2 : !ring
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
      %zero = dgemm.zero : !acc
    dgemm.tiles (%m0, %n0) {
      // expected-error @+1 {{the K loop must carry '!dgemm.fragment<128x128xf32>', slot and phase, as scheduled}}
      %r:3 = scf.for %kb = %c0 to %c1 step %c1 iter_args(%x = %zero, %slot = %c0, %phase = %c0) -> (!acc, i32, i32) : i32 {
        dgemm.wait %ring[%slot] parity %phase : !ring
        %t = dgemm.slot %ring[%slot] member 0 : !ring -> !t
        %y = dgemm.tile_mma %t, %t, %x : !t, !t -> !acc
        scf.yield %y, %slot, %phase : !acc, i32, i32
      }
      dgemm.tile_store %r#0 at [%m0, %n0] : !acc
      dgemm.next
    }
  }
}
