// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems and schedules that have no kernel are refused with the reason.
//
// RUN: dgemm-opt %s --dgemm-create-kernel --verify-diagnostics --split-input-file

func.func @undecided(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{has no schedule; run dgemm-select-schedule or give the op a schedule attribute}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>)
  return
}

// -----

func.func @undecided_row(%a: memref<?x256xbf16>, %b: memref<256x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @+1 {{has an undecided row in its dispatch table; run dgemm-select-schedule}}
  dgemm.matmul nt ins(%a, %b : memref<?x256xbf16>, memref<256x256xbf16>) outs(%d : memref<?x256xbf16>)
    {schedule = #dgemm.dispatch<[M upto 64 : undecided, _ : #dgemm.schedule<tile = 128x128x64>]>}
  return
}

// -----

func.func @layout(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{layout nn has no kernel yet; only nt (A[M,K], B[N,K]) has}}
  dgemm.matmul nn ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x64>}
  return
}

// -----

func.func @element(%a: memref<256x256xf16>, %d: memref<256x256xf32>) {
  // expected-error @+1 {{element type f16 has no kernel yet; bf16, f8E4M3FN and f8E5M2 have}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xf16>, memref<256x256xf16>) outs(%d : memref<256x256xf32>) {schedule = #dgemm.schedule<tile = 128x128x64>}
  return
}

// -----

func.func @integers(%a: memref<256x256xi8>, %d: memref<256x256xi32>) {
  // expected-error @+1 {{element type i8 has no kernel yet; bf16, f8E4M3FN and f8E5M2 have}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xi8>, memref<256x256xi8>) outs(%d : memref<256x256xi32>) {schedule = #dgemm.schedule<tile = 128x128x128>}
  return
}

// -----

func.func @result(%a: memref<256x256xf8E4M3FN>, %s: memref<f32>, %d: memref<256x256xf16>) {
  // expected-error @+1 {{result type f16 has no kernel yet; bf16 and f32 have}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xf8E4M3FN>, memref<256x256xf8E4M3FN>) scales(%s by tensor, %s by tensor : memref<f32>, memref<f32>)
    outs(%d : memref<256x256xf16>) {schedule = #dgemm.schedule<tile = 128x128x128>}
  return
}

// -----

func.func @one_sided(%a: memref<256x256xf8E4M3FN>, %s: memref<f32>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{scales on one operand only have no kernel yet; give both or none}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xf8E4M3FN>, memref<256x256xf8E4M3FN>) scales(%s by tensor, _ : memref<f32>)
    outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x128>}
  return
}

// -----

func.func @scale_type(%a: memref<256x256xf8E4M3FN>, %s: memref<f8E8M0FNU>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{scales of type f8E8M0FNU have no kernel yet; f32 has}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xf8E4M3FN>, memref<256x256xf8E4M3FN>) scales(%s by tensor, %s by tensor : memref<f8E8M0FNU>, memref<f8E8M0FNU>)
    outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x128>}
  return
}

// -----

func.func @recipe(%a: memref<256x256xf8E4M3FN>, %sa: memref<256xf32>, %sb: memref<2x2xf32>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{this pair of scale blocks has no kernel yet; 1x128 with 128x128 (k_major) and any of tensor and row have}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xf8E4M3FN>, memref<256x256xf8E4M3FN>) scales(%sa by row, %sb by 128x128 : memref<256xf32>, memref<2x2xf32>)
    outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x128>}
  return
}

// -----

func.func @promotion(%a: memref<256x256xf8E4M3FN>, %sa: memref<256x2xf32>, %sb: memref<2x2xf32>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{scales that change along K need promote = 128 (tileK), found 0}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xf8E4M3FN>, memref<256x256xf8E4M3FN>) scales(%sa by 1x128, %sb by 128x128 : memref<256x2xf32>, memref<2x2xf32>)
    outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x128>}
  return
}

// -----

func.func @scale_depth(%a: memref<256x256xf8E4M3FN>, %sa: memref<256x2xf32>, %sb: memref<2x2xf32>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{the scale blocks along K (128) must equal tileK (64)}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xf8E4M3FN>, memref<256x256xf8E4M3FN>) scales(%sa by 1x128, %sb by 128x128 : memref<256x2xf32>, memref<2x2xf32>)
    outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x64, promote = 64, swizzle = [64, 64, 128]>}
  return
}

// -----

func.func @epilogue(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{has an epilogue region, which has no kernel yet; apply the epilogue in an op of its own}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x64>}
    epilogue (%acc: f32) {
      dgemm.yield %acc : f32
    }
  return
}

// -----

func.func @split_of_blocks(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
  // expected-error @+1 {{split_k cluster is realised only for one tile a cluster: cluster = 1x1, found 2x1}}
  dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>)
    {schedule = #dgemm.schedule<tile = 64x64x64, consumers = 1 cooperative, regs = [0, 0], split_k = 2 cluster, cluster = 2x1, store = vector, persistent = false>}
  return
}

// -----

// One bad row of a table refuses the op.
func.func @row(%a: memref<?x256xbf16>, %b: memref<256x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @+1 {{promote must be tileK (64) or 0, found 128}}
  dgemm.matmul nt ins(%a, %b : memref<?x256xbf16>, memref<256x256xbf16>) outs(%d : memref<?x256xbf16>)
    {schedule = #dgemm.dispatch<[M upto 64 : #dgemm.schedule<tile = 128x128x64, promote = 128>, _ : #dgemm.schedule<tile = 128x128x64>]>, source = "user"}
  return
}

// -----

module @inner {
  module @innermost {
    func.func @nested(%a: memref<256x256xbf16>, %d: memref<256x256xbf16>) {
      // expected-error @+1 {{stands in a symbol table of its own, from where its launch cannot name a kernel of the outer module}}
      dgemm.matmul nt ins(%a, %a : memref<256x256xbf16>, memref<256x256xbf16>) outs(%d : memref<256x256xbf16>) {schedule = #dgemm.schedule<tile = 128x128x64>}
      return
    }
  }
}

// -----

// Rows of A that are not loaded would be stored.
func.func @load_rows(%a: memref<?x256xbf16>, %b: memref<256x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @+1 {{row 0 of the table loads 16 rows of A (load_rows), but is taken for M up to 24}}
  dgemm.matmul nt ins(%a, %b : memref<?x256xbf16>, memref<256x256xbf16>) outs(%d : memref<?x256xbf16>)
    {schedule = #dgemm.dispatch<[M upto 24 : #dgemm.schedule<tile = 128x128x64, load_rows = 16>, _ : #dgemm.schedule<tile = 128x128x64>]>, source = "user"}
  return
}

// -----

func.func @load_rows_last(%a: memref<?x256xbf16>, %b: memref<256x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @+1 {{row 1 of the table loads 64 rows of A (load_rows), but is taken for M up to any size}}
  dgemm.matmul nt ins(%a, %b : memref<?x256xbf16>, memref<256x256xbf16>) outs(%d : memref<?x256xbf16>)
    {schedule = #dgemm.dispatch<[M upto 16 : #dgemm.schedule<tile = 128x128x64, load_rows = 16>, _ : #dgemm.schedule<tile = 128x128x64, load_rows = 64>]>, source = "user"}
  return
}
