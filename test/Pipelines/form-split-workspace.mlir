// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// split_k through the workspace: each CTA takes its share of K and puts what it
// computed into global memory; whoever comes last adds the parts, in their
// order, and stores.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: dgemm.kernel @split_kernel
// CHECK-SAME: %{{[^:,]*}}: !dgemm.tensor_map, %{{[^:,]*}}: !dgemm.tensor_map, %{{[^:,]*}}: !llvm.ptr<1>, %{{[^:,]*}}: i64, %[[WORKSPACE:[^:,]*]]: !llvm.ptr<1>
// A word for each warpgroup to hear from its leader.
// CHECK-SAME: reduce = {{[0-9]+}} part 4
// CHECK-NOT: dgemm.cluster
// CHECK: dgemm.role producer
// CHECK: %[[SHARE:.*]] = arith.divui %{{.*}}, %c3
// CHECK: %[[PART:.*]] = dgemm.split_part
// CHECK: %[[START:.*]] = arith.muli %[[PART]], %[[SHARE]]
// CHECK: %[[LOWER:.*]] = arith.minui %[[START]], %
// CHECK: scf.for %{{.*}} = %[[LOWER]] to
// CHECK: dgemm.role consumer registers 232{{ ?}}(%[[WG:.*]])
// CHECK: dgemm.tiles{{ ?}}(%[[M0:.*]], %[[N0:.*]]) iter_args
// CHECK: %[[PART:.*]] = dgemm.split_part
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK: %[[SUM:.*]], %[[LAST:.*]] = dgemm.workspace_reduce %[[DONE]] of %[[WG]] part %[[PART]] of %c3{{.*}} at %{{.*}} through %[[WORKSPACE]]
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK: dgemm.store_global %[[SUM]]
// CHECK-NEXT: }

// NVVM-LABEL: llvm.func @split_kernel
// The workspace's size.
// NVVM-SAME: per_tile\22: 196608,{{.*}}fixed\22: 65536
func.func @split(%a: memref<128x2048xbf16>, %b: memref<256x2048xbf16>, %d: memref<128x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<128x2048xbf16>, memref<256x2048xbf16>) outs(%d : memref<128x256xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, split_k = 3 workspace, store = vector, persistent = false>, source = "user"}
  return
}

// The leader counts between two barriers of its warpgroup, with fences of its
// own around the count; the counter is zero again for the next launch.
// NVVM: %[[PART:.*]] = arith.remui %{{.*}}, %c3
// NVVM: llvm.store %{{.*}}, %{{.*}} : vector<4xf32>, !llvm.ptr<1>
// NVVM: nvvm.barrier id = %[[ID:.*]] number_of_threads = %c128
// NVVM-NEXT: scf.if
// NVVM-NEXT: llvm.fence syncscope("device") acq_rel
// NVVM-NEXT: %[[BEFORE:.*]] = llvm.atomicrmw add %[[COUNTER:.*]], %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i32
// NVVM-NEXT: llvm.fence syncscope("device") acq_rel
// NVVM: %[[LAST:.*]] = arith.cmpi eq, %[[BEFORE]], %c2
// NVVM-NEXT: scf.if %[[LAST]] {
// NVVM-NEXT: llvm.store %{{.*}}, %[[COUNTER]] : i32, !llvm.ptr<1>
// NVVM-NEXT: }
// NVVM: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr<3>
// NVVM: nvvm.barrier id = %{{.*}} number_of_threads = %c128
// NVVM: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// NVVM: scf.if
// NVVM: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xf32>
// NVVM: scf.for
// NVVM: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xf32>
// NVVM: llvm.fadd
