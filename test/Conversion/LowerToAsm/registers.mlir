// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine ops whose operands are registers. 16-bit types of mma_sync have an
// op upstream, the others are assembly.
//
// RUN: dgemm-opt %s --pass-pipeline="builtin.module(gpu.module(dgemm-lower-to-asm))" | FileCheck %s

// The assembler takes all of it (8-bit mma.sync from PTX 8.4 on).
// RUN: %if ptxas %{ dgemm-opt %s --pass-pipeline="builtin.module(gpu.module(dgemm-lower-to-asm))" | sed -e '/^module/d' -e '/^}/d' -e 's/gpu.module @kernels/module/' | mlir-translate --mlir-to-llvmir | llc -march=nvptx64 -mcpu=sm_90a -mattr=+ptx84 -o %t.ptx %}
// RUN: %if ptxas %{ %ptxas -c -arch=sm_90a %t.ptx -o %t.cubin %}

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @load
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[IN:.*]]: i1)
  llvm.func @load(%p: !llvm.ptr<1>, %in: i1) -> vector<4xi32> {
    // CHECK-NEXT: llvm.inline_asm has_side_effects asm_dialect = att "ld.global.nc.b32 $0, [$1];", "=r,l" %[[P]] : (!llvm.ptr<1>) -> i32
    %0 = dgemm.load_global %p : i32
    // CHECK-NEXT: llvm.inline_asm has_side_effects asm_dialect = att "ld.global.nc.L1::no_allocate.v2.b32 {$0,$1}, [$2];", "=r,=r,l" %[[P]] : (!llvm.ptr<1>) -> !llvm.struct<(i32, i32)>
    // CHECK: llvm.insertelement
    %1 = dgemm.load_global %p {no_allocate} : vector<2xi32>
    // CHECK: %[[POLICY:.*]] = llvm.mlir.constant(1364590687093260288 : i64)
    // CHECK-NEXT: %[[WORD:.*]] = llvm.zext %[[IN]] : i1 to i32
    // CHECK-NEXT: %[[ALL:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "{ .reg .pred p; setp.ne.b32 p, $6, 0; mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0; @p ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {$0,$1,$2,$3}, [$4], $5; }", "=&r,=&r,=&r,=&r,l,l,r" %[[P]], %[[POLICY]], %[[WORD]]
    // CHECK: llvm.extractvalue %[[ALL]][3]
    // CHECK: %[[V:.*]] = llvm.insertelement
    // CHECK-NEXT: llvm.return %[[V]]
    %2 = dgemm.load_global %p if %in {no_allocate, evict_first} : vector<4xi32>
    llvm.return %2 : vector<4xi32>
  }

  // CHECK-LABEL: llvm.func @multiply
  // CHECK-SAME: (%[[R:.*]]: i32, %[[C:.*]]: f32)
  llvm.func @multiply(%r: i32, %c: f32) -> f32 {
    // CHECK-NEXT: nvvm.mma.sync A[%[[R]], %[[R]], %[[R]], %[[R]]]{{ *}}B[%[[R]], %[[R]]]{{ *}}C[%[[C]], %[[C]], %[[C]], %[[C]]]{{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
    %0:4 = dgemm.mma_sync (%r, %r, %r, %r) (%r, %r) (%c, %c, %c, %c) {a_type = bf16, b_type = bf16}
    // CHECK: llvm.bitcast %[[R]] : i32 to vector<2xf16>
    // CHECK: nvvm.mma.sync {{.*}}(vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %1:4 = dgemm.mma_sync (%r, %r, %r, %r) (%r, %r) (%c, %c, %c, %c) {a_type = f16, b_type = f16}
    // CHECK: %[[D:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f" %[[R]], %[[R]], %[[R]], %[[R]], %[[R]], %[[R]], %[[C]], %[[C]], %[[C]], %[[C]]
    // CHECK: %[[LAST:.*]] = llvm.extractvalue %[[D]][3]
    // CHECK: llvm.return %[[LAST]]
    %2:4 = dgemm.mma_sync (%r, %r, %r, %r) (%r, %r) (%c, %c, %c, %c) {a_type = f8E4M3FN, b_type = f8E5M2}
    llvm.return %2#3 : f32
  }

  // CHECK-LABEL: llvm.func @wgmma
  // CHECK-SAME: (%[[A:.*]]: !llvm.struct<(i32, i32, i32, i32)>, %[[B:.*]]: i64, %[[ZERO:.*]]: !llvm.struct
  llvm.func @wgmma(%a: !llvm.struct<(i32, i32, i32, i32)>, %b: i64, %zero: !llvm.struct<(f32, f32, f32, f32)>) {
    // The pinned registers of A are integers.
    // CHECK: llvm.inline_asm {{.*}} "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,=r,=r,=r,=r,0,1,2,3,4,5,6,7"
    %h, %p = dgemm.wgmma_fence (%zero : !llvm.struct<(f32, f32, f32, f32)>) pin(%a : !llvm.struct<(i32, i32, i32, i32)>) -> (!dgemm.inflight<64x8xf32>) pinned (!llvm.struct<(i32, i32, i32, i32)>)
    // CHECK: llvm.inline_asm {{.*}} "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0,$1,$2,$3}, {$8,$9,$10,$11}, $12, p, 1, 1, 1; }", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l" {{.*}}, %[[B]] :
    %x = dgemm.wgmma_registers %p, %b, %h {n = 8 : i32, k = 16 : i32, a_type = bf16, b_type = bf16, scale_d = "one", trans_b} : !llvm.struct<(i32, i32, i32, i32)>, !dgemm.inflight<64x8xf32>
    // CHECK: "{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {$0,$1,$2,$3}, {$8,$9,$10,$11}, $12, p, 1, 1; }"
    %y = dgemm.wgmma_registers %p, %b, %x {n = 8 : i32, k = 32 : i32, a_type = f8E4M3FN, b_type = f8E5M2, scale_d = "zero"} : !llvm.struct<(i32, i32, i32, i32)>, !dgemm.inflight<64x8xf32>
    nvvm.wgmma.commit.group.sync.aligned
    %r = dgemm.wgmma_wait 0 resolve(%y : !dgemm.inflight<64x8xf32>) -> (!llvm.struct<(f32, f32, f32, f32)>)
    llvm.return
  }
}
