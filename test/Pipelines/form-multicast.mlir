// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A cluster that shares a tile: each CTA copies its part of it to all, a slot
// is free when the warpgroups of all have let go of it, and no CTA leaves
// before the others are done with its barriers.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s --check-prefix=NVVM

// B is shared by the two CTAs along M; A is each CTA's own.
// CHECK-LABEL: dgemm.kernel @share_b_kernel
// CHECK: %[[RING:.*]] = dgemm.ring consumers 2 ctas 2 :
// CHECK: %[[RANK:.*]] = dgemm.cluster_rank : i32
// CHECK: %[[PART:.*]] = arith.remui %[[RANK]], %c2
// CHECK: dgemm.role producer
// CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) iter_args
// CHECK: dgemm.expect {{.*}} bytes 32768
// CHECK: dgemm.tma_load %{{[^ ]*}}{{ ?}}[%{{.*}}, %[[M0]]] to %[[RING]]{{ ?}}[%{{.*}}] member 0 : <
// CHECK: %[[SKIP:.*]] = arith.muli %[[PART]], %c64
// CHECK: %[[ROW:.*]] = arith.addi %[[N0]], %[[SKIP]]
// CHECK: dgemm.tma_load %{{[^ ]*}}{{ ?}}[%{{.*}}, %[[ROW]]] to %[[RING]]{{ ?}}[%{{.*}}] member 1 part %[[PART]] of 2 :
// CHECK: dgemm.role consumer
// CHECK: dgemm.release
// CHECK: {{^  }}dgemm.cluster_sync

// NVVM-LABEL: llvm.func @share_b_kernel
// The box of B is one part; the cluster is part of the launch.
// NVVM-SAME: \22cluster\22: [\0A 2,\0A 1,\0A 1\0A ]
// NVVM-SAME: \22box\22: [\0A 64,\0A 128\0A ]
// NVVM-SAME: \22box\22: [\0A 64,\0A 64\0A ]
// NVVM: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// Two warpgroups of each of two CTAs let go of a slot.
// NVVM: nvvm.mbarrier.init %{{.*}}, %c1_i32
// NVVM: nvvm.mbarrier.init %{{.*}}, %c16_i32
// NVVM: nvvm.fence.mbarrier.init
// NVVM: nvvm.cluster.arrive {aligned}
// NVVM: nvvm.cluster.wait {aligned}
// NVVM: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM-NOT: multicast_mask
// NVVM: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %{{.*}} : !llvm.ptr<7>, !llvm.ptr
// One lane for each of the two; the scope stays the CTA's.
// NVVM: nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
// NVVM-NEXT: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
// NVVM: nvvm.cluster.arrive{{$}}
// NVVM-NEXT: nvvm.cluster.wait{{$}}
// NVVM-NEXT: llvm.return
func.func @share_b(%a: memref<300x256xbf16>, %b: memref<256x256xbf16>, %d: memref<300x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<300x256xbf16>, memref<256x256xbf16>) outs(%d : memref<300x256xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, stages = 3, cluster = 2x1 multicast b>, source = "user"}
  return
}

// A is shared along N: in a cluster of 2x2 by CTAs two numbers apart.
// CHECK-LABEL: dgemm.kernel @share_a_kernel
// CHECK: dgemm.ring consumers 1 ctas 2 :
// CHECK: %[[PART:.*]] = arith.divui %{{.*}}, %c2
// CHECK: dgemm.tma_load {{.*}} member 0 part %[[PART]] of 2 :
// CHECK: dgemm.tma_load {{.*}} member 1 : <

// NVVM-LABEL: llvm.func @share_a_kernel
// NVVM-SAME: \22cluster\22: [\0A 4,\0A 1,\0A 1\0A ]
// NVVM: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// NVVM: %[[ROW:.*]] = arith.remui %[[RANK]], %c2
// CTAs 0 and 2, or 1 and 3.
// NVVM: %[[BITS:.*]] = arith.shli %c5_i32, %[[ROW]]
// NVVM: %[[MASK:.*]] = arith.trunci %[[BITS]] : i32 to i16
// NVVM: multicast_mask = %[[MASK]]
func.func @share_a(%a: memref<300x256xbf16>, %b: memref<256x256xbf16>, %d: memref<300x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<300x256xbf16>, memref<256x256xbf16>) outs(%d : memref<300x256xbf16>)
    {schedule = #dgemm.schedule<tile = 64x128x64, consumers = 1 cooperative, regs = [0, 0], stages = 3, cluster = 2x2 multicast a>, source = "user"}
  return
}

// A cluster that shares nothing only fixes which tiles are neighbours.
// CHECK-LABEL: dgemm.kernel @beside_kernel
// CHECK: dgemm.ring consumers 2 : <
// CHECK-NOT: dgemm.cluster_sync
// NVVM-LABEL: llvm.func @beside_kernel
// NVVM-SAME: \22cluster\22: [\0A 2,\0A 1,\0A 1\0A ]
// NVVM-NOT: nvvm.mapa
// NVVM: llvm.return
func.func @beside(%a: memref<300x256xbf16>, %b: memref<256x256xbf16>, %d: memref<300x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<300x256xbf16>, memref<256x256xbf16>) outs(%d : memref<300x256xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, stages = 3, cluster = 2x1>, source = "user"}
  return
}
