// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring that does not fit, with used and available bytes.
//
// RUN: dgemm-opt %s --dgemm-plan-smem --verify-diagnostics --split-input-file

// expected-error @+1 {{shared memory: 540928 bytes used, 232448 available}}
dgemm.kernel @k(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i32, %n: i32, %k: i32, %raster: i32)
    attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64, stages = 16>, source = "user"} {
}
