// Figure 2 of the Pathways paper: three computations, each on its own slice of
// two devices, joined into one program by a client that never sees a device.
//
//   a(v) = 2 v    b(v) = v + 1    c(v) = v / 2
//   f(v): x = a(v), y = b(x), z = a(c(x))        f([1, 2]) = [3, 5], [2, 4]

pw.slice @sa mesh <"x" = 2>
pw.slice @sb mesh <"x" = 2>
pw.slice @sc mesh <"x" = 2>

// The bodies are written for one shard: one of two elements.
func.func private @a(%v: tensor<1xf32>) -> tensor<1xf32>
    attributes {pw.local_view, pw.pointwise} {
  %two = arith.constant dense<2.0> : tensor<1xf32>
  %r = arith.mulf %v, %two : tensor<1xf32>
  return %r : tensor<1xf32>
}

func.func private @b(%v: tensor<1xf32>) -> tensor<1xf32>
    attributes {pw.local_view, pw.pointwise} {
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %r = arith.addf %v, %one : tensor<1xf32>
  return %r : tensor<1xf32>
}

func.func private @c(%v: tensor<1xf32>) -> tensor<1xf32>
    attributes {pw.local_view, pw.pointwise} {
  %two = arith.constant dense<2.0> : tensor<1xf32>
  %r = arith.divf %v, %two : tensor<1xf32>
  return %r : tensor<1xf32>
}

pw.program @f(%v: !pw.array<2xf32, @sa, [{"x"}]>)
    -> (!pw.array<2xf32, @sb, [{"x"}]> {pw.name = "y"},
        !pw.array<2xf32, @sa, [{"x"}]> {pw.name = "z"}) {
  %x = pw.call @a(%v)
      : (!pw.array<2xf32, @sa, [{"x"}]>) -> !pw.array<2xf32, @sa, [{"x"}]>
  // To another slice: where that is, and how the bytes get there, is up to the
  // compiler.
  %xb = pw.reshard %x
      : !pw.array<2xf32, @sa, [{"x"}]> -> !pw.array<2xf32, @sb, [{"x"}]>
  %y = pw.call @b(%xb)
      : (!pw.array<2xf32, @sb, [{"x"}]>) -> !pw.array<2xf32, @sb, [{"x"}]>
  %xc = pw.reshard %x
      : !pw.array<2xf32, @sa, [{"x"}]> -> !pw.array<2xf32, @sc, [{"x"}]>
  %h = pw.call @c(%xc)
      : (!pw.array<2xf32, @sc, [{"x"}]>) -> !pw.array<2xf32, @sc, [{"x"}]>
  %ha = pw.reshard %h
      : !pw.array<2xf32, @sc, [{"x"}]> -> !pw.array<2xf32, @sa, [{"x"}]>
  %z = pw.call @a(%ha)
      : (!pw.array<2xf32, @sa, [{"x"}]>) -> !pw.array<2xf32, @sa, [{"x"}]>
  pw.return %y, %z
      : !pw.array<2xf32, @sb, [{"x"}]>, !pw.array<2xf32, @sa, [{"x"}]>
}
