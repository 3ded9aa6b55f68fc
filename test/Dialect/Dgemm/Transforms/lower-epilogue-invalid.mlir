// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores that are not what partition-mma leaves.
//
// RUN: dgemm-opt %s --dgemm-lower-epilogue --verify-diagnostics --split-input-file

!f = !dgemm.fragment<64x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %f = dgemm.zero : !f
  // expected-error @+1 {{must stand in the kernel's consumer role}}
  dgemm.tile_store %f at [%c0, %c0] of %c0 : !f
}

// -----

!f = !dgemm.fragment<64x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.role producer registers 40 {
    %c0 = arith.constant 0 : i32
    %f = dgemm.zero : !f
    // expected-error @+1 {{must stand in the kernel's consumer role}}
    dgemm.tile_store %f at [%c0, %c0] of %c0 : !f
  }
}

// -----

// 64 rows for each of two warpgroups: one block each.
!f = !dgemm.fragment<64x128xf32>
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.role consumer registers 232 (%wg) {
    %f = dgemm.zero : !f
    // expected-error @+1 {{expected 1 blocks of a consumer's tile, found 2}}
    dgemm.tile_store %f, %f at [%wg, %wg] of %wg : !f, !f
  }
}

// -----

dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
  dgemm.role consumer registers 232 (%wg) {
    %f = dgemm.zero : <64x8xf32>
    // expected-error @+1 {{expected blocks of type '!dgemm.fragment<64x128xf32>', as scheduled; found '!dgemm.fragment<64x8xf32>'}}
    dgemm.tile_store %f at [%wg, %wg] of %wg : !dgemm.fragment<64x8xf32>
  }
}
