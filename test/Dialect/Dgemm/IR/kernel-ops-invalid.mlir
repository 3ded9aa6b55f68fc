// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule of the kernel, its roles and its tile loop.
//
// RUN: dgemm-opt %s --verify-diagnostics --split-input-file

#problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>
// expected-error @+1 {{expected 7 parameters for this problem and schedule, found 2}}
dgemm.kernel @few(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map)
    attributes {problem = #problem, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {}

// -----

#problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>
// expected-error @+1 {{parameter 3: expected 'i32', found 'i64'}}
dgemm.kernel @type(%a: !dgemm.tensor_map, %b: !dgemm.tensor_map, %d: !dgemm.tensor_map, %m: i64, %n: i32, %k: i32, %r: i32)
    attributes {problem = #problem, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {}

// -----

// expected-error @+1 {{requires attribute 'problem'}}
dgemm.kernel @no_problem(%a: i32) attributes {schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {}

// -----

// expected-error @+1 {{expected valid '@'-identifier for symbol name}}
dgemm.kernel "name"() {}

// -----

// expected-error @+1 {{expected '('}}
dgemm.kernel @no_list {}

// -----

// expected-error @+1 {{expected ':'}}
dgemm.kernel @no_type(%a) {}

// -----

// expected-error @+1 {{role must be producer or consumer, found observer}}
dgemm.role observer registers 40 {}

// -----

// expected-error @+1 {{a producer region takes no arguments}}
dgemm.role producer registers 40 (%wg) {}

// -----

// expected-error @+1 {{a consumer region takes the warpgroup's number (i32)}}
"dgemm.role"() <{role = "consumer", registers = 232 : i32}> ({
^bb0:
  %c0 = arith.constant 0 : i32
}) : () -> ()

// -----

// expected-error @+1 {{a consumer region takes the warpgroup's number (i32)}}
"dgemm.role"() <{role = "consumer", registers = 232 : i32}> ({
^bb0(%wg: i64):
  %c0 = arith.constant 0 : i32
}) : () -> ()

// -----

// expected-error @+1 {{registers must be 0 or a multiple of 8 between 24 and 240, found 16}}
dgemm.role consumer registers 16 (%wg) {}

// -----

// expected-error @+1 {{registers must be 0 or a multiple of 8 between 24 and 240, found 248}}
dgemm.role consumer registers 248 (%wg) {}

// -----

// expected-error @+1 {{registers must be 0 or a multiple of 8 between 24 and 240, found 100}}
dgemm.role consumer registers 100 (%wg) {}

// -----

// expected-error @+1 {{expected 'registers'}}
dgemm.role consumer 40 (%wg) {}

// -----

// expected-error @+1 {{expected valid keyword}}
dgemm.role "consumer" registers 40 {}

// -----

// expected-error @+1 {{expected integer value}}
dgemm.role consumer registers many (%wg) {}

// -----

// expected-error @+1 {{expected ')'}}
dgemm.role consumer registers 40 (%wg, %other) {}

// -----

// expected-error @+1 {{name must consist of letters, digits and _ and not begin with a digit, found a.b}}
dgemm.kernel @a.b(%a: i32) attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {}

// -----

// expected-error @+1 {{name must consist of letters, digits and _ and not begin with a digit, found 1st}}
dgemm.kernel @"1st"(%a: i32) attributes {problem = #dgemm.problem<nt, 256x256x256, a = bf16, b = bf16, d = bf16>, schedule = #dgemm.schedule<tile = 128x128x64>, source = "user"} {}
