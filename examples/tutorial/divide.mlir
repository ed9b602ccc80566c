// Integer division, which fails on a zero.

pw.slice @s mesh <"x" = 4>

func.func private @divide(%v: tensor<2xi32>, %d: tensor<2xi32>) -> tensor<2xi32>
    attributes {pw.local_view, pw.pointwise} {
  // A zero in %d is an error of this line, on the shard that has it.
  %q = arith.divsi %v, %d : tensor<2xi32>
  return %q : tensor<2xi32>
}

pw.program @p(%v: !pw.array<8xi32, @s, [{"x"}]>, %d: !pw.array<8xi32, @s, [{"x"}]>)
    -> (!pw.array<8xi32, @s, [{"x"}]> {pw.name = "q"}) {
  %q = pw.call @divide(%v, %d)
      : (!pw.array<8xi32, @s, [{"x"}]>, !pw.array<8xi32, @s, [{"x"}]>)
      -> !pw.array<8xi32, @s, [{"x"}]>
  pw.return %q : !pw.array<8xi32, @s, [{"x"}]>
}
