// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// split_k … stream_k: the K steps of the tiles that fill no whole wave are
// dealt out over persistent CTAs; the parts of a tile meet in the workspace.
//
// RUN: dgemm-opt %s --dgemm-compile-pipeline="stop-after=kernel" | FileCheck %s
// RUN: dgemm-opt %s --dgemm-compile-pipeline | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: dgemm.kernel @dealt_kernel
// CHECK-SAME: !dgemm.tensor_map, %[[WORKSPACE:[^:,]*]]: !llvm.ptr<1>
// CHECK-SAME: reduce = {{[0-9]+}} part 4
// CHECK: dgemm.role producer
// CHECK: dgemm.tiles (%{{.*}}, %{{.*}}) shares(%[[FIRST:.*]], %[[END:.*]], %{{.*}}, %{{.*}}, %{{.*}}) iter_args
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step
// CHECK: dgemm.tma_load
// CHECK: dgemm.role consumer registers 232{{ ?}}(%[[WG:.*]])
// CHECK: dgemm.tiles (%{{.*}}, %{{.*}}) shares(%[[FIRST:.*]], %[[END:.*]], %[[PART:.*]], %[[PARTS:.*]], %[[PLACE:.*]]) iter_args
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step
// CHECK: %[[DONE:.*]] = dgemm.wgmma_wait 0 resolve
// CHECK: %[[SUM:.*]], %[[LAST:.*]] = dgemm.workspace_reduce %[[DONE]] of %[[WG]] part %[[PART]] of %[[PARTS]] at %[[PLACE]] through %[[WORKSPACE]]
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK: dgemm.stage %[[SUM]]
// CHECK: dgemm.tma_store

// Two parts of a tile for each CTA.
// NVVM-LABEL: llvm.func @dealt_kernel
// NVVM-SAME: \22per_tile\22: 0,{{.*}}\22per_cta\22: 131072,{{.*}}\22fixed\22: 65536
// 2 x 3 tiles: how many waves are whole, and what is left to deal out.
// NVVM: %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
// NVVM: %[[CTAS:.*]] = nvvm.read.ptx.sreg.nctaid.x
// NVVM: %[[WAVES:.*]] = arith.divui %c6{{.*}}, %[[CTAS]]
// NVVM: %[[WHOLE:.*]] = arith.muli %[[WAVES]], %[[CTAS]]
// NVVM: %[[DEALT:.*]] = arith.subi %c6{{.*}}, %[[WHOLE]]
// NVVM: %[[LINE:.*]] = arith.muli %[[DEALT]], %
// No stretch is shorter than a quarter of a tile.
// NVVM: %[[LEAST:.*]] = arith.divui %{{.*}}, %c4
// NVVM: %[[LENGTH:.*]] = arith.maxui %{{.*}}, %[[LEAST]]
// NVVM: %[[START:.*]] = arith.muli %[[CTA]], %[[LENGTH]]
// NVVM: %[[FIRST:.*]] = arith.minui %[[START]], %[[LINE]]
// NVVM: %[[ITEMS:.*]] = arith.addi %{{.*}}, %[[WAVES]]
// NVVM: scf.for %{{.*}} = %c0{{.*}} to %[[ITEMS]] step
// A tile that one CTA has to itself does not touch the workspace.
// NVVM: nvvm.setmaxregister increase
// NVVM: %[[SPLIT:.*]] = arith.cmpi ugt, %{{.*}}, %c1
// NVVM: scf.if %[[SPLIT]]
// NVVM: llvm.store %{{.*}}, %{{.*}} : vector<4xf32>, !llvm.ptr<1>
// NVVM: llvm.atomicrmw add
func.func @dealt(%a: memref<256x256xbf16>, %b: memref<384x256xbf16>, %d: memref<256x384xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<256x256xbf16>, memref<384x256xbf16>) outs(%d : memref<256x384xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, stages = 3, split_k = 4 stream_k>, source = "user"}
  return
}
