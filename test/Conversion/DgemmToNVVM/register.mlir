// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The register form at the machine level: 16-byte loads, products of two words
// of each, and sums over warps through shared memory.
//
// RUN: dgemm-opt %s --pass-pipeline='builtin.module(dgemm-create-kernel,dgemm.kernel(dgemm-lower-epilogue,dgemm-plan-smem),convert-dgemm-to-nvvm,canonicalize,cse)' | FileCheck %s

func.func @whole(%a: memref<4x1024xbf16>, %b: memref<48x1024xbf16>, %d: memref<4x48xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<4x1024xbf16>, memref<48x1024xbf16>) outs(%d : memref<4x48xbf16>)
    {schedule = #dgemm.schedule<tile = 8x16x64, consumers = 8 cooperative, stages = 1, form = register, store = vector, persistent = false, ctas_per_sm = 2, stream_b = true>}
  return
}

// Weights are streamed, A is not; rows of B that lane l does not have lie 8
// rows further down.
// CHECK-LABEL: llvm.func @whole_kernel(
// CHECK-SAME: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1>
// CHECK-SAME: nvvm.minctasm = 2 : i32
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// CHECK: %[[SUMS:.*]] = scf.for
// CHECK: %[[W0:.*]] = dgemm.load_global %[[ROW:.*]] {evict_first, no_allocate} : vector<4xi32>
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[ROW]][32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i16
// CHECK: %[[W1:.*]] = dgemm.load_global %[[NEXT]] {evict_first, no_allocate} : vector<4xi32>
// CHECK: %[[W2:.*]] = dgemm.load_global {{.*}} {evict_first, no_allocate} : vector<4xi32>
// CHECK: %[[W3:.*]] = dgemm.load_global {{.*}} {evict_first, no_allocate} : vector<4xi32>
// CHECK: %[[X0:.*]] = dgemm.load_global %{{[^ ]*}} : vector<4xi32>
// CHECK: %[[X1:.*]] = dgemm.load_global %{{[^ ]*}} : vector<4xi32>
// CHECK-COUNT-4: dgemm.mma_sync{{.*}} {a_type = bf16, b_type = bf16}
// CHECK-NOT: dgemm.mma_sync
// CHECK: llvm.store %{{.*}}, %{{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: scf.if
// CHECK-COUNT-7: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: llvm.load {{.*}} !llvm.ptr<3>
// CHECK: llvm.store %{{.*}}, %{{.*}} : bf16, !llvm.ptr<1>
// CHECK: llvm.return

func.func @rest(%a: memref<?x?xf8E4M3FN>, %b: memref<?x?xf8E4M3FN>, %sa: memref<1x1xf32>, %sb: memref<1x1xf32>, %d: memref<?x?xf32>) {
  dgemm.matmul nt ins(%a, %b : memref<?x?xf8E4M3FN>, memref<?x?xf8E4M3FN>) scales(%sa by tensor, %sb by tensor : memref<1x1xf32>, memref<1x1xf32>)
    acc(%d : memref<?x?xf32>) outs(%d : memref<?x?xf32>)
    {schedule = #dgemm.schedule<tile = 8x16x64, consumers = 2 cooperative, stages = 2, promote = 64, split_k = 2 cluster, form = register, store = vector, persistent = false>}
  return
}

// The second K block of a step is read only if it exists. A piece that K cuts is
// read element by element. Only the first warp of a CTA sends its sums.
// CHECK-LABEL: llvm.func @rest_kernel(
// CHECK: nvvm.cluster.arrive.relaxed
// CHECK: scf.for
// CHECK: dgemm.load_global %{{[^ ]*}} : vector<4xi32>
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK: dgemm.load_global %{{[^ ]*}} if %[[INSIDE]] : vector<4xi32>
// CHECK: dgemm.mma_sync{{.*}} {a_type = f8E4M3FN, b_type = f8E4M3FN}
// The assembler must not know which pieces lie beyond K.
// CHECK: %[[K:.*]] = nvvm.shfl.sync idx
// CHECK: arith.subi %[[K]], %
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %[[LEFT:.*]], %c16
// CHECK: dgemm.load_global %[[PIECE:.*]] if %[[WHOLE]] : vector<4xi32>
// CHECK: %[[WORDS:.*]]:4 = scf.if
// CHECK: scf.for %[[I:.*]] = %c0{{[^ ]*}} to %[[LEFT]]
// CHECK: llvm.getelementptr %[[PIECE]][%[[I]]]
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> i8
// CHECK: nvvm.barrier
// CHECK: nvvm.cluster.wait
// CHECK-NEXT: %[[SENDS:.*]] = arith.andi
// CHECK: scf.if %[[SENDS]] {
// CHECK: nvvm.mapa
// CHECK: nvvm.cluster.arrive
// CHECK: nvvm.cluster.wait
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> f32
// CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<1>
