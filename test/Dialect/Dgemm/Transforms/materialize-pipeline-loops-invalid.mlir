// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads in other places than one K loop.
//
// RUN: dgemm-opt %s --dgemm-materialize-pipeline --verify-diagnostics --split-input-file

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  // expected-error @+1 {{expected one K loop, found 2}}
  dgemm.tiles (%m0, %n0) {
    %zero = dgemm.zero : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %blocks = dgemm.k_blocks : i32
    %other = scf.for %kb = %c0 to %blocks step %c1 iter_args(%x = %zero) -> (!acc) : i32 {
      %ta = dgemm.load "a" [%m0, %kb] : !t
      %tb = dgemm.load "b" [%n0, %kb] : !t
      %y = dgemm.tile_mma %ta, %tb, %x : !t, !t -> !acc
      scf.yield %y : !acc
    }
    %r = scf.for %kb = %c0 to %blocks step %c1 iter_args(%x = %zero) -> (!acc) : i32 {
      %ta = dgemm.load "a" [%m0, %kb] : !t
      %tb = dgemm.load "b" [%n0, %kb] : !t
      %y = dgemm.tile_mma %ta, %tb, %x : !t, !t -> !acc
      scf.yield %y : !acc
    }
    dgemm.tile_store %r at [%m0, %n0] : !acc
    dgemm.next
  }
}

// -----

// Row scales have no tensor map in this kernel.
!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %zero = dgemm.zero : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %blocks = dgemm.k_blocks : i32
    // expected-error @+1 {{expected the kernel's 2 loads in the body of the K loop, found 3 there and 3 in the kernel}}
    %r = scf.for %kb = %c0 to %blocks step %c1 iter_args(%x = %zero) -> (!acc) : i32 {
      %s = dgemm.load "scale_a" [%m0, %kb] : !dgemm.tile<1x128xf32>
      %ta = dgemm.load "a" [%m0, %kb] : !t
      %tb = dgemm.load "b" [%n0, %kb] : !t
      %y = dgemm.tile_mma %ta, %tb, %x : !t, !t -> !acc
      scf.yield %y : !acc
    }
    dgemm.tile_store %r at [%m0, %n0] : !acc
    dgemm.next
  }
}

// -----

// A load beside the loop would be left behind.
!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %zero = dgemm.zero : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %blocks = dgemm.k_blocks : i32
    %outside = dgemm.load "a" [%m0, %c0] : !t
    // expected-error @+1 {{expected the kernel's 2 loads in the body of the K loop, found 2 there and 3 in the kernel}}
    %r = scf.for %kb = %c0 to %blocks step %c1 iter_args(%x = %zero) -> (!acc) : i32 {
      %ta = dgemm.load "a" [%m0, %kb] : !t
      %tb = dgemm.load "b" [%n0, %kb] : !t
      %y = dgemm.tile_mma %ta, %tb, %x : !t, !t -> !acc
      scf.yield %y : !acc
    }
    dgemm.tile_store %r at [%m0, %n0] : !acc
    dgemm.next
  }
}

// -----

// FP8 row scales that nobody loads: insert-scaling has not run.
!t = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!acc = !dgemm.fragment<128x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  dgemm.tiles (%m0, %n0) {
    %zero = dgemm.zero : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %blocks = dgemm.k_blocks : i32
    // expected-error @+1 {{expected the kernel's 3 loads in the body of the K loop, found 2 there and 2 in the kernel}}
    %r = scf.for %kb = %c0 to %blocks step %c1 iter_args(%x = %zero) -> (!acc) : i32 {
      %ta = dgemm.load "a" [%m0, %kb] : !t
      %tb = dgemm.load "b" [%n0, %kb] : !t
      %y = dgemm.tile_mma %ta, %tb, %x : !t, !t -> !acc
      scf.yield %y : !acc
    }
    dgemm.tile_store %r at [%m0, %n0] : !acc
    dgemm.next
  }
}
