// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel whose shared memory is not planned, or not as the schedule has it.
//
// RUN: dgemm-opt %s --dgemm-verify-kernel --verify-diagnostics --split-input-file

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
// expected-error @+1 {{has no shared-memory plan; run dgemm-plan-smem}}
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {
}

// -----

!t = !dgemm.tile<128x64xbf16, swizzle = 128>
!ring = !dgemm.ring<4 x [!t, !t]>
// expected-error @+1 {{expected #dgemm.smem_plan<a = 0 step 16384, b = 65536}}
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, smem = #dgemm.smem_plan<a = 0 step 16384, b = 65537 step 16384, scale_a = 131072 step 0, store = 131072 size 32768 (boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %ring = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
  }
  dgemm.role consumer registers 232 (%wg) {
  }
}
