// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// dgemm.matmul round trip: custom form, generic form, bytecode.
//
// RUN: dgemm-opt %s | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --emit-bytecode | dgemm-opt | FileCheck %s
// RUN: dgemm-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: dgemm-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: func @deepseek
// GENERIC: "dgemm.matmul"
// GENERIC-SAME: layout = #dgemm.layout<nt>
// GENERIC-SAME: scaling_a = #dgemm.scaling<1x128 f32>
// GENERIC-SAME: scaling_b = #dgemm.scaling<128x128 f32>
func.func @deepseek(%a: tensor<?x7168xf8E4M3FN>, %b: tensor<4096x7168xf8E4M3FN>,
                    %sa: tensor<?x56xf32>, %sb: tensor<32x56xf32>,
                    %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  // CHECK: %[[R:.*]] = dgemm.matmul nt ins(%{{.*}}, %{{.*}} : tensor<?x7168xf8E4M3FN>, tensor<4096x7168xf8E4M3FN>)
  // CHECK-SAME: scales(%{{.*}} by 1x128, %{{.*}} by 128x128 : tensor<?x56xf32>, tensor<32x56xf32>)
  // CHECK-SAME: outs(%{{.*}} : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>{{$}}
  // CHECK-NEXT: return %[[R]]
  %r = dgemm.matmul nt ins(%a, %b : tensor<?x7168xf8E4M3FN>, tensor<4096x7168xf8E4M3FN>)
    scales(%sa by 1x128, %sb by 128x128 : tensor<?x56xf32>, tensor<32x56xf32>)
    outs(%d : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %r : tensor<?x4096xbf16>
}

// CHECK-LABEL: func @strided_memrefs
func.func @strided_memrefs(%a: memref<64x100xbf16, strided<[?, 1], offset: ?>>,
                           %b: memref<100x72xbf16, strided<[80, 1]>>,
                           %c: memref<64x72xf32>, %d: memref<64x72xf32, 1>) {
  // CHECK: dgemm.matmul nn ins(
  // CHECK-SAME: acc(%{{.*}} : memref<64x72xf32>) outs(%{{.*}} : memref<64x72xf32, 1>){{$}}
  dgemm.matmul nn ins(%a, %b : memref<64x100xbf16, strided<[?, 1], offset: ?>>, memref<100x72xbf16, strided<[80, 1]>>)
    acc(%c : memref<64x72xf32>) outs(%d : memref<64x72xf32, 1>)
  return
}

// CHECK-LABEL: func @layouts
func.func @layouts(%mk: tensor<64x128xf16>, %km: tensor<128x64xf16>,
                   %kn: tensor<128x96xf16>, %nk: tensor<96x128xf16>,
                   %d: tensor<64x96xf16>) {
  // CHECK: dgemm.matmul nt
  %0 = dgemm.matmul nt ins(%mk, %nk : tensor<64x128xf16>, tensor<96x128xf16>) outs(%d : tensor<64x96xf16>) -> tensor<64x96xf16>
  // CHECK: dgemm.matmul nn
  %1 = dgemm.matmul nn ins(%mk, %kn : tensor<64x128xf16>, tensor<128x96xf16>) outs(%d : tensor<64x96xf16>) -> tensor<64x96xf16>
  // CHECK: dgemm.matmul tn
  %2 = dgemm.matmul tn ins(%km, %kn : tensor<128x64xf16>, tensor<128x96xf16>) outs(%d : tensor<64x96xf16>) -> tensor<64x96xf16>
  // CHECK: dgemm.matmul tt
  %3 = dgemm.matmul tt ins(%km, %nk : tensor<128x64xf16>, tensor<96x128xf16>) outs(%d : tensor<64x96xf16>) -> tensor<64x96xf16>
  return
}

// CHECK-LABEL: func @scale_kinds
func.func @scale_kinds(%a: tensor<300x200xf8E4M3FN>, %b: tensor<500x200xf8E5M2>,
                       %one: tensor<f32>, %one2: tensor<1x1xf32>, %row: tensor<300xf32>,
                       %rows: tensor<500x1xf32>, %sa: tensor<2x300xf32>,
                       %sb: tensor<4x2xf8E8M0FNU>, %d: tensor<300x500xf32>) {
  // CHECK: scales(%{{.*}} by tensor, %{{.*}} by tensor : tensor<f32>, tensor<1x1xf32>)
  %0 = dgemm.matmul nt ins(%a, %b : tensor<300x200xf8E4M3FN>, tensor<500x200xf8E5M2>)
    scales(%one by tensor, %one2 by 0x0 : tensor<f32>, tensor<1x1xf32>)
    outs(%d : tensor<300x500xf32>) -> tensor<300x500xf32>
  // CHECK: scales(%{{.*}} by row, %{{.*}} by row : tensor<300xf32>, tensor<500x1xf32>)
  // CHECK-SAME: {fast_accumulate}
  %1 = dgemm.matmul nt ins(%a, %b : tensor<300x200xf8E4M3FN>, tensor<500x200xf8E5M2>)
    scales(%row by row, %rows by 1x0 : tensor<300xf32>, tensor<500x1xf32>)
    outs(%d : tensor<300x500xf32>) -> tensor<300x500xf32> {fast_accumulate}
  // CHECK: scales(%{{.*}} by 1x128 mn_major, _ : tensor<2x300xf32>)
  %2 = dgemm.matmul nt ins(%a, %b : tensor<300x200xf8E4M3FN>, tensor<500x200xf8E5M2>)
    scales(%sa by 1x128 mn_major, _ : tensor<2x300xf32>)
    outs(%d : tensor<300x500xf32>) -> tensor<300x500xf32>
  // CHECK: scales(_, %{{.*}} by 128x128 : tensor<4x2xf8E8M0FNU>)
  %3 = dgemm.matmul nt ins(%a, %b : tensor<300x200xf8E4M3FN>, tensor<500x200xf8E5M2>)
    scales(_, %sb by 128x128 k_major : tensor<4x2xf8E8M0FNU>)
    outs(%d : tensor<300x500xf32>) -> tensor<300x500xf32>
  return
}

// CHECK-LABEL: func @epilogue
func.func @epilogue(%a: tensor<64x64xbf16>, %b: tensor<32x64xbf16>, %bias: tensor<32xbf16>,
                    %gate: tensor<64x1xf32>, %alpha: f32, %d: tensor<64x32xbf16>) -> tensor<64x32xbf16> {
  // CHECK: epilogue_ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<32xbf16>, tensor<64x1xf32>, f32)
  // CHECK-SAME: outs(
  // CHECK-SAME: epilogue (%[[ACC:.*]]: f32, %[[X:.*]]: bf16, %[[G:.*]]: f32, %[[S:.*]]: f32) {
  // CHECK: dgemm.yield %{{.*}} : f32
  %r = dgemm.matmul nt ins(%a, %b : tensor<64x64xbf16>, tensor<32x64xbf16>)
    epilogue_ins(%bias, %gate, %alpha : tensor<32xbf16>, tensor<64x1xf32>, f32)
    outs(%d : tensor<64x32xbf16>) -> tensor<64x32xbf16>
    epilogue (%acc: f32, %x: bf16, %g: f32, %s: f32) {
      %0 = arith.extf %x : bf16 to f32
      %1 = arith.addf %acc, %0 : f32
      %2 = arith.mulf %1, %g : f32
      %3 = arith.mulf %2, %s : f32
      dgemm.yield %3 : f32
    }
  return %r : tensor<64x32xbf16>
}

// Sizes of 0 and integers are problems like others.
// CHECK-LABEL: func @empty_and_integer
func.func @empty_and_integer(%a: tensor<0x0xbf16>, %b: tensor<8x0xbf16>, %d: tensor<0x8xf32>,
                             %i: tensor<64x64xi8>, %s: tensor<64x64xi32>) {
  // CHECK: dgemm.matmul nt ins(%{{.*}}, %{{.*}} : tensor<0x0xbf16>, tensor<8x0xbf16>)
  %0 = dgemm.matmul nt ins(%a, %b : tensor<0x0xbf16>, tensor<8x0xbf16>) outs(%d : tensor<0x8xf32>) -> tensor<0x8xf32>
  // CHECK: epilogue (%[[ACC:.*]]: i32)
  %1 = dgemm.matmul nt ins(%i, %i : tensor<64x64xi8>, tensor<64x64xi8>) outs(%s : tensor<64x64xi32>) -> tensor<64x64xi32>
    epilogue (%acc: i32) { dgemm.yield %acc : i32 }
  return
}

// CHECK-LABEL: func @scheduled
func.func @scheduled(%a: tensor<?x64xbf16>, %b: tensor<128x64xbf16>, %d: tensor<?x128xf32>) {
  // CHECK: {schedule = #dgemm.schedule<tile = 128x128x64>, source = "tuned"}
  %0 = dgemm.matmul nt ins(%a, %b : tensor<?x64xbf16>, tensor<128x64xbf16>) outs(%d : tensor<?x128xf32>) -> tensor<?x128xf32>
    {schedule = #dgemm.schedule<tile = 128x128x64, stages = 4>, source = "tuned"}
  // CHECK: {schedule = #dgemm.dispatch<[M upto 64 : #dgemm.schedule<tile = 64x128x64, consumers = 1 cooperative{{.*}}> from "user", _ : #dgemm.schedule<tile = 128x128x64>]>, source = "model"}
  %1 = dgemm.matmul nt ins(%a, %b : tensor<?x64xbf16>, tensor<128x64xbf16>) outs(%d : tensor<?x128xf32>) -> tensor<?x128xf32>
    {schedule = #dgemm.dispatch<[M upto 64 : #dgemm.schedule<tile = 64x128x64, consumers = 1 cooperative, regs = [0, 0]> from "user",
                                 _ : #dgemm.schedule<tile = 128x128x64>]>, source = "model"}
  return
}
