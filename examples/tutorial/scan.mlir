// A loop over the layers of a stack of weights; docs/tutorial.md runs it.

pw.slice @s mesh <"data" = 2>

func.func private @layer(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>)
    -> (tensor<8x16xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>)
                     outs(%f0 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %sums = linalg.reduce ins(%y : tensor<8x16xf32>) outs(%f1 : tensor<8xf32>) dimensions = [1]
    (%element: f32, %sum: f32) {
      %next = arith.addf %sum, %element : f32
      linalg.yield %next : f32
    }
  return %y, %sums : tensor<8x16xf32>, tensor<8xf32>
}

!rows = !pw.array<8x16xf32, @s, [{"data"}, {}]>

pw.program @p(%x: !rows, %ws: !pw.array<4x16x16xf32, @s>)
    -> (!rows {pw.name = "y"}, !pw.array<4x8xf32, @s> {pw.name = "sums"}) {
  %y, %sums = pw.for 4
      (%h = %x carried : !rows,
       %w = %ws stepped : !pw.array<4x16x16xf32, @s> -> !pw.array<16x16xf32, @s>)
      -> (!rows carried, !pw.array<4x8xf32, @s> stepped) {
    %next, %sum = pw.call @layer(%h, %w)
        : (!rows, !pw.array<16x16xf32, @s>) -> (!rows, !pw.array<8xf32, @s>)
    pw.yield %next, %sum : !rows, !pw.array<8xf32, @s>
  }
  pw.return %y, %sums : !rows, !pw.array<4x8xf32, @s>
}
