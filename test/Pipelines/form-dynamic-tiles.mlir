// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Dynamic tiles: the producer takes numbers from the counter in the workspace
// and queues them, every warp of a consumer takes them from the queue.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: dgemm.kernel @dynamic_kernel
// CHECK: dgemm.tile_queue consumers 2
// CHECK-NEXT: dgemm.ring consumers 2
// CHECK: dgemm.role producer
// CHECK: dgemm.tiles {{.*}} attributes {numbers = "fetch"}
// CHECK: dgemm.role consumer
// CHECK: dgemm.tiles {{.*}} attributes {numbers = "receive"}

// 2 x 3 tiles.
// NVVM-LABEL: llvm.func @dynamic_kernel
// NVVM-SAME: %[[COUNTER:[^:, ]*]]: !llvm.ptr<1>, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32)
// NVVM-SAME: \22operand\22: \22workspace\22
// NVVM-SAME: \22per_tile\22: 0,\0A \22per_cta\22: 0,\0A \22fixed\22: 16\0A
// NVVM: %[[CTAS:.*]] = nvvm.read.ptx.sreg.nctaid.x
// NVVM: %[[LAST:.*]] = arith.addi %[[CTAS]], %c5_i32
// NVVM: scf.while
// NVVM: %[[NUMBER:.*]] = llvm.atomicrmw add %[[COUNTER]], %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i32
// Whoever is told the last number that anyone asks for resets the counter.
// NVVM: %[[IS:.*]] = arith.cmpi eq, %[[NUMBER]], %[[LAST]]
// NVVM: scf.if %[[IS]] {
// NVVM-NEXT: llvm.atomicrmw xchg %[[COUNTER]], %c0_i32 syncscope("device") monotonic
// NVVM: nvvm.mbarrier.try_wait.parity
// NVVM: llvm.store %[[NUMBER]], %{{.*}} : i32, !llvm.ptr<3>
// NVVM: nvvm.mbarrier.arrive
// NVVM: %[[MORE:.*]] = arith.cmpi ult, %[[NUMBER]], %c6_i32
// NVVM: scf.condition(%[[MORE]])
// NVVM: nvvm.setmaxregister increase
// NVVM: scf.while
// NVVM: nvvm.mbarrier.try_wait.parity
// NVVM: %[[READ:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// NVVM: %[[UNIFORM:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[READ]]
// NVVM: nvvm.mbarrier.arrive
// NVVM: arith.cmpi ult, %[[UNIFORM]], %c6_i32
// NVVM: scf.condition
func.func @dynamic(%a: memref<256x256xbf16>, %b: memref<384x256xbf16>, %d: memref<256x384xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<256x256xbf16>, memref<384x256xbf16>) outs(%d : memref<256x384xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, stages = 3, tiles = dynamic>, source = "user"}
  return
}

// In ping-pong the end is queued for each of the two.
// CHECK-LABEL: dgemm.kernel @pingpong_kernel
// CHECK: dgemm.tile_queue consumers 1
// CHECK: dgemm.tiles {{.*}} lane %{{.*}} of 2 {{.*}} attributes {numbers = "receive"}
// NVVM-LABEL: llvm.func @pingpong_kernel
// NVVM: %[[LOOP:.*]]:5 = scf.while
// NVVM: scf.condition
// NVVM: scf.yield
// NVVM: llvm.store %c6_i32, %{{.*}} : i32, !llvm.ptr<3>
// NVVM: nvvm.mbarrier.arrive
// NVVM: nvvm.setmaxregister increase
func.func @pingpong(%a: memref<256x256xbf16>, %b: memref<384x256xbf16>, %d: memref<256x384xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<256x256xbf16>, memref<384x256xbf16>) outs(%d : memref<256x384xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, consumers = 2 pingpong, stages = 3, tiles = dynamic>, source = "user"}
  return
}
