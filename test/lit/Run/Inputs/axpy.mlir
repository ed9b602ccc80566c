// y = 2 x + w over two steps or more, on two slices of two devices.
pw.slice @s mesh <"d" = 2>
pw.slice @t mesh <"d" = 2>
func.func private @axpy(%x: tensor<1x2xf32>, %w: tensor<2xf32>) -> tensor<1x2xf32>
    attributes {pw.local_view} {
  %c = arith.constant dense<2.0> : tensor<1x2xf32>
  %m = arith.mulf %x, %c : tensor<1x2xf32>
  %e = tensor.expand_shape %w [[0, 1]] output_shape [1, 2]
      : tensor<2xf32> into tensor<1x2xf32>
  %r = arith.addf %m, %e : tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}
pw.program @axpy_program(%x: !pw.array<2x2xf32, @s, [{"d"}, {}]> {pw.stepped},
                         %weights: !pw.array<2xf32, @s, [{}]>)
    -> (!pw.array<2x2xf32, @t, [{"d"}, {}]> {pw.name = "y", pw.stepped},
        !pw.array<2x2xf32, @s, [{"d"}, {}]> {pw.name = "last"}) {
  %0 = pw.call @axpy(%x, %weights)
      : (!pw.array<2x2xf32, @s, [{"d"}, {}]>, !pw.array<2xf32, @s, [{}]>)
      -> !pw.array<2x2xf32, @s, [{"d"}, {}]>
  %1 = pw.reshard %0
      : !pw.array<2x2xf32, @s, [{"d"}, {}]> -> !pw.array<2x2xf32, @t, [{"d"}, {}]>
  pw.return %1, %0
      : !pw.array<2x2xf32, @t, [{"d"}, {}]>, !pw.array<2x2xf32, @s, [{"d"}, {}]>
}
