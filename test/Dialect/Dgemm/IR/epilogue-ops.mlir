// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Epilogue ops and barriers between warps: custom form, generic form, bytecode.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: func @registers
// CHECK-SAME: (%[[X:.*]]: !dgemm.fragment<64x88xf32>, %[[S:.*]]: f32, %[[P:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32, %[[L:.*]]: i64)
func.func @registers(%x: !dgemm.fragment<64x88xf32>, %s: f32, %p: !llvm.ptr<1>, %i: i32, %l: i64) {
  // CHECK-NEXT: %[[Y:.*]] = dgemm.scale_fragment %[[X]] rows(%[[S]], %[[S]]) cols(%[[S]]) : <64x88xf32>
  %y = dgemm.scale_fragment %x rows(%s, %s) cols(%s) : !dgemm.fragment<64x88xf32>
  // CHECK-NEXT: %[[Z:.*]] = dgemm.add_global %[[Y]], %[[P]]{{ ?}}[%[[I]], %[[I]]] stride %[[L]] within{{ ?}}[%[[I]], %[[I]]] bf16 : <1>, <64x88xf32>
  // GENERIC: "dgemm.add_global"({{.*}}) <{element_type = bf16}>
  %z = dgemm.add_global %y, %p[%i, %i] stride %l within [%i, %i] bf16 : !llvm.ptr<1>, !dgemm.fragment<64x88xf32>
  // CHECK-NEXT: dgemm.store_global %[[Z]], %[[P]]{{ ?}}[%[[I]], %[[I]]] stride %[[L]] within{{ ?}}[%[[I]], %[[I]]] f32 : <1>, <64x88xf32>
  dgemm.store_global %z, %p[%i, %i] stride %l within [%i, %i] f32 : !llvm.ptr<1>, !dgemm.fragment<64x88xf32>
  return
}

// Scales of rows alone, of all columns, of each column; none is a copy.
// CHECK-LABEL: func @scales
// CHECK-SAME: (%[[X:.*]]: !dgemm.fragment<64x8xf32>, %[[S:.*]]: f32)
func.func @scales(%x: !dgemm.fragment<64x8xf32>, %s: f32) {
  // CHECK-NEXT: dgemm.scale_fragment %[[X]] rows(%[[S]], %[[S]]) : <64x8xf32>
  %0 = dgemm.scale_fragment %x rows(%s, %s) : !dgemm.fragment<64x8xf32>
  // CHECK-NEXT: dgemm.scale_fragment %[[X]] cols(%[[S]]) : <64x8xf32>
  %1 = dgemm.scale_fragment %x cols(%s) : !dgemm.fragment<64x8xf32>
  // CHECK-NEXT: dgemm.scale_fragment %[[X]] rows(%[[S]], %[[S]]) cols(%[[S]], %[[S]]) : <64x8xf32>
  %2 = dgemm.scale_fragment %x rows(%s, %s) cols(%s, %s) : !dgemm.fragment<64x8xf32>
  // CHECK-NEXT: dgemm.scale_fragment %[[X]] : <64x8xf32>
  %3 = dgemm.scale_fragment %x : !dgemm.fragment<64x8xf32>
  return
}

// CHECK-LABEL: func @workspace
// CHECK-SAME: (%[[X:.*]]: !dgemm.fragment<64x88xf32>, %[[P:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32)
func.func @workspace(%x: !dgemm.fragment<64x88xf32>, %p: !llvm.ptr<1>, %i: i32) -> i1 {
  // CHECK-NEXT: %[[PART:.*]] = dgemm.split_part : i32
  %part = dgemm.split_part : i32
  // CHECK-NEXT: %{{.*}}:2, %[[LAST:.*]] = dgemm.workspace_reduce %[[X]], %[[X]] of %[[I]] part %[[PART]] of %[[I]] at %[[I]] through %[[P]] : <1>, !dgemm.fragment<64x88xf32>, !dgemm.fragment<64x88xf32> -> !dgemm.fragment<64x88xf32>, !dgemm.fragment<64x88xf32>
  %sums:2, %last = dgemm.workspace_reduce %x, %x of %i part %part of %i at %i through %p : !llvm.ptr<1>, !dgemm.fragment<64x88xf32>, !dgemm.fragment<64x88xf32> -> !dgemm.fragment<64x88xf32>, !dgemm.fragment<64x88xf32>
  // CHECK-NEXT: return %[[LAST]]
  return %last : i1
}

// CHECK-LABEL: func @boxes
// CHECK-SAME: (%[[X:.*]]: !dgemm.fragment<64x88xf32>, %[[MAP:.*]]: !dgemm.tensor_map, %[[WG:.*]]: i32)
func.func @boxes(%x: !dgemm.fragment<64x88xf32>, %map: !dgemm.tensor_map, %wg: i32) {
  // CHECK-NEXT: dgemm.stage %[[X]] cols 24 width 64 to %[[WG]] box 64 at 0 offset 8192 bf16 : <64x88xf32>
  // GENERIC: "dgemm.stage"({{.*}}) <{box_cols = 64 : i32, col = 24 : i32, element_type = bf16, offset = 8192 : i32, to_col = 0 : i32, width = 64 : i32}>
  dgemm.stage %x cols 24 width 64 to %wg box 64 at 0 offset 8192 bf16 : !dgemm.fragment<64x88xf32>
  // CHECK-NEXT: dgemm.stage %[[X]] cols 80 width 8 to %[[WG]] box 32 at 24 offset 0 f32 : <64x88xf32>
  dgemm.stage %x cols 80 width 8 to %wg box 32 at 24 offset 0 f32 : !dgemm.fragment<64x88xf32>
  // CHECK-NEXT: dgemm.fence_async{{$}}
  dgemm.fence_async
  // CHECK-NEXT: dgemm.warpgroup_barrier %[[WG]]{{$}}
  dgemm.warpgroup_barrier %wg
  // CHECK-NEXT: %{{.*}} = dgemm.is_leader : i1
  %leader = dgemm.is_leader : i1
  // CHECK-NEXT: dgemm.tma_store %[[MAP]]{{ ?}}[%[[WG]], %[[WG]]] from %[[WG]] offset 8192{{$}}
  dgemm.tma_store %map[%wg, %wg] from %wg offset 8192
  // CHECK-NEXT: dgemm.store_commit{{$}}
  dgemm.store_commit
  // CHECK-NEXT: dgemm.store_wait 1 read{{$}}
  dgemm.store_wait 1 read
  // CHECK-NEXT: dgemm.store_wait 0{{$}}
  // GENERIC: "dgemm.store_wait"() <{pending = 0 : i32}>
  dgemm.store_wait 0
  // CHECK-NEXT: dgemm.order_wait %[[WG]]{{$}}
  dgemm.order_wait %wg
  // CHECK-NEXT: dgemm.order_arrive %[[WG]]{{$}}
  dgemm.order_arrive %wg
  // CHECK-NEXT: dgemm.order_arrive %[[WG]] {pending = 1 : i32}
  dgemm.order_arrive %wg {pending = 1 : i32}
  return
}
