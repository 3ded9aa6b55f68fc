// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of dgemm-select-schedule that are wrong.
//
// RUN: not dgemm-opt %s --dgemm-select-schedule="device=b200" 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not dgemm-opt %s --dgemm-select-schedule="schedule='tile = 128x64x64, stags = 5'" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not dgemm-opt %s --dgemm-select-schedule="schedule='tile = 128x100x64'" 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not dgemm-opt %s --dgemm-select-schedule="schedule='tile = 128x128x64, stages = 16'" 2>&1 | FileCheck %s --check-prefix=FIT

// DEVICE: error: option 'device': {{.*}}b200
// FIELD: error: option 'schedule': invalid schedule: {{.*}}the nearest known one is 'stages'
// RULE: error: option 'schedule': illegal schedule:
// FIT: error: 'dgemm.matmul' op schedule cannot be used: shared memory
func.func @f(%a: memref<512x512xbf16>, %d: memref<512x512xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<512x512xbf16>, memref<512x512xbf16>) outs(%d : memref<512x512xbf16>)
  return
}
