// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What the pipeline refuses: targets, schedules, problems without a kernel.
//
// RUN: not dgemm-opt %s --dgemm-compile-pipeline="chip=sm_80" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not dgemm-opt %s --dgemm-compile-pipeline="ptx=60" 2>&1 | FileCheck %s --check-prefix=PTX
// RUN: not dgemm-opt %s --dgemm-compile-pipeline="schedule='tile = 100x128x64'" 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not dgemm-opt %s --dgemm-compile-pipeline="schedule='tile = 128x128'" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not dgemm-opt %s --dgemm-compile-pipeline="schedule='tile = 128x128x64, stages = 16'" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not dgemm-opt %s --dgemm-compile-pipeline="level=nvvm" 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not dgemm-opt %s --dgemm-compile-pipeline="stop-after=ptx" 2>&1 | FileCheck %s --check-prefix=LEVEL

// CHIP: sm_80
// PTX: 60
// SCHEDULE: tile M{{.*}}100
// SYNTAX: error: {{.*}}tile
// MEMORY: shared memory: {{[0-9]+}} bytes used, {{[0-9]+}} available
// OPTION: no such option level
// LEVEL: ptx
func.func @gemm(%a: memref<256x512xbf16>, %d: memref<256x256xbf16>) {
  dgemm.matmul nt ins(%a, %a : memref<256x512xbf16>, memref<256x512xbf16>) outs(%d : memref<256x256xbf16>)
  return
}
