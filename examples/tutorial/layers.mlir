// Two layers on whole arrays; how they are cut stands in the types of the
// program alone. docs/tutorial.md runs it on one device and on more.

pw.slice @s mesh <"data" = 1, "model" = 1>

func.func private @layers(%x: tensor<8x16xf32>, %v: tensor<16x32xf32>,
                          %w: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x32xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul ins(%x, %v : tensor<8x16xf32>, tensor<16x32xf32>)
                     outs(%f0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %floor = arith.constant dense<0.0> : tensor<8x32xf32>
  %r = arith.maximumf %h, %floor : tensor<8x32xf32>
  %e1 = tensor.empty() : tensor<8x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%r, %w : tensor<8x32xf32>, tensor<32x16xf32>)
                     outs(%f1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// Rows of x over "data", columns of the first matrix over "model". The compiler
// chooses the rest.
pw.program @p(%x: !pw.array<8x16xf32, @s, [{"data"}, {}]>,
              %v: !pw.array<16x32xf32, @s, [{}, {"model"}]>,
              %w: !pw.array<32x16xf32, @s>)
    -> (!pw.array<8x16xf32, @s> {pw.name = "y"}) {
  %y = pw.call @layers(%x, %v, %w)
      : (!pw.array<8x16xf32, @s, [{"data"}, {}]>,
         !pw.array<16x32xf32, @s, [{}, {"model"}]>, !pw.array<32x16xf32, @s>)
      -> !pw.array<8x16xf32, @s>
  pw.return %y : !pw.array<8x16xf32, @s>
}
