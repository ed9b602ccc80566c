// The training of examples/train on whole arrays and one device: a step is one call.

pw.slice @s mesh <"all" = 1>
!images = !pw.array<32x64xi8, @s, [{}, {}]>
!labels = !pw.array<32x10xi8, @s, [{}, {}]>
!w0 = !pw.array<64x64xf32, @s, [{}, {}]>
!b0 = !pw.array<64xf32, @s, [{}]>
!w1 = !pw.array<64x10xf32, @s, [{}, {}]>
!b1 = !pw.array<10xf32, @s, [{}]>
!loss = !pw.array<f32, @s, []>

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func private @step(%images: tensor<32x64xi8>, %labels: tensor<32x10xi8>,
                        %w0: tensor<64x64xf32>, %b0: tensor<64xf32>,
                        %w1: tensor<64x10xf32>, %b1: tensor<10xf32>)
    -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>,
        tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %pixels = arith.sitofp %images : tensor<32x64xi8> to tensor<32x64xf32>
  %unit = arith.constant dense<0.0625> : tensor<32x64xf32>
  %x = arith.mulf %pixels, %unit : tensor<32x64xf32>
  %y = arith.sitofp %labels : tensor<32x10xi8> to tensor<32x10xf32>

  // h = relu(x w0 + b0), scores = h w1 + b1
  %h_empty = tensor.empty() : tensor<32x64xf32>
  %h_bias = linalg.broadcast ins(%b0 : tensor<64xf32>)
      outs(%h_empty : tensor<32x64xf32>) dimensions = [0]
  %z0 = linalg.matmul ins(%x, %w0 : tensor<32x64xf32>, tensor<64x64xf32>)
      outs(%h_bias : tensor<32x64xf32>) -> tensor<32x64xf32>
  %h_zeros = arith.constant dense<0.0> : tensor<32x64xf32>
  %h = arith.maximumf %z0, %h_zeros : tensor<32x64xf32>
  %full = tensor.empty() : tensor<32x10xf32>
  %bias = linalg.broadcast ins(%b1 : tensor<10xf32>) outs(%full : tensor<32x10xf32>)
      dimensions = [0]
  %scores = linalg.matmul ins(%h, %w1 : tensor<32x64xf32>, tensor<64x10xf32>)
      outs(%bias : tensor<32x10xf32>) -> tensor<32x10xf32>

  // loss = mean of log(sum of exp z) - z[digit], z = scores less their maximum
  %row = tensor.empty() : tensor<32xf32>
  %row_zero = linalg.fill ins(%zero : f32) outs(%row : tensor<32xf32>) -> tensor<32xf32>
  %row_lowest = linalg.fill ins(%lowest : f32) outs(%row : tensor<32xf32>)
      -> tensor<32xf32>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<32x10xf32>)
      outs(%row_lowest : tensor<32xf32>) dimensions = [1]
  %maxes = linalg.broadcast ins(%max : tensor<32xf32>) outs(%full : tensor<32x10xf32>)
      dimensions = [1]
  %z = arith.subf %scores, %maxes : tensor<32x10xf32>
  %masked = arith.mulf %z, %y : tensor<32x10xf32>
  %own = linalg.reduce { arith.addf } ins(%masked : tensor<32x10xf32>)
      outs(%row_zero : tensor<32xf32>) dimensions = [1]
  %e = math.exp %z : tensor<32x10xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<32x10xf32>)
      outs(%row_zero : tensor<32xf32>) dimensions = [1]
  %log = math.log %sum : tensor<32xf32>
  %row_loss = arith.subf %log, %own : tensor<32xf32>
  %row_share = arith.constant dense<0.03125> : tensor<32xf32>
  %row_part = arith.mulf %row_loss, %row_share : tensor<32xf32>
  %number = tensor.empty() : tensor<f32>
  %number_zero = linalg.fill ins(%zero : f32) outs(%number : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%row_part : tensor<32xf32>)
      outs(%number_zero : tensor<f32>) dimensions = [0]

  // The same backwards, and a step of 0.5 against the gradients.
  %sums = linalg.broadcast ins(%sum : tensor<32xf32>) outs(%full : tensor<32x10xf32>)
      dimensions = [1]
  %p = arith.divf %e, %sums : tensor<32x10xf32>
  %p_y = arith.subf %p, %y : tensor<32x10xf32>
  %share = arith.constant dense<0.03125> : tensor<32x10xf32>
  %dz = arith.mulf %p_y, %share : tensor<32x10xf32>
  %dh_none = linalg.fill ins(%zero : f32) outs(%h_empty : tensor<32x64xf32>)
      -> tensor<32x64xf32>
  %dh = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%dz, %w1 : tensor<32x10xf32>, tensor<64x10xf32>)
      outs(%dh_none : tensor<32x64xf32>) -> tensor<32x64xf32>
  %passes = arith.cmpf ogt, %h, %h_zeros : tensor<32x64xf32>
  %dz0 = arith.select %passes, %dh, %h_zeros : tensor<32x64xi1>, tensor<32x64xf32>

  %w1_empty = tensor.empty() : tensor<64x10xf32>
  %w1_none = linalg.fill ins(%zero : f32) outs(%w1_empty : tensor<64x10xf32>)
      -> tensor<64x10xf32>
  %dw1 = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%h, %dz : tensor<32x64xf32>, tensor<32x10xf32>)
      outs(%w1_none : tensor<64x10xf32>) -> tensor<64x10xf32>
  %b1_empty = tensor.empty() : tensor<10xf32>
  %b1_none = linalg.fill ins(%zero : f32) outs(%b1_empty : tensor<10xf32>)
      -> tensor<10xf32>
  %db1 = linalg.reduce { arith.addf } ins(%dz : tensor<32x10xf32>)
      outs(%b1_none : tensor<10xf32>) dimensions = [0]
  %w0_empty = tensor.empty() : tensor<64x64xf32>
  %w0_none = linalg.fill ins(%zero : f32) outs(%w0_empty : tensor<64x64xf32>)
      -> tensor<64x64xf32>
  %dw0 = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%x, %dz0 : tensor<32x64xf32>, tensor<32x64xf32>)
      outs(%w0_none : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b0_empty = tensor.empty() : tensor<64xf32>
  %b0_none = linalg.fill ins(%zero : f32) outs(%b0_empty : tensor<64xf32>)
      -> tensor<64xf32>
  %db0 = linalg.reduce { arith.addf } ins(%dz0 : tensor<32x64xf32>)
      outs(%b0_none : tensor<64xf32>) dimensions = [0]

  %w0_rate = arith.constant dense<0.5> : tensor<64x64xf32>
  %w0_step = arith.mulf %dw0, %w0_rate : tensor<64x64xf32>
  %w0_next = arith.subf %w0, %w0_step : tensor<64x64xf32>
  %b0_rate = arith.constant dense<0.5> : tensor<64xf32>
  %b0_step = arith.mulf %db0, %b0_rate : tensor<64xf32>
  %b0_next = arith.subf %b0, %b0_step : tensor<64xf32>
  %w1_rate = arith.constant dense<0.5> : tensor<64x10xf32>
  %w1_step = arith.mulf %dw1, %w1_rate : tensor<64x10xf32>
  %w1_next = arith.subf %w1, %w1_step : tensor<64x10xf32>
  %b1_rate = arith.constant dense<0.5> : tensor<10xf32>
  %b1_step = arith.mulf %db1, %b1_rate : tensor<10xf32>
  %b1_next = arith.subf %b1, %b1_step : tensor<10xf32>
  return %w0_next, %b0_next, %w1_next, %b1_next, %loss
      : tensor<64x64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>,
        tensor<f32>
}

pw.program @train(%images: !images {pw.stepped}, %labels: !labels {pw.stepped},
                  %w0: !w0 {pw.carried = 0 : i64}, %b0: !b0 {pw.carried = 1 : i64},
                  %w1: !w1 {pw.carried = 2 : i64}, %b1: !b1 {pw.carried = 3 : i64})
    -> (!w0 {pw.name = "w0"}, !b0 {pw.name = "b0"}, !w1 {pw.name = "w1"},
        !b1 {pw.name = "b1"}, !loss {pw.name = "loss", pw.stepped}) {
  %w0_next, %b0_next, %w1_next, %b1_next, %loss =
      pw.call @step(%images, %labels, %w0, %b0, %w1, %b1) donate(%w0, %b0, %w1, %b1)
      : (!images, !labels, !w0, !b0, !w1, !b1) -> (!w0, !b0, !w1, !b1, !loss)
  pw.return %w0_next, %b0_next, %w1_next, %b1_next, %loss : !w0, !b0, !w1, !b1, !loss
}
