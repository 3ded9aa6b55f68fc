// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Scheduled matmuls become kernels on whole tiles and launches; ops around
// them stay, and so does a module without any.
//
// RUN: dgemm-opt %s --dgemm-create-kernel | FileCheck %s
// RUN: dgemm-opt %s --dgemm-create-kernel --dgemm-create-kernel | FileCheck %s
// RUN: echo "module {}" | dgemm-opt --dgemm-create-kernel | FileCheck %s --check-prefix=EMPTY

// EMPTY: module {
// EMPTY-NEXT: }

// CHECK-LABEL: func @proj
// CHECK-SAME: (%[[A:.*]]: tensor<?x256xbf16>, %[[B:.*]]: tensor<128x256xbf16>, %[[D:.*]]: tensor<?x128xbf16>, %[[X:.*]]: f32)
func.func @proj(%a: tensor<?x256xbf16>, %b: tensor<128x256xbf16>, %d: tensor<?x128xbf16>, %x: f32) -> (tensor<?x128xbf16>, f32) {
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
  %y = arith.addf %x, %x : f32
  // CHECK-NEXT: %[[R:.*]] = dgemm.launch @proj_kernel ins(%[[A]], %[[B]] : {{.*}}) outs(%[[D]] : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  %r = dgemm.matmul nt ins(%a, %b : tensor<?x256xbf16>, tensor<128x256xbf16>) outs(%d : tensor<?x128xbf16>) -> tensor<?x128xbf16>
    {schedule = #dgemm.schedule<tile = 128x128x64>, source = "tuned"}
  // CHECK-NEXT: return %[[R]], %[[Y]]
  return %r, %y : tensor<?x128xbf16>, f32
}

// A name that is taken gets a number; who chose is "user" when nothing says.
func.func private @twice_kernel()
// CHECK-LABEL: func @twice
// CHECK-NEXT: dgemm.launch @twice_kernel_0 ins(
// CHECK-NEXT: dgemm.launch @twice_kernel_1 ins(
// CHECK-SAME: acc(
func.func @twice(%a: memref<256x256xbf16>, %d: memref<256x256xf32>) {
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xf32>)
    {schedule = #dgemm.schedule<tile = 128x128x64, store = vector>}
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) acc(%d : memref<256x256xf32>) outs(%d : memref<256x256xf32>)
    {schedule = #dgemm.schedule<tile = 128x128x64, store = vector>}
  return
}

// One kernel for each row of a table.
// CHECK-LABEL: func @table
// CHECK-NEXT: dgemm.launch [M upto 64 : @table_kernel_0, _ : @table_kernel_1] ins(
// CHECK-SAME: scales(
func.func @table(%a: memref<?x256xf8E4M3FN>, %b: memref<256x256xf8E5M2>, %sa: memref<2x?xf32>, %sb: memref<2x2xf32>, %d: memref<?x256xbf16>) {
  dgemm.matmul nt ins(%a, %b : memref<?x256xf8E4M3FN>, memref<256x256xf8E5M2>)
    scales(%sa by 1x128 mn_major, %sb by 128x128 : memref<2x?xf32>, memref<2x2xf32>) outs(%d : memref<?x256xbf16>)
    {schedule = #dgemm.dispatch<[M upto 64 : #dgemm.schedule<tile = 64x128x128, consumers = 1 cooperative, regs = [0, 0], promote = 128>,
                                 _ : #dgemm.schedule<tile = 128x128x128, promote = 128> from "tuned"]>, source = "model"}
  return
}

// CHECK-LABEL: dgemm.kernel @proj_kernel(
// CHECK-SAME: attributes {problem = #dgemm.problem<nt, ?x128x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "tuned"}
// Nothing is read or written before the kernels in front have finished.
// CHECK-NEXT: dgemm.grid_wait
// CHECK-NEXT: dgemm.grid_launch
// CHECK-NEXT: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) {
// CHECK-NEXT: %[[ZERO:.*]] = dgemm.zero : <128x128xf32>
// CHECK: %[[BLOCKS:.*]] = dgemm.k_blocks
// CHECK-NEXT: %[[LOOP:.*]] = scf.for %[[KB:[^ ]*]] = %c0{{.*}} to %[[BLOCKS]] step %c1{{.*}} iter_args(%[[SUM:[^ ]*]] = %[[ZERO]])
// CHECK-NEXT: %[[TA:.*]] = dgemm.load "a"{{ ?}}[%[[M0]], %[[KB]]] : <128x64xbf16, swizzle = 128>
// CHECK-NEXT: %[[TB:.*]] = dgemm.load "b"{{ ?}}[%[[N0]], %[[KB]]] : <128x64xbf16, swizzle = 128>
// CHECK-NEXT: %[[Y:.*]] = dgemm.tile_mma %[[TA]], %[[TB]], %[[SUM]]
// CHECK-NEXT: scf.yield %[[Y]]
// CHECK: dgemm.tile_store %[[LOOP]] at{{ ?}}[%[[M0]], %[[N0]]] : !dgemm.fragment<128x128xf32>
// CHECK-NEXT: dgemm.next{{$}}
// CHECK-NOT: dgemm.cluster_sync

// D and C as pointers with their strides: nothing of D goes by TMA.
// CHECK-LABEL: dgemm.kernel @twice_kernel_0(
// CHECK-SAME: %{{[^:]*}}: !dgemm.tensor_map, %{{[^:]*}}: !dgemm.tensor_map, %{{[^:]*}}: !llvm.ptr<1>, %{{[^:]*}}: i64, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32)
// CHECK-SAME: source = "user"}
// CHECK-LABEL: dgemm.kernel @twice_kernel_1(
// CHECK-SAME: !llvm.ptr<1>, %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr<1>, %{{[^:]*}}: i64,
// CHECK-SAME: accumulate>
// CHECK-LABEL: dgemm.kernel @table_kernel_0(
// CHECK-SAME: b = f8E5M2
// CHECK-SAME: schedule = #dgemm.schedule<tile = 64x128x128, consumers = 1 cooperative{{.*}}source = "model"
// CHECK: dgemm.load "b"{{ ?}}[%{{.*}}] : <128x128xf8E5M2, swizzle = 128>
// CHECK-LABEL: dgemm.kernel @table_kernel_1(
// CHECK-SAME: schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "tuned"

// Stream-K: the tile loop says which K steps of the tile are this CTA's.
// CHECK-LABEL: dgemm.kernel @dealt_kernel(
// CHECK: dgemm.tiles (%{{.*}}, %{{.*}}) shares(%[[FIRST:.*]], %[[END:.*]], %{{.*}}, %{{.*}}, %{{.*}}) {
// CHECK-NOT: dgemm.k_blocks
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step
func.func @dealt(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64, split_k = 4 stream_k>}
  return
}

// CTAs that share a tile end together.
// CHECK-LABEL: dgemm.kernel @shared_kernel(
// CHECK: dgemm.next
// CHECK-NEXT: }
// CHECK-NEXT: dgemm.cluster_sync
// CHECK-NEXT: }
func.func @shared(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>)
    {schedule = #dgemm.schedule<tile = 64x128x64, consumers = 1 cooperative, regs = [0, 0], cluster = 2x1 multicast b>}
  return
}
