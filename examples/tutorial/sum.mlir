// Adds up one input per step. The total is carried from step to step.

pw.slice @s mesh <"d" = 2>

func.func private @add(%total: tensor<1xf32>, %x: tensor<1xf32>) -> tensor<1xf32>
    attributes {pw.local_view, pw.pointwise} {
  %sum = arith.addf %total, %x : tensor<1xf32>
  return %sum : tensor<1xf32>
}

pw.program @sum(%x: !pw.array<2xf32, @s, [{"d"}]> {pw.stepped},
                %start: !pw.array<2xf32, @s, [{"d"}]> {pw.carried = 0 : i64})
    -> (!pw.array<2xf32, @s, [{"d"}]> {pw.name = "total"},
        !pw.array<2xf32, @s, [{"d"}]> {pw.name = "trail", pw.stepped}) {
  %total = pw.call @add(%start, %x)
      : (!pw.array<2xf32, @s, [{"d"}]>, !pw.array<2xf32, @s, [{"d"}]>)
      -> !pw.array<2xf32, @s, [{"d"}]>
  pw.return %total, %total : !pw.array<2xf32, @s, [{"d"}]>, !pw.array<2xf32, @s, [{"d"}]>
}
