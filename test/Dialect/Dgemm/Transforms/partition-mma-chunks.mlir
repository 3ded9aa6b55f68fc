// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// More K blocks than lanes: one loop over chunks, which reads the scales of the
// next chunk, and in it one over the steps of a chunk, which takes its scales from
// the lanes. Slot, phase and whether the slot has been seen full pass through both.
//
// RUN: dgemm-opt %s --dgemm-partition-mma | FileCheck %s
// RUN: dgemm-opt %s --dgemm-partition-mma --dgemm-partition-mma | FileCheck %s

!a8 = !dgemm.tile<128x128xf8E4M3FN, swizzle = 128>
!ring = !dgemm.ring<4 x [!a8, !a8, !dgemm.tile<1x128xf32>]>
!ring_kmajor = !dgemm.ring<4 x [!a8, !a8]>
!a8x2 = !dgemm.tile<128x256xf8E4M3FN, swizzle = 128>
!ring_blocks = !dgemm.ring<2 x [!a8x2, !a8x2]>

// 129 K blocks: the last chunk has one step, and its other lanes read the last
// block's scale again, as does the chunk behind the last.
// CHECK-LABEL: dgemm.kernel @chunks
// CHECK: %[[RING:.*]] = dgemm.ring
// CHECK: dgemm.tiles ({{.*}}) iter_args(%[[S0:.*]] = %{{.*}} : i32, %[[P0:.*]] = %{{.*}} : i32)
// CHECK: %[[BLOCKS:.*]] = dgemm.k_blocks
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: %[[GROUP:.*]] = arith.addi %{{.*}}, %c0
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[BLOCKS]], %c0
// CHECK-NEXT: %[[FIRST:.*]] = scf.if %[[ANY]] -> (f32) {
// CHECK: dgemm.col_scale %{{.*}}[%[[GROUP]], %{{.*}}] {{.*}} lanes 32 to %[[LAST]] :
// CHECK: %[[ZERO:.*]] = dgemm.zero : <64x128xf32>
// CHECK-NEXT: %[[UNSEEN:.*]] = arith.constant false
// CHECK: %[[CHUNKS:.*]]:5 = scf.for %[[CHUNK:[^ ]*]] = %c0{{[^ ]*}} to %[[BLOCKS]] step %c32{{[^ ]*}} iter_args(%[[SUM0:[^ ]*]] = %[[ZERO]], %[[SLOT0:[^ ]*]] = %[[S0]], %[[PHASE0:[^ ]*]] = %[[P0]], %[[SEEN0:[^ ]*]] = %[[UNSEEN]], %[[HELD:[^ ]*]] = %[[FIRST]])
// CHECK-NEXT: %[[BEHIND:.*]] = arith.addi %[[CHUNK]], %c32
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[BEHIND]], %[[BLOCKS]]
// CHECK: %[[KB:.*]] = arith.muli %[[BEHIND]], %c1
// CHECK: %[[AHEAD:.*]] = dgemm.col_scale %{{.*}}[%[[GROUP]], %[[KB]]] {{.*}} lanes 32 to %[[LAST]] :
// CHECK-NEXT: %[[STEPS:.*]]:4 = scf.for %[[STEP:[^ ]*]] = %[[CHUNK]] to %[[END]] step %c1{{[^ ]*}} iter_args(%[[SUM:[^ ]*]] = %[[SUM0]], %[[SLOT:[^ ]*]] = %[[SLOT0]], %[[PHASE:[^ ]*]] = %[[PHASE0]], %[[SEEN:[^ ]*]] = %[[SEEN0]])
// A lane's number counts from the chunk's first step.
// CHECK-NEXT: %[[WITHIN:.*]] = arith.subi %[[STEP]], %[[CHUNK]]
// CHECK-NOT: dgemm.col_scale
// CHECK: %[[LANE:.*]] = arith.muli %[[WITHIN]], %c1
// CHECK-NOT: dgemm.col_scale
// CHECK: %[[INDEX:.*]] = arith.addi %[[LANE]], %c0
// CHECK-NEXT: %[[COL:.*]] = dgemm.lane_scale %[[HELD]]{{ ?}}[%[[INDEX]]] of 32
// CHECK-NEXT: dgemm.wait %[[RING]]{{ ?}}[%[[SLOT]]] parity %[[PHASE]] unless %[[SEEN]] :
// CHECK: %[[P:.*]] = dgemm.mma
// CHECK: dgemm.release %[[RING]]{{ ?}}[%[[SLOT]]] :
// CHECK-NEXT: %[[NS:.*]], %[[NP:.*]] = dgemm.advance %[[RING]], %[[SLOT]], %[[PHASE]] :
// CHECK-NEXT: %[[SEES:.*]] = dgemm.peek %[[RING]]{{ ?}}[%[[NS]]] parity %[[NP]] :
// CHECK-NEXT: %[[Y:.*]] = dgemm.promote %[[SUM]], %[[P]] rows{{.*}} cols{{ ?}}(%[[COL]]) :
// CHECK-NEXT: scf.yield %[[Y]], %[[NS]], %[[NP]], %[[SEES]] :
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %[[STEPS]]#0, %[[STEPS]]#1, %[[STEPS]]#2, %[[STEPS]]#3, %[[AHEAD]] :
// CHECK-NEXT: }
// CHECK-NEXT: dgemm.tile_store %[[CHUNKS]]#0 at
// CHECK-NEXT: dgemm.next %[[CHUNKS]]#1, %[[CHUNKS]]#2 :
dgemm.kernel @chunks(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64,
                    %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x16512, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %5 = dgemm.slot %0[%slot] member 0 : !ring -> !a8
        %6 = dgemm.slot %0[%slot] member 1 : !ring -> !a8
        %7 = dgemm.slot %0[%slot] member 2 : !ring -> <1x128xf32>
        %8 = dgemm.tile_mma %5, %6 : !a8, !a8 -> <128x128xf32>
        %9 = dgemm.tile_promote %sum, %8 at [%m0, %n0, %kb] row_scales %7 : !dgemm.tile<1x128xf32> : <128x128xf32>
        dgemm.release %0[%slot] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %9, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}

// 32 K blocks are one chunk: no loop over chunks.
// CHECK-LABEL: dgemm.kernel @whole_chunk
// CHECK: dgemm.col_scale {{.*}} lanes 32 to
// CHECK: scf.for {{.*}} step %c1{{[^0-9]}}
// CHECK-NOT: {{scf.for|dgemm.col_scale}}
// CHECK: dgemm.lane_scale
// CHECK-NOT: {{scf.for|dgemm.col_scale}}
// CHECK: dgemm.tile_store
dgemm.kernel @whole_chunk(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64,
                    %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x4096, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %5 = dgemm.slot %0[%slot] member 0 : !ring -> !a8
        %6 = dgemm.slot %0[%slot] member 1 : !ring -> !a8
        %7 = dgemm.slot %0[%slot] member 2 : !ring -> <1x128xf32>
        %8 = dgemm.tile_mma %5, %6 : !a8, !a8 -> <128x128xf32>
        %9 = dgemm.tile_promote %sum, %8 at [%m0, %n0, %kb] row_scales %7 : !dgemm.tile<1x128xf32> : <128x128xf32>
        dgemm.release %0[%slot] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %9, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}

// K is known at run time: any number of chunks.
// CHECK-LABEL: dgemm.kernel @dynamic
// CHECK: %[[BLOCKS:.*]] = dgemm.k_blocks
// CHECK: scf.for %[[CHUNK:[^ ]*]] = {{.*}} to %[[BLOCKS]] step %c32{{[^0-9]}}
// CHECK: dgemm.col_scale {{.*}} lanes 32 to
// CHECK: scf.for {{.*}} = %[[CHUNK]] to
// CHECK: dgemm.lane_scale {{.*}} of 32
dgemm.kernel @dynamic(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %sa: !dgemm.tensor_map, %d: !dgemm.tensor_map, %sb: !llvm.ptr<1>, %ldsb: i64,
                    %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x?, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32 mn_major, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring
        %5 = dgemm.slot %0[%slot] member 0 : !ring -> !a8
        %6 = dgemm.slot %0[%slot] member 1 : !ring -> !a8
        %7 = dgemm.slot %0[%slot] member 2 : !ring -> <1x128xf32>
        %8 = dgemm.tile_mma %5, %6 : !a8, !a8 -> <128x128xf32>
        %9 = dgemm.tile_promote %sum, %8 at [%m0, %n0, %kb] row_scales %7 : !dgemm.tile<1x128xf32> : <128x128xf32>
        dgemm.release %0[%slot] : !ring
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring
        scf.yield %9, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}

// Scales of A, K-major, come from memory: four lanes share a row, hence chunks of
// four K blocks, for B's scales too.
// CHECK-LABEL: dgemm.kernel @k_major
// CHECK: %[[BLOCKS:.*]] = dgemm.k_blocks
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c64
// CHECK-NEXT: %[[GROW:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: %[[FIRST:.*]]:3 = scf.if
// CHECK: dgemm.global_row_scales %{{.*}}[%[[GROW]], %{{.*}}] {{.*}} lanes 4 to %[[LAST]] :
// CHECK: dgemm.col_scale {{.*}} lanes 4 to %[[LAST]] :
// CHECK: %[[CHUNKS:.*]]:7 = scf.for %[[CHUNK:[^ ]*]] = {{.*}} to %[[BLOCKS]] step %c4{{[^0-9].*}}, %[[UP:[^ ]*]] = %[[FIRST]]#0, %[[DOWN:[^ ]*]] = %[[FIRST]]#1, %[[COL:[^ ]*]] = %[[FIRST]]#2)
// CHECK-NEXT: %[[BEHIND:.*]] = arith.addi %[[CHUNK]], %c4
// CHECK: %[[KB:.*]] = arith.muli %[[BEHIND]], %c1
// CHECK: %[[NUP:.*]], %[[NDOWN:.*]] = dgemm.global_row_scales %{{.*}}[%[[GROW]], %[[KB]]] {{.*}} lanes 4 to %[[LAST]] :
// CHECK: %[[NCOL:.*]] = dgemm.col_scale %{{.*}}, %[[KB]]] {{.*}} lanes 4 to %[[LAST]] :
// CHECK-NEXT: %[[STEPS:.*]]:4 = scf.for %{{[^ ]*}} = %[[CHUNK]] to
// CHECK-NOT: dgemm.global_row_scales
// CHECK: %[[U:.*]] = dgemm.lane_scale %[[UP]]{{ ?}}[%{{.*}}] of 4
// CHECK: %[[D:.*]] = dgemm.lane_scale %[[DOWN]]{{ ?}}[%{{.*}}] of 4
// CHECK: %[[C:.*]] = dgemm.lane_scale %[[COL]]{{ ?}}[%{{.*}}] of 4
// CHECK-NEXT: dgemm.wait {{.*}} unless
// CHECK-NOT: {{dgemm.row_scales|dgemm.global_row_scales}}
// CHECK: dgemm.promote {{.*}} rows{{ ?}}(%[[U]], %[[D]]) cols{{ ?}}(%[[C]]) :
// CHECK: scf.yield %[[STEPS]]#0, %[[STEPS]]#1, %[[STEPS]]#2, %[[STEPS]]#3, %[[NUP]], %[[NDOWN]], %[[NCOL]] :
// CHECK: dgemm.tile_store %[[CHUNKS]]#0 at
dgemm.kernel @k_major(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64,
                    %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x16384, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_kmajor
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring_kmajor
        %5 = dgemm.slot %0[%slot] member 0 : !ring_kmajor -> !a8
        %6 = dgemm.slot %0[%slot] member 1 : !ring_kmajor -> !a8
        %8 = dgemm.tile_mma %5, %6 : !a8, !a8 -> <128x128xf32>
        %9 = dgemm.tile_promote %sum, %8 at [%m0, %n0, %kb] : <128x128xf32>
        dgemm.release %0[%slot] : !ring_kmajor
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_kmajor
        scf.yield %9, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}

// Two K blocks in a slot: a chunk of four is two steps, of two lanes each.
// CHECK-LABEL: dgemm.kernel @blocks_of_a_step
// CHECK: scf.for %[[CHUNK:[^ ]*]] = {{.*}} step %c2{{[^0-9].*}}, %[[UP:[^ ]*]] = %{{[^ ]*}}, %{{[^ ]*}} = %{{[^ ]*}}, %{{[^ ]*}} = %{{[^ ]*}})
// CHECK-NEXT: %[[BEHIND:.*]] = arith.addi %[[CHUNK]], %c2
// CHECK: %[[KB:.*]] = arith.muli %[[BEHIND]], %c2
// CHECK: dgemm.global_row_scales %{{.*}}, %[[KB]]] {{.*}} lanes 4 to
// CHECK: scf.for %[[STEP:[^ ]*]] = %[[CHUNK]] to
// CHECK-NEXT: %[[WITHIN:.*]] = arith.subi %[[STEP]], %[[CHUNK]]
// CHECK: %[[LANE:.*]] = arith.muli %[[WITHIN]], %c2
// CHECK: %[[I0:.*]] = arith.addi %[[LANE]], %c0
// CHECK-NEXT: %[[U0:.*]] = dgemm.lane_scale %[[UP]]{{ ?}}[%[[I0]]] of 4
// CHECK: %[[I1:.*]] = arith.addi %[[LANE]], %c1
// CHECK-NEXT: %[[U1:.*]] = dgemm.lane_scale %[[UP]]{{ ?}}[%[[I1]]] of 4
// CHECK: dgemm.wait {{.*}} unless
// CHECK: %[[P0:.*]] = dgemm.mma {{.*}} fresh {k_block = 0 : i32}
// CHECK-NEXT: dgemm.promote %{{.*}}, %[[P0]] rows{{ ?}}(%[[U0]],
// CHECK: %[[P1:.*]] = dgemm.mma {{.*}} fresh {k_block = 1 : i32}
// CHECK: dgemm.peek
// CHECK-NEXT: dgemm.promote %{{.*}}, %[[P1]] rows{{ ?}}(%[[U1]],
dgemm.kernel @blocks_of_a_step(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %sa: !llvm.ptr<1>, %ldsa: i64, %sb: !llvm.ptr<1>, %ldsb: i64,
                    %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x16384, a = f8E4M3FN, b = f8E4M3FN, d = bf16, scale_a = 1x128 f32, scale_b = 128x128 f32>, schedule = #dgemm.schedule<tile = 128x128x128, stages = 2, kblocks_per_stage = 2, promote = 128>, source = "user"} {
  %0 = dgemm.ring consumers 2 : !ring_blocks
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  dgemm.role consumer registers 232 (%wg) {
    %1:2 = dgemm.tiles (%m0, %n0) iter_args(%s0 = %c0_i32 : i32, %p0 = %c0_i32 : i32) {
      %2 = dgemm.zero : <128x128xf32>
      %3 = dgemm.k_blocks : i32
      %4:3 = scf.for %kb = %c0_i32 to %3 step %c1_i32 iter_args(%sum = %2, %slot = %s0, %phase = %p0) -> (!dgemm.fragment<128x128xf32>, i32, i32) : i32 {
        dgemm.wait %0[%slot] parity %phase : !ring_blocks
        %5 = dgemm.slot %0[%slot] member 0 : !ring_blocks -> !a8x2
        %6 = dgemm.slot %0[%slot] member 1 : !ring_blocks -> !a8x2
        %8 = dgemm.tile_mma %5, %6 : !a8x2, !a8x2 -> <128x128xf32>
        %9 = dgemm.tile_promote %sum, %8 at [%m0, %n0, %kb] : <128x128xf32>
        dgemm.release %0[%slot] : !ring_blocks
        %next_slot, %next_phase = dgemm.advance %0, %slot, %phase : !ring_blocks
        scf.yield %9, %next_slot, %next_phase : !dgemm.fragment<128x128xf32>, i32, i32
      }
      dgemm.tile_store %4#0 at [%m0, %n0] : !dgemm.fragment<128x128xf32>
      dgemm.next %4#1, %4#2 : i32, i32
    }
  }
}
