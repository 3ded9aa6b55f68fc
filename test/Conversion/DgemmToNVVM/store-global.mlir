// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// From registers: rows and columns checked, pairs stored as one where both are
// inside, nothing outside touched.
//
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm --canonicalize --cse | FileCheck %s

!ring = !dgemm.ring<4 x [!dgemm.tile<128x64xbf16, swizzle = 128>, !dgemm.tile<128x64xbf16, swizzle = 128>]>

// CHECK-LABEL: llvm.func @f32
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt
// CHECK: scf.if %[[INSIDE]] {
// CHECK: %[[BOTH:.*]] = arith.cmpi {{slt|sgt}}
// CHECK: scf.if %[[BOTH]] {
// CHECK: llvm.store %{{.*}}, %{{.*}} {{.*}}: vector<2xf32>, !llvm.ptr<1>
// CHECK-NEXT: } else {
// CHECK: %[[FIRST:.*]] = arith.cmpi {{slt|sgt}}
// CHECK: scf.if %[[FIRST]] {
// CHECK: llvm.store %{{.*}}, %{{.*}} {{.*}}: f32, !llvm.ptr<1>
// CHECK-NOT: nvvm.{{stmatrix|cp.async.bulk.tensor.global.shared.cta}}
// CHECK: llvm.return
dgemm.kernel @f32(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %dptr: !llvm.ptr<1>, %ldd: i64, %m: i32, %n: i32,
                    %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = f32>, schedule = #dgemm.schedule<tile = 128x128x64, store = vector>, smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 0(boxes = 0 at_once 0 of 0 bytes columns = 0), barriers = 131072 size 64, reduce = 0 part 0, total = 131136>, source = "user"} {
  %c256_i32 = arith.constant 256 : i32
  %c64_i32 = arith.constant 64 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %0 = dgemm.ring consumers 2 : !ring
  dgemm.role producer registers 40 {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.k_blocks : i32
      %3:2 = scf.for %kb = %c0_i32 to %2 step %c1_i32 iter_args(%slot = %s0, %phase = %p0) -> (i32, i32) : i32 {
        %4 = arith.xori %phase, %c1_i32 : i32
        dgemm.acquire %0[%slot] parity %4 : !ring
        dgemm.expect %0[%slot] bytes 32768 : !ring
        %5 = arith.muli %kb, %c64_i32 : i32
        dgemm.tma_load %a[%5, %m0] to %0[%slot] member 0 : !ring
        dgemm.tma_load %b[%5, %n0] to %0[%slot] member 1 : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %next_slot, %next_phase : i32, i32
      }
      dgemm.next %3#0, %3#1 : i32, i32
    }
  }
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.k_blocks : i32
      %3 = arith.muli %wg, %c64_i32 : i32
      %4 = dgemm.zero : <64x128xf32>
      %handed = dgemm.wgmma_fence(%4 : !dgemm.fragment<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
      %5:4 = scf.for %kb = %c0_i32 to %2 step %c1_i32 iter_args(%sum = %handed, %slot = %s0, %phase = %p0, %last = %s0) -> (!dgemm.inflight<64x128xf32>, i32, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %handed_0 = dgemm.wgmma_fence(%sum : !dgemm.inflight<64x128xf32>) -> (!dgemm.inflight<64x128xf32>)
        %8 = dgemm.mma %0[%slot] rows %3 cols 0 into %handed_0 : !ring, <64x128xf32>
        dgemm.wgmma_commit
        %9 = arith.cmpi sgt, %kb, %c0_i32 : i32
        dgemm.wgmma_wait 1
        scf.if %9 {
          dgemm.release %0[%last] {pending = 1 : i32} : !ring
        }
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %8, %next_slot, %next_phase, %slot : !dgemm.inflight<64x128xf32>, i32, i32, i32
      }
      %resolved = dgemm.wgmma_wait 0 resolve(%5#0 : !dgemm.inflight<64x128xf32>) -> (!dgemm.fragment<64x128xf32>)
      %6 = arith.cmpi sgt, %2, %c0_i32 : i32
      scf.if %6 {
        dgemm.release %0[%5#3] : !ring
      }
      %7 = arith.addi %m0, %3 : i32
      dgemm.store_global %resolved, %dptr[%7, %n0] stride %ldd within [%c256_i32, %c256_i32] f32 : <1>, <64x128xf32>
      dgemm.next %5#1, %5#2 : i32, i32
    }
  }
}
