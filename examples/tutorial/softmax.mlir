// Normalizes the rows of a matrix, then adds up its columns on another island.

pw.slice @rows mesh <"r" = 4>
pw.slice @sums mesh <"c" = 2> apart_from [@rows]

// The softmax of each row. A shard has whole rows, so it needs nobody else.
func.func private @softmax(%x: tensor<2x6xf32>) -> tensor<2x6xf32>
    attributes {pw.local_view} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<2xf32>
  %full = tensor.empty() : tensor<2x6xf32>
  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<2x6xf32>)
      outs(%max_init : tensor<2xf32>) dimensions = [1]
  %maxes = linalg.broadcast ins(%max : tensor<2xf32>) outs(%full : tensor<2x6xf32>)
      dimensions = [1]
  %shifted = arith.subf %x, %maxes : tensor<2x6xf32>
  %e = math.exp %shifted : tensor<2x6xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<2x6xf32>)
      outs(%sum_init : tensor<2xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<2xf32>) outs(%full : tensor<2x6xf32>)
      dimensions = [1]
  %y = arith.divf %e, %sums : tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// The sum of each column: of the shard's own rows, then over all shards.
func.func private @column_sums(%x: tensor<2x6xf32>) -> tensor<6xf32>
    attributes {pw.local_view} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<6xf32>) -> tensor<6xf32>
  %part = linalg.reduce { arith.addf } ins(%x : tensor<2x6xf32>)
      outs(%init : tensor<6xf32>) dimensions = [0]
  %all = pw.all_reduce %part add over ["r"] : tensor<6xf32>
  return %all : tensor<6xf32>
}

pw.program @normalize(%x: !pw.array<8x6xf32, @rows, [{"r"}, {}]>)
    -> (!pw.array<8x6xf32, @rows, [{"r"}, {}]> {pw.name = "y"},
        !pw.array<6xf32, @sums, [{"c"}]> {pw.name = "sums"}) {
  %y = pw.call @softmax(%x)
      : (!pw.array<8x6xf32, @rows, [{"r"}, {}]>) -> !pw.array<8x6xf32, @rows, [{"r"}, {}]>
  %all = pw.call @column_sums(%y)
      : (!pw.array<8x6xf32, @rows, [{"r"}, {}]>) -> !pw.array<6xf32, @rows, [{}]>
  %sums = pw.reshard %all
      : !pw.array<6xf32, @rows, [{}]> -> !pw.array<6xf32, @sums, [{"c"}]>
  pw.return %y, %sums
      : !pw.array<8x6xf32, @rows, [{"r"}, {}]>, !pw.array<6xf32, @sums, [{"c"}]>
}
