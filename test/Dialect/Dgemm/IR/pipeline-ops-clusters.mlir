// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What multicast, dynamic tiles and dependent launches add to the kernel ops:
// custom form, generic form, bytecode.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

!t = !dgemm.tile<64x64xbf16, swizzle = 128>
!ring = !dgemm.ring<3 x [!t, !t]>

// CHECK-LABEL: func @multicast
// CHECK-SAME: (%[[MAP:.*]]: !dgemm.tensor_map, %[[I:.*]]: i32)
func.func @multicast(%map: !dgemm.tensor_map, %i: i32) {
  // One CTA alone is not printed.
  // CHECK-NEXT: dgemm.ring consumers 2 : <3 x
  %alone = dgemm.ring consumers 2 : !ring
  // CHECK-NEXT: %[[RING:.*]] = dgemm.ring consumers 2 ctas 4 : <3 x
  %ring = dgemm.ring consumers 2 ctas 4 : !ring
  // CHECK-NEXT: dgemm.tma_load %[[MAP]]{{ ?}}[%[[I]], %[[I]]] to %[[RING]]{{ ?}}[%[[I]]] member 1 part %[[I]] of 4 :
  dgemm.tma_load %map[%i, %i] to %ring[%i] member 1 part %i of 4 : !ring
  // CHECK-NEXT: dgemm.tma_load %[[MAP]]{{ ?}}[%[[I]]] to %[[RING]]{{ ?}}[%[[I]]] member 0 part %[[I]] of 2 {hint = "evict_first"} :
  dgemm.tma_load %map[%i] to %ring[%i] member 0 part %i of 2 {hint = "evict_first"} : !ring
  // CHECK-NEXT: dgemm.cluster_sync{{$}}
  dgemm.cluster_sync
  return
}

// CHECK-LABEL: func @launches
func.func @launches() {
  // CHECK-NEXT: dgemm.grid_wait{{$}}
  dgemm.grid_wait
  // CHECK-NEXT: dgemm.grid_launch{{$}}
  dgemm.grid_launch
  return
}

// CHECK-LABEL: func @queue
// CHECK-SAME: (%[[WG:.*]]: i32)
func.func @queue(%wg: i32) {
  // CHECK-NEXT: dgemm.tile_queue consumers 2{{$}}
  dgemm.tile_queue consumers 2
  // CHECK-NEXT: dgemm.tiles (%{{.*}}, %{{.*}}) attributes {numbers = "fetch"} {
  dgemm.tiles (%m0, %n0) attributes {numbers = "fetch"} {
    dgemm.next
  }
  // CHECK: %{{.*}} = dgemm.tiles (%{{.*}}, %{{.*}}) lane %[[WG]] of 2 iter_args(%{{.*}} = %[[WG]] : i32) attributes {numbers = "receive"} {
  %r = dgemm.tiles (%m0, %n0) lane %wg of 2 iter_args(%x = %wg : i32) attributes {numbers = "receive"} {
    dgemm.next %x : i32
  }
  return
}
