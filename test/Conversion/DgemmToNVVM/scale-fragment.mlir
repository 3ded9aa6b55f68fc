// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's values of 8 columns are its upper row's pair, then its lower row's:
// each is multiplied by its row's scale, then by its column's.
//
// RUN: dgemm-opt %s --convert-dgemm-to-nvvm --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @scales
// CHECK: %[[U:.*]] = llvm.load volatile %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: %[[L:.*]] = llvm.load volatile %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: %[[C0:.*]] = llvm.load volatile %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: %[[C1:.*]] = llvm.load volatile %{{.*}} : !llvm.ptr<1> -> f32
// CHECK: %[[V0:.*]] = llvm.extractvalue %[[X:.*]][0]
// CHECK: %[[V1:.*]] = llvm.extractvalue %[[X]][1]
// CHECK: %[[V2:.*]] = llvm.extractvalue %[[X]][2]
// CHECK: %[[V3:.*]] = llvm.extractvalue %[[X]][3]
// CHECK: %[[R0:.*]] = arith.mulf %[[V0]], %[[U]]
// CHECK: arith.mulf %[[R0]], %[[C0]]
// CHECK: %[[R1:.*]] = arith.mulf %[[V1]], %[[U]]
// CHECK: arith.mulf %[[R1]], %[[C1]]
// CHECK: %[[R2:.*]] = arith.mulf %[[V2]], %[[L]]
// CHECK: arith.mulf %[[R2]], %[[C0]]
// CHECK: %[[R3:.*]] = arith.mulf %[[V3]], %[[L]]
// CHECK: arith.mulf %[[R3]], %[[C1]]
// CHECK-NOT: arith.mulf
dgemm.kernel @scales(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !llvm.ptr<1>, %ldd: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 64x8x64, a = bf16, b = bf16, d = f32>, schedule = #dgemm.schedule<tile = 64x8x64, consumers = 1 cooperative, regs = [0, 0], store = vector>, smem = #dgemm.smem_plan<a = 0 step 8192, b = 32768 step 1024, scale_a = 36864 step 0, store = 36864 size 0(boxes = 0 at_once 0 of 0 bytes columns = 0), barriers = 36864 size 64, reduce = 0 part 0, total = 36928>, source = "user"} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c8 = arith.constant 8 : i32
  %flying = dgemm.wgmma_undef : <64x8xf32>
  %x = dgemm.wgmma_wait 0 resolve(%flying : !dgemm.inflight<64x8xf32>) -> (!dgemm.fragment<64x8xf32>)
  %upper = llvm.load volatile %d : !llvm.ptr<1> -> f32
  %lower = llvm.load volatile %d : !llvm.ptr<1> -> f32
  %c_0 = llvm.load volatile %d : !llvm.ptr<1> -> f32
  %c_1 = llvm.load volatile %d : !llvm.ptr<1> -> f32
  %y = dgemm.scale_fragment %x rows(%upper, %lower) cols(%c_0, %c_1) : !dgemm.fragment<64x8xf32>
  dgemm.store_global %y, %d[%c0, %c0] stride %ldd within [%c64, %c8] f32 : !llvm.ptr<1>, !dgemm.fragment<64x8xf32>
}
