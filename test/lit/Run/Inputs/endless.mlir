// A kernel on each of 4 devices that does not return.
pw.slice @s mesh <"d" = 4>

func.func private @k(%x: tensor<1xf32>) -> tensor<1xf32> attributes {pw.local_view} {
  %t = arith.constant true
  %r = scf.while (%a = %x) : (tensor<1xf32>) -> tensor<1xf32> {
    scf.condition(%t) %a : tensor<1xf32>
  } do {
  ^bb0(%b: tensor<1xf32>):
    %c = arith.addf %b, %b : tensor<1xf32>
    scf.yield %c : tensor<1xf32>
  }
  return %r : tensor<1xf32>
}

pw.program @p(%x: !pw.array<4xf32, @s, [{"d"}]>)
    -> (!pw.array<4xf32, @s, [{"d"}]> {pw.name = "y"}) {
  %y = pw.call @k(%x) : (!pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]>
  pw.return %y : !pw.array<4xf32, @s, [{"d"}]>
}
