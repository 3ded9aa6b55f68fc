// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are not finished, and names that are taken.
//
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm --verify-diagnostics --split-input-file

// expected-error @+1 {{has no shared-memory plan; run dgemm-plan-smem}}
dgemm.kernel @not_planned(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
#plan = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768
  (boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>
// A tile-level op has no machine form.
dgemm.kernel @tile_level(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, smem = #plan, source = "user"} {
  // expected-error @+1 {{failed to legalize operation 'dgemm.load' that was explicitly marked illegal}}
  %t = dgemm.load "a" [%m, %k] : !t
}

// -----

!t = !dgemm.tile<128x64xbf16>
!ring = !dgemm.ring<4 x [!t, !t]>
#plan = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768
  (boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>
// No matrix descriptor describes rows that are not swizzled.
dgemm.kernel @descriptors(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, smem = #plan, source = "user"} {
  %ring = dgemm.ring consumers 2 : !ring
  %u = dgemm.wgmma_undef : !dgemm.inflight<64x8xf32>
  // expected-error @+2 {{operand tiles must have rows of one swizzle span (32, 64 or 128 bytes), found '!dgemm.tile<128x64xbf16>'}}
  // expected-error @+1 {{failed to legalize operation 'dgemm.mma' that was explicitly marked illegal}}
  %x = dgemm.mma %ring[%m] rows %m cols 0 into %u fresh : !ring, !dgemm.inflight<64x8xf32>
}

// -----

!t = !dgemm.tile<128x16xbf16, swizzle = 32>
!ring = !dgemm.ring<4 x [!t, !t]>
#plan = #dgemm.smem_plan<a = 0 step 4096, b = 16384 step 4096, scale_a = 32768 step 0, store = 32768 size 32768
  (boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 65536 size 64, reduce = 0 part 0, total = 65600>
// 32 bytes of K are one WGMMA, which has no half.
dgemm.kernel @half_of_one(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x16, swizzle = [32, 32, 128]>, smem = #plan, source = "user"} {
  %ring = dgemm.ring consumers 2 : !ring
  %u = dgemm.wgmma_undef : !dgemm.inflight<64x8xf32>
  // expected-error @+2 {{half of a product that is one WGMMA: expected rows of at least 64 bytes}}
  // expected-error @+1 {{failed to legalize operation 'dgemm.mma' that was explicitly marked illegal}}
  %x = dgemm.mma %ring[%m] rows %m cols 0 into %u fresh {half = 0 : i32} : !ring, !dgemm.inflight<64x8xf32>
}

// -----

#plan = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768
  (boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>
// expected-error @+1 {{has the name that the gpu.module of the kernels needs}}
func.func private @dgemm_kernels()
dgemm.kernel @name_taken(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, smem = #plan, source = "user"} {}
