// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine ops become NVVM ops and tied assembly; accumulators become structs
// of registers, through loops too. Nothing outside gpu.modules changes.
//
// RUN: dgemm-opt %s --pass-pipeline="builtin.module(gpu.module(dgemm-lower-to-asm))" | FileCheck %s
// RUN: dgemm-opt %s --pass-pipeline="builtin.module(gpu.module(dgemm-lower-to-asm,dgemm-lower-to-asm))" | FileCheck %s

!i = !dgemm.inflight<64x8xf32>
!r = !llvm.struct<(f32, f32, f32, f32)>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @fresh
  // CHECK-SAME: (%[[A:.*]]: i64, %[[B:.*]]: i64)
  llvm.func @fresh(%a: i64, %b: i64) -> !r {
    // CHECK-NEXT: %[[U:.*]] = llvm.mlir.poison : !llvm.struct<(f32, f32, f32, f32)>
    %u = dgemm.wgmma_undef : !i
    // Without accumulators the fence is the plain one.
    // CHECK-NEXT: nvvm.wgmma.fence.aligned
    dgemm.wgmma_fence
    // CHECK-NEXT: %[[X:.*]] = nvvm.wgmma.mma_async %[[A]], %[[B]], %[[U]], <m = 64, n = 8, k = 32>, D{{ ?}}[{{.*}}<f32>, {{.*}}<zero>], A{{ ?}}[{{.*}}<e4m3>, {{.*}}<one>, {{.*}}<row>], B{{ ?}}[{{.*}}<e5m2>, {{.*}}<one>, {{.*}}<col>]
    %x = dgemm.wgmma %a, %b, %u {n = 8 : i32, k = 32 : i32, a_type = f8E4M3FN, b_type = f8E5M2, scale_d = "zero"} : !i
    nvvm.wgmma.commit.group.sync.aligned
    // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
    dgemm.wgmma_wait 1
    // Each register is read and written in place.
    // CHECK: %[[X0:.*]] = llvm.extractvalue %[[X]][0]
    // CHECK: %[[X3:.*]] = llvm.extractvalue %[[X]][3]
    // CHECK-NEXT: %[[W:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3" %[[X0]], %{{.*}}, %{{.*}}, %[[X3]] : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK: llvm.extractvalue %[[W]][0]
    // CHECK: %[[R:.*]] = llvm.insertvalue %{{.*}}, %{{.*}}[3]
    %r = dgemm.wgmma_wait 0 resolve(%x : !i) -> (!r)
    // CHECK-NEXT: llvm.return %[[R]]
    llvm.return %r : !r
  }

  // CHECK-LABEL: llvm.func @carried
  llvm.func @carried(%a: i64, %n: i32, %zero: !r) -> !r {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,0,1,2,3"
    %h = dgemm.wgmma_fence (%zero : !r) -> (!i)
    // CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[SUM:[^ ]*]] = %{{.*}}) -> (!llvm.struct<(f32, f32, f32, f32)>)
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%x = %h) -> (!i) : i32 {
      // CHECK: llvm.extractvalue %[[SUM]][0]
      // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;"
      %f = dgemm.wgmma_fence (%x : !i) -> (!i)
      // CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 8, k = 16>, D{{ ?}}[{{.*}}<f32>, {{.*}}<one>], A{{ ?}}[{{.*}}<bf16>, {{.*}}<one>, {{.*}}<col>], B{{ ?}}[{{.*}}<bf16>, {{.*}}<one>, {{.*}}<row>]
      %y = dgemm.wgmma %a, %a, %f {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "one", trans_a, trans_b} : !i
      nvvm.wgmma.commit.group.sync.aligned
      scf.yield %y : !i
    }
    // What stays in flight and what is pinned is tied too, in that order.
    // CHECK: llvm.inline_asm {{.*}} "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,=f,=f,0,1,2,3,4,5"
    %p = llvm.mlir.zero : !llvm.struct<(f32, f32)>
    %k, %q = dgemm.wgmma_wait 1 keep(%s : !i) pin(%p : !llvm.struct<(f32, f32)>) kept (!i) pinned (!llvm.struct<(f32, f32)>)
    %r = dgemm.wgmma_wait 0 resolve(%k : !i) -> (!r)
    llvm.return %r : !r
  }
  // CHECK-NOT: dgemm.{{wgmma|inflight}}
  // CHECK: }
}

// CHECK-LABEL: func @host
// CHECK-NEXT: dgemm.wgmma_undef : <64x8xf32>
func.func @host() {
  %u = dgemm.wgmma_undef : !i
  return
}
