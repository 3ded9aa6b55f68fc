// The GEMM that docs/Levels.md follows from L0 to PTX.
func.func @tiny(%a: tensor<?x256xbf16>, %b: tensor<128x256xbf16>,
                %d: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %r = dgemm.matmul nt ins(%a, %b : tensor<?x256xbf16>, tensor<128x256xbf16>)
                       outs(%d : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  return %r : tensor<?x128xbf16>
}
