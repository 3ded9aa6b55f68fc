// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Remarks of category dgemm-schedule: what was chosen and why, what came next,
// and what was turned down.
//
// RUN: dgemm-opt %s --dgemm-select-schedule --remarks-filter="dgemm-schedule" -o /dev/null 2>&1 | FileCheck %s
// RUN: dgemm-opt %s --dgemm-select-schedule --remarks-filter-passed="dgemm-schedule" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PASSED
// RUN: dgemm-opt %s --dgemm-select-schedule --remarks-filter-missed="dgemm-schedule" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: dgemm-opt %s --dgemm-select-schedule -o /dev/null 2>&1 | count 0

// CHECK: remark: [Passed] schedule-chosen | Category:dgemm-schedule | Function=f
// CHECK-SAME: Reason="predicted {{.*}} us, bound by
// CHECK-SAME: chose tile =
// CHECK-SAME: microseconds=
// CHECK: remark: [Analysis] schedule-alternative
// CHECK-SAME: Reason="predicted {{.*}} us
// CHECK-SAME: slower: tile =
// MISSED-NOT: schedule-chosen
// MISSED: [Missed] schedule-rejected | Category:dgemm-schedule | Function=f
// MISSED-SAME: Reason="
// MISSED-SAME: rejected tile =
// PASSED: [Passed] schedule-chosen
// PASSED-NOT: schedule-alternative
func.func @f(%a: memref<4096x4096xbf16>, %d: memref<4096x4096xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<4096x4096xbf16>, memref<4096x4096xbf16>) outs(%d : memref<4096x4096xbf16>)
  return
}

// A decision that stands already is not explained.
// CHECK-NOT: Function=kept
func.func @kept(%a: memref<4096x4096xbf16>, %d: memref<4096x4096xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<4096x4096xbf16>, memref<4096x4096xbf16>) outs(%d : memref<4096x4096xbf16>)
    {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"}
  return
}
