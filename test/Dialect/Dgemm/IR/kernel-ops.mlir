// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel and its tile-level ops: custom form, generic form, bytecode.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

!a = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!scales = !dgemm.tile<1x128xf32>
!acc = !dgemm.fragment<128x128xf32>
#problem = #dgemm.problem<nt, ?x256x256, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>

// CHECK-LABEL: dgemm.kernel @tile_level
// CHECK-SAME: (%[[A:.*]]: !dgemm.tensor_map, %{{.*}}: !dgemm.tensor_map, %{{.*}}: !dgemm.tensor_map, %{{.*}}: !dgemm.tensor_map, %{{.*}}: !dgemm.tensor_map, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32)
// CHECK-SAME: attributes {problem = #dgemm.problem<nt, ?x256x256,
// CHECK-SAME: schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "model"}
// GENERIC: "dgemm.kernel"() <{problem = #dgemm.problem
dgemm.kernel @tile_level(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %last_a: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map,
                         %sb: !llvm.ptr<1>, %ldsb: i64, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #problem, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "model"} {
  // CHECK-NEXT: dgemm.tiles (%{{.*}}, %{{.*}}) shares(%[[FIRST:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %[[PLACE:.*]]) {
  // GENERIC: "dgemm.tiles"() <{lanes = 1 : i32, operandSegmentSizes = array<i32: 0, 0>, shares}>
  dgemm.tiles (%m0, %n0) shares(%first, %end, %part, %parts, %place) {
    // CHECK-NEXT: arith.addi %[[FIRST]], %[[PLACE]]
    %sum = arith.addi %first, %place : i32
    dgemm.next
  }
  // CHECK: dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) {
  // GENERIC: "dgemm.tiles"() <{lanes = 1 : i32, operandSegmentSizes = array<i32: 0, 0>}>
  dgemm.tiles (%m0, %n0) {
    // CHECK-NEXT: %[[ZERO:.*]] = dgemm.zero : <128x128xf32>
    %zero = dgemm.zero : !acc
    // CHECK-NEXT: %[[KB:.*]] = dgemm.k_blocks : i32
    %kb = dgemm.k_blocks : i32
    // CHECK-NEXT: %[[TA:.*]] = dgemm.load "a"{{ ?}}[%[[M0]], %[[KB]]] : <128x128xf8E4M3FN, swizzle = 128>
    %ta = dgemm.load "a" [%m0, %kb] : !a
    // CHECK-NEXT: %[[TB:.*]] = dgemm.load "b"{{ ?}}[%[[N0]], %[[KB]]]
    %tb = dgemm.load "b" [%n0, %kb] : !a
    // CHECK-NEXT: %[[TS:.*]] = dgemm.load "scale_a"{{ ?}}[%[[M0]], %[[KB]]] : <1x128xf32>
    %ts = dgemm.load "scale_a" [%m0, %kb] : !scales
    // CHECK-NEXT: %[[P:.*]] = dgemm.tile_mma %[[TA]], %[[TB]] : <128x128xf8E4M3FN, swizzle = 128>, <128x128xf8E4M3FN, swizzle = 128> -> <128x128xf32>
    %p = dgemm.tile_mma %ta, %tb : !a, !a -> !acc
    // CHECK-NEXT: %[[Q:.*]] = dgemm.tile_mma %[[TA]], %[[TB]], %[[P]] : {{.*}} -> <128x128xf32>
    %q = dgemm.tile_mma %ta, %tb, %p : !a, !a -> !acc
    // CHECK-NEXT: %[[R:.*]] = dgemm.tile_promote %[[ZERO]], %[[P]] at{{ ?}}[%[[M0]], %[[N0]], %[[KB]]] : <128x128xf32>
    %r = dgemm.tile_promote %zero, %p at [%m0, %n0, %kb] : !acc
    // CHECK-NEXT: %[[S:.*]] = dgemm.tile_promote %[[R]], %[[Q]] at{{ ?}}[%[[M0]], %[[N0]], %[[KB]]] row_scales %[[TS]] : !dgemm.tile<1x128xf32> : <128x128xf32>
    %s = dgemm.tile_promote %r, %q at [%m0, %n0, %kb] row_scales %ts : !scales : !acc
    // CHECK-NEXT: dgemm.tile_store %[[S]] at{{ ?}}[%[[M0]], %[[N0]]] : !dgemm.fragment<128x128xf32>
    dgemm.tile_store %s at [%m0, %n0] : !acc
    // CHECK-NEXT: dgemm.next{{$}}
    dgemm.next
  }
}

// CHECK-LABEL: dgemm.kernel @roles
// CHECK-SAME: smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768{{ ?}}(boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>
dgemm.kernel @roles(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>,
                smem = #dgemm.smem_plan<a = 0 step 16384, b = 65536 step 16384, scale_a = 131072 step 0, store = 131072 size 32768
                  (boxes = 2 at_once 2 of 8192 bytes columns = 64), barriers = 163840 size 64, reduce = 0 part 0, total = 163904>,
                source = "user", note = "kept"} {
  // CHECK: dgemm.role producer registers 40 attributes {note} {
  // CHECK-NEXT: arith.constant
  dgemm.role producer registers 40 attributes {note} {
    %c0 = arith.constant 0 : i32
  }
  // CHECK: dgemm.role producer registers 240 {
  // CHECK-NEXT: }
  dgemm.role producer registers 240 {}
  // CHECK: dgemm.role consumer registers 0 (%[[WG:.*]]) {
  // GENERIC: "dgemm.role"() <{registers = 0 : i32, role = "consumer"}>
  dgemm.role consumer registers 0 (%wg) {
    // CHECK-NEXT: %[[X:.*]] = arith.constant 7
    %x = arith.constant 7 : i32
    // CHECK-NEXT: %[[F:.*]] = dgemm.zero
    %f = dgemm.zero : <64x128xf32>
    // CHECK-NEXT: %[[T:.*]]:2 = dgemm.tiles (%[[M0:.*]], %[[N0:.*]]) lane %[[WG]] of 2 iter_args(%[[S:.*]] = %[[X]] : i32, %[[P:.*]] = %[[X]] : i32) attributes {note} {
    // GENERIC: "dgemm.tiles"(%{{.*}}, %{{.*}}, %{{.*}}) <{lanes = 2 : i32, operandSegmentSizes = array<i32: 2, 1>}>
    %t:2 = dgemm.tiles (%m0, %n0) lane %wg of 2 iter_args(%s = %x : i32, %p = %x : i32) attributes {note} {
      // CHECK-NEXT: dgemm.tile_store %[[F]], %[[F]] at{{ ?}}[%[[M0]], %[[N0]]] of %[[WG]] : !dgemm.fragment<64x128xf32>, !dgemm.fragment<64x128xf32>
      dgemm.tile_store %f, %f at [%m0, %n0] of %wg : !dgemm.fragment<64x128xf32>, !dgemm.fragment<64x128xf32>
      // CHECK-NEXT: dgemm.next %[[P]], %[[S]] : i32, i32
      dgemm.next %p, %s : i32, i32
    }
    // CHECK: dgemm.tiles (%{{.*}}, %{{.*}}) iter_args(%{{.*}} = %[[T]]#1 : i32) {
    %u = dgemm.tiles (%m0, %n0) iter_args(%s = %t#1 : i32) {
      dgemm.next %s : i32
    }
  }
}
