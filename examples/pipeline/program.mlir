// Two stages of a network on two islands, each with two rows of devices that
// share its work: "data" cuts the rows of the batch, "model" the hidden layer.
//
//   stage(x, w_in, w_out) = relu(x w_in) w_out
//   y = stage(stage(x, w0, w1), w2, w3)
//
// One launch runs many batches: x is stepped, and so is y. The stages work on
// different batches at the same time; nothing here says so.

pw.slice @front mesh <"data" = 2, "model" = 2>
pw.slice @back mesh <"data" = 2, "model" = 2> apart_from [@front]

// One shard: 16 of 32 rows, 48 of 96 hidden units. Each shard has all of x's
// columns and some columns of w_in, hence whole sums in h; then some rows of
// w_out, hence partial sums, which the shards of a row add up.
func.func private @stage(%x: tensor<16x64xf32>, %w_in: tensor<64x48xf32>,
                         %w_out: tensor<48x64xf32>) -> tensor<16x64xf32>
    attributes {pw.local_view} {
  %zero = arith.constant 0.0 : f32
  %h_empty = tensor.empty() : tensor<16x48xf32>
  %h_zero = linalg.fill ins(%zero : f32) outs(%h_empty : tensor<16x48xf32>)
      -> tensor<16x48xf32>
  %h = linalg.matmul ins(%x, %w_in : tensor<16x64xf32>, tensor<64x48xf32>)
      outs(%h_zero : tensor<16x48xf32>) -> tensor<16x48xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x48xf32>
  %relu = arith.maximumf %h, %zeros : tensor<16x48xf32>
  %y_empty = tensor.empty() : tensor<16x64xf32>
  %y_zero = linalg.fill ins(%zero : f32) outs(%y_empty : tensor<16x64xf32>)
      -> tensor<16x64xf32>
  %part = linalg.matmul ins(%relu, %w_out : tensor<16x48xf32>, tensor<48x64xf32>)
      outs(%y_zero : tensor<16x64xf32>) -> tensor<16x64xf32>
  %y = pw.all_reduce %part add over ["model"] : tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}

pw.program @forward(
    %x: !pw.array<32x64xf32, @front, [{"data"}, {}]> {pw.stepped},
    %w0: !pw.array<64x96xf32, @front, [{}, {"model"}]>,
    %w1: !pw.array<96x64xf32, @front, [{"model"}, {}]>,
    %w2: !pw.array<64x96xf32, @back, [{}, {"model"}]>,
    %w3: !pw.array<96x64xf32, @back, [{"model"}, {}]>)
    -> (!pw.array<32x64xf32, @back, [{"data"}, {}]> {pw.name = "y", pw.stepped}) {
  %h = pw.call @stage(%x, %w0, %w1)
      : (!pw.array<32x64xf32, @front, [{"data"}, {}]>,
         !pw.array<64x96xf32, @front, [{}, {"model"}]>,
         !pw.array<96x64xf32, @front, [{"model"}, {}]>)
      -> !pw.array<32x64xf32, @front, [{"data"}, {}]>
  // To the other island.
  %g = pw.reshard %h
      : !pw.array<32x64xf32, @front, [{"data"}, {}]>
      -> !pw.array<32x64xf32, @back, [{"data"}, {}]>
  %y = pw.call @stage(%g, %w2, %w3)
      : (!pw.array<32x64xf32, @back, [{"data"}, {}]>,
         !pw.array<64x96xf32, @back, [{}, {"model"}]>,
         !pw.array<96x64xf32, @back, [{"model"}, {}]>)
      -> !pw.array<32x64xf32, @back, [{"data"}, {}]>
  pw.return %y : !pw.array<32x64xf32, @back, [{"data"}, {}]>
}
