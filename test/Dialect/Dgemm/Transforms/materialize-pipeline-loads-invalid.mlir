// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads that differ from the tensor maps, or of another K block.
//
// RUN: dgemm-opt %s --dgemm-materialize-pipeline --verify-diagnostics --split-input-file

// Another swizzle than the tensor map has.
!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %zero = dgemm.zero : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %blocks = dgemm.k_blocks : i32
    %r = scf.for %kb = %c0 to %blocks step %c1 iter_args(%x = %zero) -> (!acc) : i32 {
      // expected-error @+1 {{expected "a" as '!dgemm.tile<128x64xbf16, swizzle = 128>', as scheduled}}
      %ta = dgemm.load "a" [%m0, %kb] : !dgemm.tile<128x64xbf16>
      %tb = dgemm.load "b" [%n0, %kb] : !t
      %y = dgemm.tile_mma %ta, %tb, %x : !dgemm.tile<128x64xbf16>, !t -> !acc
      scf.yield %y : !acc
    }
    dgemm.tile_store %r at [%m0, %n0] : !acc
    dgemm.next
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %zero = dgemm.zero : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %blocks = dgemm.k_blocks : i32
    %r = scf.for %kb = %c0 to %blocks step %c1 iter_args(%x = %zero) -> (!acc) : i32 {
      %ta = dgemm.load "a" [%m0, %kb] : !t
      // expected-error @+1 {{must load the K loop's own block, of rows known before the loop}}
      %tb = dgemm.load "b" [%n0, %c0] : !t
      %y = dgemm.tile_mma %ta, %tb, %x : !t, !t -> !acc
      scf.yield %y : !acc
    }
    dgemm.tile_store %r at [%m0, %n0] : !acc
    dgemm.next
  }
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %zero = dgemm.zero : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %blocks = dgemm.k_blocks : i32
    %r = scf.for %kb = %c0 to %blocks step %c1 iter_args(%x = %zero) -> (!acc) : i32 {
      %row = arith.addi %m0, %kb : i32
      // expected-error @+1 {{must load the K loop's own block, of rows known before the loop}}
      %ta = dgemm.load "a" [%row, %kb] : !t
      %tb = dgemm.load "b" [%n0, %kb] : !t
      %y = dgemm.tile_mma %ta, %tb, %x : !t, !t -> !acc
      scf.yield %y : !acc
    }
    dgemm.tile_store %r at [%m0, %n0] : !acc
    dgemm.next
  }
}
