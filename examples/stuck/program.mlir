// Four ranks, each with one number, and one sum over all of them. Each solves
// r * r = v by Newton's method first, until it is close enough. Below zero it
// never is: that rank goes on for ever, alive and busy, and the others wait for
// it in the all-reduce.

pw.slice @ranks mesh <"data" = 4>

func.func private @solve(%v: tensor<1xf32>) -> tensor<1xf32>
    attributes {pw.local_view} {
  %zero = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %tolerance = arith.constant 1.0e-5 : f32
  %x = tensor.extract %v[%zero] : tensor<1xf32>
  %root = scf.while (%r = %x) : (f32) -> f32 {
    %square = arith.mulf %r, %r : f32
    %apart = arith.subf %square, %x : f32
    %error = math.absf %apart : f32
    %bound = arith.mulf %x, %tolerance : f32
    %far = arith.cmpf ogt, %error, %bound : f32
    scf.condition(%far) %r : f32
  } do {
  ^bb0(%r: f32):
    %other = arith.divf %x, %r : f32
    %both = arith.addf %r, %other : f32
    %next = arith.mulf %both, %half : f32
    scf.yield %next : f32
  }
  %roots = tensor.from_elements %root : tensor<1xf32>
  %sum = pw.all_reduce %roots add over ["data"] : tensor<1xf32>
  return %sum : tensor<1xf32>
}

pw.program @roots(%v: !pw.array<4xf32, @ranks, [{"data"}]>)
    -> (!pw.array<1xf32, @ranks, [{}]> {pw.name = "sum"}) {
  %sum = pw.call @solve(%v)
      : (!pw.array<4xf32, @ranks, [{"data"}]>) -> !pw.array<1xf32, @ranks, [{}]>
  pw.return %sum : !pw.array<1xf32, @ranks, [{}]>
}
