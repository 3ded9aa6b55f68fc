// A GEMM of DeepSeek-V3: the output projection of attention, in FP8 with one
// scale per 128 elements of a row of A and one per 128x128 block of B. M, the
// number of tokens, is known at run time.
func.func @proj(%a: tensor<?x7168xf8E4M3FN>, %b: tensor<4096x7168xf8E4M3FN>,
                %sa: tensor<?x56xf32>, %sb: tensor<32x56xf32>,
                %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %r = dgemm.matmul nt
         ins(%a, %b : tensor<?x7168xf8E4M3FN>, tensor<4096x7168xf8E4M3FN>)
         scales(%sa by 1x128, %sb by 128x128
                : tensor<?x56xf32>, tensor<32x56xf32>)
         outs(%d : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %r : tensor<?x4096xbf16>
}
