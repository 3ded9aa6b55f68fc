// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// One case for each rule of dgemm.matmul's parser and verifier.
//
// RUN: dgemm-opt %s --split-input-file --verify-diagnostics

func.func @layout(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{unknown layout 'tx'; expected nt, nn, tn or tt}}
  %0 = dgemm.matmul tx ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @rank_of_a(%a: tensor<2x64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{operand a: expected rank 2, found 'tensor<2x64x64xbf16>'}}
  %0 = dgemm.matmul nt ins(%a, %d : tensor<2x64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @rank_0(%a: tensor<64x64xbf16>, %b: tensor<bf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{operand b: expected rank 2, found 'tensor<bf16>'}}
  %0 = dgemm.matmul nt ins(%a, %b : tensor<64x64xbf16>, tensor<bf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @unranked(%a: memref<*xbf16>, %d: memref<64x64xbf16>) {
  // expected-error @below {{operand a: expected rank 2, found 'memref<*xbf16>'}}
  dgemm.matmul nt ins(%a, %d : memref<*xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @unranked_result(%a: tensor<64x64xbf16>, %d: tensor<*xbf16>) {
  // expected-error @below {{must be ranked tensor of any type values}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<*xbf16>) -> tensor<*xbf16>
  return
}

// -----

func.func @scalar(%a: f32, %d: tensor<64x64xbf16>) {
  // expected-error @below {{operand #0 must be tensor or memref, but got 'f32'}}
  %0 = dgemm.matmul nt ins(%a, %d : f32, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @mixed(%a: tensor<64x64xbf16>, %d: memref<64x64xbf16>) {
  // expected-error @below {{operand a: expected a memref as d is, found 'tensor<64x64xbf16>'}}
  dgemm.matmul nt ins(%a, %d : tensor<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @shared_memory(%a: memref<64x64xbf16, 3>, %d: memref<64x64xbf16>) {
  // expected-error @below {{operand a: expected global memory (space 0 or 1), found 'memref<64x64xbf16, 3>'}}
  dgemm.matmul nt ins(%a, %d : memref<64x64xbf16, 3>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @workgroup(%a: memref<64x64xbf16>, %d: memref<64x64xbf16, #gpu.address_space<workgroup>>) {
  // expected-error @below {{operand d: expected global memory}}
  dgemm.matmul nt ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16, #gpu.address_space<workgroup>>)
  return
}

// -----

func.func @column_stride(%a: memref<64x64xbf16, strided<[128, 2]>>, %d: memref<64x64xbf16>) {
  // expected-error @below {{operand a: expected stride 1 in the last dimension, found 'memref<64x64xbf16, strided<[128, 2]>>'}}
  dgemm.matmul nt ins(%a, %d : memref<64x64xbf16, strided<[128, 2]>>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @row_stride(%a: memref<64x64xbf16, strided<[32, 1]>>, %d: memref<64x64xbf16>) {
  // expected-error @below {{operand a: expected a row stride of at least the row length 64, found 32}}
  dgemm.matmul nt ins(%a, %d : memref<64x64xbf16, strided<[32, 1]>>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @not_strided(%a: memref<64x64xbf16, affine_map<(i, j) -> (i floordiv 2, j)>>, %d: memref<64x64xbf16>) {
  // expected-error @below {{operand a: expected a strided layout}}
  dgemm.matmul nt ins(%a, %d : memref<64x64xbf16, affine_map<(i, j) -> (i floordiv 2, j)>>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>)
  return
}

// -----

func.func @index_elements(%a: tensor<64x64xindex>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{operand a: expected element type bf16, f16, f32, f8E4M3FN, f8E5M2, i8 or i32, found 'index'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xindex>, tensor<64x64xindex>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @si8_elements(%a: tensor<64x64xsi8>, %d: tensor<64x64xi32>) {
  // expected-error @below {{operand a: expected element type bf16, f16, f32, f8E4M3FN, f8E5M2, i8 or i32, found 'si8'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xsi8>, tensor<64x64xsi8>) outs(%d : tensor<64x64xi32>) -> tensor<64x64xi32>
  return
}

// -----

func.func @f64_elements(%a: tensor<64x64xbf16>, %d: tensor<64x64xf64>) {
  // expected-error @below {{operand d: expected element type bf16, f16, f32, f8E4M3FN, f8E5M2, i8 or i32, found 'f64'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xf64>) -> tensor<64x64xf64>
  return
}

// -----

func.func @mixed_types(%a: tensor<64x64xbf16>, %b: tensor<64x64xf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{operands a and b: expected bf16 x bf16, f16 x f16, i8 x i8 or f8 x f8, found bf16 x f16}}
  %0 = dgemm.matmul nt ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @type_of_d(%a: tensor<64x64xi8>, %d: tensor<64x64xf32>) {
  // expected-error @below {{operand d: expected i32, found f32}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xi8>, tensor<64x64xi8>) outs(%d : tensor<64x64xf32>) -> tensor<64x64xf32>
  return
}

// -----

func.func @size_k(%a: tensor<64x128xbf16>, %b: tensor<64x96xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{size K: expected 128 as in operand a (layout nt), found 96 in operand b}}
  %0 = dgemm.matmul nt ins(%a, %b : tensor<64x128xbf16>, tensor<64x96xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @size_k_nn(%a: tensor<64x128xbf16>, %b: tensor<64x128xbf16>, %d: tensor<64x128xbf16>) {
  // expected-error @below {{size K: expected 128 as in operand a (layout nn), found 64 in operand b}}
  %0 = dgemm.matmul nn ins(%a, %b : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%d : tensor<64x128xbf16>) -> tensor<64x128xbf16>
  return
}

// -----

func.func @size_m(%a: tensor<64x128xbf16>, %b: tensor<64x128xbf16>, %d: tensor<32x64xbf16>) {
  // expected-error @below {{size M: expected 64 as in operand a (layout nt), found 32 in operand d}}
  %0 = dgemm.matmul nt ins(%a, %b : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%d : tensor<32x64xbf16>) -> tensor<32x64xbf16>
  return
}

// -----

func.func @size_m_tn(%a: tensor<64x128xbf16>, %b: tensor<64x128xbf16>, %d: tensor<64x128xbf16>) {
  // expected-error @below {{size M: expected 128 as in operand a (layout tn), found 64 in operand d}}
  %0 = dgemm.matmul tn ins(%a, %b : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%d : tensor<64x128xbf16>) -> tensor<64x128xbf16>
  return
}

// -----

func.func @size_n(%a: tensor<64x128xbf16>, %b: tensor<64x128xbf16>, %d: tensor<64x32xbf16>) {
  // expected-error @below {{size N: expected 64 as in operand b (layout nt), found 32 in operand d}}
  %0 = dgemm.matmul nt ins(%a, %b : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%d : tensor<64x32xbf16>) -> tensor<64x32xbf16>
  return
}

// -----

func.func @shape_of_c(%a: tensor<64x128xbf16>, %c: tensor<64x96xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{size N: expected 64 as in operand b (layout nt), found 96 in operand c}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x128xbf16>, tensor<64x128xbf16>) acc(%c : tensor<64x96xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @type_of_c(%a: tensor<64x128xbf16>, %c: tensor<64x64xf32>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{operand c: expected d's element type 'bf16', found 'f32'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x128xbf16>, tensor<64x128xbf16>) acc(%c : tensor<64x64xf32>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @fp8_layout(%a: tensor<64x64xf8E4M3FN>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{layout: expected nt for 8-bit operands, found nn}}
  %0 = dgemm.matmul nn ins(%a, %a : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @scales_need_fp8(%a: tensor<64x64xbf16>, %s: tensor<f32>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{scale_a, scale_b: expected no scales for operands of type bf16}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) scales(%s by tensor, _ : tensor<f32>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @scale_shape(%a: tensor<300x200xf8E4M3FN>, %s: tensor<300x1xf32>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{operand scale_a: expected shape 300x2, one scale per 1x128 block of the operand, found 'tensor<300x1xf32>'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>) scales(%s by 1x128, _ : tensor<300x1xf32>) outs(%d : tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @scale_shape_mn(%a: tensor<300x200xf8E4M3FN>, %s: tensor<300x2xf32>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{operand scale_a: expected shape 2x300, one scale per 1x128 block of the operand (mn_major), found 'tensor<300x2xf32>'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>) scales(%s by 1x128 mn_major, _ : tensor<300x2xf32>) outs(%d : tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @scale_shape_b(%a: tensor<?x200xf8E4M3FN>, %s: tensor<3x3xf32>, %d: tensor<?x?xbf16>) {
  // expected-error @below {{operand scale_b: expected shape ?x2, one scale per 128x128 block of the operand, found 'tensor<3x3xf32>'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<?x200xf8E4M3FN>, tensor<?x200xf8E4M3FN>) scales(_, %s by 128x128 : tensor<3x3xf32>) outs(%d : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return
}

// -----

func.func @scale_per_row(%a: tensor<300x200xf8E4M3FN>, %s: tensor<200xf32>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{operand scale_a: expected shape 300, one scale per 1x0 block of the operand, found 'tensor<200xf32>'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>) scales(%s by row, _ : tensor<200xf32>) outs(%d : tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @scale_rank(%a: tensor<300x200xf8E4M3FN>, %s: tensor<2xf32>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{operand scale_a: expected rank 2, found 'tensor<2xf32>'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>) scales(%s by 1x128, _ : tensor<2xf32>) outs(%d : tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @scale_type(%a: tensor<300x200xf8E4M3FN>, %s: tensor<300x2xbf16>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{operand scale_a of type 'tensor<300x2xbf16>': scales: expected element type f32 or f8E8M0FNU, found bf16}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>) scales(%s by 1x128, _ : tensor<300x2xbf16>) outs(%d : tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @scale_block(%a: tensor<300x200xf8E4M3FN>, %s: tensor<300x2xf32>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{scales: expected a block such as 1x128, or 'tensor', or 'row'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>) scales(%s by 1x128x2, _ : tensor<300x2xf32>) outs(%d : tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @no_scales(%a: tensor<300x200xf8E4M3FN>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{scales: expected scales of a or b, found '_' for both}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>) scales(_, _ : ) outs(%d : tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @scales_undescribed(%a: tensor<300x200xf8E4M3FN>, %s: tensor<300x2xf32>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{operand scale_a: expected an attribute that says how the scales are laid out, found none}}
  %0 = "dgemm.matmul"(%a, %a, %s, %d) <{layout = #dgemm.layout<nt>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>}> ({}) : (tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>, tensor<300x2xf32>, tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @scales_missing(%a: tensor<300x200xf8E4M3FN>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{operand scale_b: expected scales for the attribute that describes them, found none}}
  %0 = "dgemm.matmul"(%a, %a, %d) <{layout = #dgemm.layout<nt>, scaling_b = #dgemm.scaling<1x128 f32>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 1>}> ({}) : (tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>, tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @scales_other_type(%a: tensor<300x200xf8E4M3FN>, %s: tensor<300x2xf8E8M0FNU>, %d: tensor<300x300xbf16>) {
  // expected-error @below {{operand scale_a: expected element type f32, found 'f8E8M0FNU'}}
  %0 = "dgemm.matmul"(%a, %a, %s, %d) <{layout = #dgemm.layout<nt>, scaling_a = #dgemm.scaling<1x128 f32>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>}> ({}) : (tensor<300x200xf8E4M3FN>, tensor<300x200xf8E4M3FN>, tensor<300x2xf8E8M0FNU>, tensor<300x300xbf16>) -> tensor<300x300xbf16>
  return
}

// -----

func.func @fast_accumulate(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{attribute 'fast_accumulate': expected FP8 operands, found 'bf16'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16> {fast_accumulate}
  return
}

// -----

func.func @no_result(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{expected a result of d's type, since d is a tensor, found none}}
  dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>)
  return
}

// -----

func.func @result_of_memref(%a: memref<64x64xbf16>, %d: memref<64x64xbf16>) {
  // expected-error @below {{expected no result, since d is a memref, found one}}
  %0 = dgemm.matmul nt ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%d : memref<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @result_type(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{expected type of operand #2 ('tensor<64x64xbf16>') to match type of corresponding result ('tensor<64x64xf32>')}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xf32>
  return
}

// -----

func.func @source_alone(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{attribute 'source': expected a schedule with it, found none}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16> {source = "user"}
  return
}

// -----

func.func @source_unknown(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{attribute 'source': unknown schedule source 'oracle'; expected model, tuned or user}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16> {schedule = #dgemm.schedule<tile = 128x128x64>, source = "oracle"}
  return
}

// -----

func.func @schedule_kind(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{attribute 'schedule' failed to satisfy constraint: a #dgemm.schedule or a #dgemm.dispatch}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16> {schedule = "fast"}
  return
}

// -----

func.func @epilogue_input_shape(%a: tensor<64x64xbf16>, %x: tensor<32xf32>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{operand epilogue_ins #0: expected sizes of d or 1, found 'tensor<32xf32>' for d of type 'tensor<64x64xbf16>'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) epilogue_ins(%x : tensor<32xf32>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    epilogue (%acc: f32, %y: f32) { dgemm.yield %acc : f32 }
  return
}

// -----

func.func @epilogue_input_rank(%a: tensor<64x64xbf16>, %x: tensor<1x1x1xf32>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{operand epilogue_ins #0: expected rank 0 or 1 or 2, found 'tensor<1x1x1xf32>'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) epilogue_ins(%x : tensor<1x1x1xf32>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    epilogue (%acc: f32, %y: f32) { dgemm.yield %acc : f32 }
  return
}

// -----

func.func @epilogue_missing(%a: tensor<64x64xbf16>, %x: tensor<64xf32>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{expected an epilogue region that reads epilogue_ins, found none}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) epilogue_ins(%x : tensor<64xf32>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return
}

// -----

func.func @epilogue_arguments(%a: tensor<64x64xbf16>, %x: tensor<64xf32>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{epilogue: expected arguments ('f32', 'f32'), found ('f32', 'bf16')}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) epilogue_ins(%x : tensor<64xf32>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    epilogue (%acc: f32, %y: bf16) { dgemm.yield %acc : f32 }
  return
}

// -----

func.func @epilogue_yield(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{epilogue: expected a value of d's element type 'bf16' or of the accumulator's type 'f32' yielded, found 'f16'}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    epilogue (%acc: f32) {
      %y = arith.truncf %acc : f32 to f16
      dgemm.yield %y : f16
    }
  return
}

// -----

func.func @epilogue_terminator(%a: tensor<64x64xbf16>, %d: tensor<64x64xbf16>) {
  // expected-error @below {{epilogue: expected to end with dgemm.yield}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    epilogue (%acc: f32) {
      llvm.unreachable
    }
  return
}

// -----

func.func @epilogue_capture(%a: tensor<64x64xbf16>, %s: f32, %d: tensor<64x64xbf16>) {
  // expected-note @below {{required by region isolation constraints}}
  %0 = dgemm.matmul nt ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%d : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    epilogue (%acc: f32) {
      // expected-error @below {{'arith.addf' op using value defined outside the region}}
      %y = arith.addf %acc, %s : f32
      dgemm.yield %y : f32
    }
  return
}

// -----

func.func @yield_elsewhere(%x: f32) {
  // expected-error @below {{'dgemm.yield' op expects parent op 'dgemm.matmul'}}
  dgemm.yield %x : f32
}
