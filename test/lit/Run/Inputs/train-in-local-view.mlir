// Trains a network with one hidden layer to read handwritten digits. A step is a
// batch of 32 images: forward, backward, and a step of gradient descent.
//
//   h = relu(x w0 + b0)                on @front
//   p = softmax(h w1 + b1)             on @back, another island
//   loss = mean of -log p[digit]
//   w -= rate * d loss / d w           each parameter where it lives
//
// Inside an island the rows of a batch are cut over four devices, each of which
// has all parameters; the gradients of the devices are added up by an all-reduce.
// Between the islands a batch is cut in two halves, so that the back can work on
// the first half while the front works on the second. Hidden values go to the
// back by pw.reshard and their gradients come to the front the same way.

pw.slice @front mesh <"data" = 4>
pw.slice @back mesh <"data" = 4> apart_from [@front]

// Rows of a batch and of half a batch, cut over the devices of an island.
!images = !pw.array<32x64xi8, @front, [{"data"}, {}]>
!labels = !pw.array<32x10xi8, @back, [{"data"}, {}]>
!x = !pw.array<16x64xf32, @front, [{"data"}, {}]>
!h = !pw.array<16x64xf32, @front, [{"data"}, {}]>
!h_back = !pw.array<16x64xf32, @back, [{"data"}, {}]>
!y = !pw.array<16x10xf32, @back, [{"data"}, {}]>

// Parameters: every device of the island has a copy. What a device knows of
// their gradients is a contribution to a sum.
!w0 = !pw.array<64x64xf32, @front, [{}, {}]>
!b0 = !pw.array<64xf32, @front, [{}]>
!w1 = !pw.array<64x10xf32, @back, [{}, {}]>
!b1 = !pw.array<10xf32, @back, [{}]>
!dw0 = !pw.array<64x64xf32, @front, [{}, {}] partial add {"data"}>
!db0 = !pw.array<64xf32, @front, [{}] partial add {"data"}>
!dw1 = !pw.array<64x10xf32, @back, [{}, {}] partial add {"data"}>
!db1 = !pw.array<10xf32, @back, [{}] partial add {"data"}>
!number = !pw.array<f32, @back, []>
!part = !pw.array<f32, @back, [] partial add {"data"}>

// Subscripts of a matrix, and of its transpose, in a product over k.
#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// From pixels of 0 to 16 to numbers of 0 to 1. A device's 8 rows in two halves.
func.func private @split_images(%images: tensor<8x64xi8>)
    -> (tensor<4x64xf32>, tensor<4x64xf32>) attributes {pw.local_view} {
  %pixels = arith.sitofp %images : tensor<8x64xi8> to tensor<8x64xf32>
  %unit = arith.constant dense<0.0625> : tensor<8x64xf32>
  %x = arith.mulf %pixels, %unit : tensor<8x64xf32>
  %x_0 = tensor.extract_slice %x[0, 0] [4, 64] [1, 1]
      : tensor<8x64xf32> to tensor<4x64xf32>
  %x_1 = tensor.extract_slice %x[4, 0] [4, 64] [1, 1]
      : tensor<8x64xf32> to tensor<4x64xf32>
  return %x_0, %x_1 : tensor<4x64xf32>, tensor<4x64xf32>
}

func.func private @split_labels(%labels: tensor<8x10xi8>)
    -> (tensor<4x10xf32>, tensor<4x10xf32>) attributes {pw.local_view} {
  %y = arith.sitofp %labels : tensor<8x10xi8> to tensor<8x10xf32>
  %y_0 = tensor.extract_slice %y[0, 0] [4, 10] [1, 1]
      : tensor<8x10xf32> to tensor<4x10xf32>
  %y_1 = tensor.extract_slice %y[4, 0] [4, 10] [1, 1]
      : tensor<8x10xf32> to tensor<4x10xf32>
  return %y_0, %y_1 : tensor<4x10xf32>, tensor<4x10xf32>
}

// h = relu(x w0 + b0)
func.func private @front_forward(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>,
                                 %b: tensor<64xf32>) -> tensor<4x64xf32>
    attributes {pw.local_view} {
  %empty = tensor.empty() : tensor<4x64xf32>
  %bias = linalg.broadcast ins(%b : tensor<64xf32>) outs(%empty : tensor<4x64xf32>)
      dimensions = [0]
  %z = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x64xf32>)
      outs(%bias : tensor<4x64xf32>) -> tensor<4x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x64xf32>
  %h = arith.maximumf %z, %zeros : tensor<4x64xf32>
  return %h : tensor<4x64xf32>
}

// The rest of the network and its gradients, but for those of the front. Loss
// and hits (images whose digit got the highest score) are those of the shard's
// own rows, over the size of the batch: sums over all shards are means.
func.func private @back_pass(%h: tensor<4x64xf32>, %y: tensor<4x10xf32>,
                             %w: tensor<64x10xf32>, %b: tensor<10xf32>)
    -> (tensor<4x64xf32>, tensor<64x10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32>)
    attributes {pw.local_view} {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %share = arith.constant dense<0.03125> : tensor<4xf32>
  %full = tensor.empty() : tensor<4x10xf32>
  %row = tensor.empty() : tensor<4xf32>
  %scalar = tensor.empty() : tensor<f32>
  %row_zero = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %scalar_zero = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>

  // Scores less their maximum, so that no exponential overflows.
  %bias = linalg.broadcast ins(%b : tensor<10xf32>) outs(%full : tensor<4x10xf32>)
      dimensions = [0]
  %scores = linalg.matmul ins(%h, %w : tensor<4x64xf32>, tensor<64x10xf32>)
      outs(%bias : tensor<4x10xf32>) -> tensor<4x10xf32>
  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<4x10xf32>)
      outs(%max_init : tensor<4xf32>) dimensions = [1]
  %maxes = linalg.broadcast ins(%max : tensor<4xf32>) outs(%full : tensor<4x10xf32>)
      dimensions = [1]
  %z = arith.subf %scores, %maxes : tensor<4x10xf32>

  // The digit's score; 0 when it is the highest.
  %masked = arith.mulf %z, %y : tensor<4x10xf32>
  %own = linalg.reduce { arith.addf } ins(%masked : tensor<4x10xf32>)
      outs(%row_zero : tensor<4xf32>) dimensions = [1]
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %is_hit = arith.cmpf oge, %own, %zeros : tensor<4xf32>
  %hit = arith.select %is_hit, %share, %zeros : tensor<4xi1>, tensor<4xf32>
  %hits = linalg.reduce { arith.addf } ins(%hit : tensor<4xf32>)
      outs(%scalar_zero : tensor<f32>) dimensions = [0]

  // -log p[digit] = log(sum of exp z) - z[digit]
  %e = math.exp %z : tensor<4x10xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<4x10xf32>)
      outs(%row_zero : tensor<4xf32>) dimensions = [1]
  %log = math.log %sum : tensor<4xf32>
  %row_loss = arith.subf %log, %own : tensor<4xf32>
  %row_share = arith.mulf %row_loss, %share : tensor<4xf32>
  %loss = linalg.reduce { arith.addf } ins(%row_share : tensor<4xf32>)
      outs(%scalar_zero : tensor<f32>) dimensions = [0]

  // d loss / d scores = (p - y) / 32, and from it the other gradients.
  %sums = linalg.broadcast ins(%sum : tensor<4xf32>) outs(%full : tensor<4x10xf32>)
      dimensions = [1]
  %p = arith.divf %e, %sums : tensor<4x10xf32>
  %p_y = arith.subf %p, %y : tensor<4x10xf32>
  %shares = arith.constant dense<0.03125> : tensor<4x10xf32>
  %dz = arith.mulf %p_y, %shares : tensor<4x10xf32>
  %db_empty = tensor.empty() : tensor<10xf32>
  %db_zero = linalg.fill ins(%zero : f32) outs(%db_empty : tensor<10xf32>)
      -> tensor<10xf32>
  %db = linalg.reduce { arith.addf } ins(%dz : tensor<4x10xf32>)
      outs(%db_zero : tensor<10xf32>) dimensions = [0]
  %dw_empty = tensor.empty() : tensor<64x10xf32>
  %dw_zero = linalg.fill ins(%zero : f32) outs(%dw_empty : tensor<64x10xf32>)
      -> tensor<64x10xf32>
  %dw = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%h, %dz : tensor<4x64xf32>, tensor<4x10xf32>)
      outs(%dw_zero : tensor<64x10xf32>) -> tensor<64x10xf32>
  %dh_empty = tensor.empty() : tensor<4x64xf32>
  %dh_zero = linalg.fill ins(%zero : f32) outs(%dh_empty : tensor<4x64xf32>)
      -> tensor<4x64xf32>
  %dh = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%dz, %w : tensor<4x10xf32>, tensor<64x10xf32>)
      outs(%dh_zero : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %dh, %dw, %db, %loss, %hits
      : tensor<4x64xf32>, tensor<64x10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32>
}

// Gradients of the front's parameters from that of its result. relu lets a
// gradient pass where its result is positive.
func.func private @front_backward(%x: tensor<4x64xf32>, %h: tensor<4x64xf32>,
                                  %dh: tensor<4x64xf32>)
    -> (tensor<64x64xf32>, tensor<64xf32>) attributes {pw.local_view} {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<4x64xf32>
  %passes = arith.cmpf ogt, %h, %zeros : tensor<4x64xf32>
  %dz = arith.select %passes, %dh, %zeros : tensor<4x64xi1>, tensor<4x64xf32>
  %db_empty = tensor.empty() : tensor<64xf32>
  %db_zero = linalg.fill ins(%zero : f32) outs(%db_empty : tensor<64xf32>)
      -> tensor<64xf32>
  %db = linalg.reduce { arith.addf } ins(%dz : tensor<4x64xf32>)
      outs(%db_zero : tensor<64xf32>) dimensions = [0]
  %dw_empty = tensor.empty() : tensor<64x64xf32>
  %dw_zero = linalg.fill ins(%zero : f32) outs(%dw_empty : tensor<64x64xf32>)
      -> tensor<64x64xf32>
  %dw = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%x, %dz : tensor<4x64xf32>, tensor<4x64xf32>)
      outs(%dw_zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %dw, %db : tensor<64x64xf32>, tensor<64xf32>
}

// The gradients of both halves and all devices, times the rate of 0.5, off the
// parameters. All devices add up in the same order, so their copies stay equal.
func.func private @front_update(%w: tensor<64x64xf32>, %b: tensor<64xf32>,
                                %dw_0: tensor<64x64xf32> {pw.accepts_partial},
                                %dw_1: tensor<64x64xf32> {pw.accepts_partial},
                                %db_0: tensor<64xf32> {pw.accepts_partial},
                                %db_1: tensor<64xf32> {pw.accepts_partial})
    -> (tensor<64x64xf32>, tensor<64xf32>) attributes {pw.local_view} {
  %dw_own = arith.addf %dw_0, %dw_1 : tensor<64x64xf32>
  %dw = pw.all_reduce %dw_own add over ["data"] : tensor<64x64xf32>
  %w_rate = arith.constant dense<0.5> : tensor<64x64xf32>
  %w_step = arith.mulf %dw, %w_rate : tensor<64x64xf32>
  %w_next = arith.subf %w, %w_step : tensor<64x64xf32>
  %db_own = arith.addf %db_0, %db_1 : tensor<64xf32>
  %db = pw.all_reduce %db_own add over ["data"] : tensor<64xf32>
  %b_rate = arith.constant dense<0.5> : tensor<64xf32>
  %b_step = arith.mulf %db, %b_rate : tensor<64xf32>
  %b_next = arith.subf %b, %b_step : tensor<64xf32>
  return %w_next, %b_next : tensor<64x64xf32>, tensor<64xf32>
}

func.func private @back_update(%w: tensor<64x10xf32>, %b: tensor<10xf32>,
                               %dw_0: tensor<64x10xf32> {pw.accepts_partial},
                               %dw_1: tensor<64x10xf32> {pw.accepts_partial},
                               %db_0: tensor<10xf32> {pw.accepts_partial},
                               %db_1: tensor<10xf32> {pw.accepts_partial})
    -> (tensor<64x10xf32>, tensor<10xf32>) attributes {pw.local_view} {
  %dw_own = arith.addf %dw_0, %dw_1 : tensor<64x10xf32>
  %dw = pw.all_reduce %dw_own add over ["data"] : tensor<64x10xf32>
  %w_rate = arith.constant dense<0.5> : tensor<64x10xf32>
  %w_step = arith.mulf %dw, %w_rate : tensor<64x10xf32>
  %w_next = arith.subf %w, %w_step : tensor<64x10xf32>
  %db_own = arith.addf %db_0, %db_1 : tensor<10xf32>
  %db = pw.all_reduce %db_own add over ["data"] : tensor<10xf32>
  %b_rate = arith.constant dense<0.5> : tensor<10xf32>
  %b_step = arith.mulf %db, %b_rate : tensor<10xf32>
  %b_next = arith.subf %b, %b_step : tensor<10xf32>
  return %w_next, %b_next : tensor<64x10xf32>, tensor<10xf32>
}

// The sum over both halves and all devices.
func.func private @total(%half_0: tensor<f32> {pw.accepts_partial},
                         %half_1: tensor<f32> {pw.accepts_partial}) -> tensor<f32>
    attributes {pw.local_view} {
  %own = arith.addf %half_0, %half_1 : tensor<f32>
  %all = pw.all_reduce %own add over ["data"] : tensor<f32>
  return %all : tensor<f32>
}

// Parameters are carried: a step takes those that the step before returned, and for
// the whole launch they stay on their devices. Nobody needs the old ones after the
// updates, which may therefore have their memory.
pw.program @train(%images: !images {pw.stepped}, %labels: !labels {pw.stepped},
                  %w0: !w0 {pw.carried = 0 : i64}, %b0: !b0 {pw.carried = 1 : i64},
                  %w1: !w1 {pw.carried = 2 : i64}, %b1: !b1 {pw.carried = 3 : i64})
    -> (!w0 {pw.name = "w0"}, !b0 {pw.name = "b0"},
        !w1 {pw.name = "w1"}, !b1 {pw.name = "b1"},
        !number {pw.name = "loss", pw.stepped},
        !number {pw.name = "accuracy", pw.stepped}) {
  %x_0, %x_1 = pw.call @split_images(%images) : (!images) -> (!x, !x)
  %y_0, %y_1 = pw.call @split_labels(%labels) : (!labels) -> (!y, !y)

  %h_0 = pw.call @front_forward(%x_0, %w0, %b0) : (!x, !w0, !b0) -> !h
  %hb_0 = pw.reshard %h_0 : !h -> !h_back
  %h_1 = pw.call @front_forward(%x_1, %w0, %b0) : (!x, !w0, !b0) -> !h
  %hb_1 = pw.reshard %h_1 : !h -> !h_back

  %dhb_0, %dw1_0, %db1_0, %loss_0, %hits_0 = pw.call @back_pass(%hb_0, %y_0, %w1, %b1)
      : (!h_back, !y, !w1, !b1) -> (!h_back, !dw1, !db1, !part, !part)
  %dh_0 = pw.reshard %dhb_0 : !h_back -> !h
  %dhb_1, %dw1_1, %db1_1, %loss_1, %hits_1 = pw.call @back_pass(%hb_1, %y_1, %w1, %b1)
      : (!h_back, !y, !w1, !b1) -> (!h_back, !dw1, !db1, !part, !part)
  %dh_1 = pw.reshard %dhb_1 : !h_back -> !h

  %dw0_0, %db0_0 = pw.call @front_backward(%x_0, %h_0, %dh_0)
      : (!x, !h, !h) -> (!dw0, !db0)
  %dw0_1, %db0_1 = pw.call @front_backward(%x_1, %h_1, %dh_1)
      : (!x, !h, !h) -> (!dw0, !db0)

  %w0_next, %b0_next = pw.call @front_update(%w0, %b0, %dw0_0, %dw0_1, %db0_0, %db0_1)
      donate(%w0, %b0) : (!w0, !b0, !dw0, !dw0, !db0, !db0) -> (!w0, !b0)
  %w1_next, %b1_next = pw.call @back_update(%w1, %b1, %dw1_0, %dw1_1, %db1_0, %db1_1)
      donate(%w1, %b1) : (!w1, !b1, !dw1, !dw1, !db1, !db1) -> (!w1, !b1)
  %loss = pw.call @total(%loss_0, %loss_1) : (!part, !part) -> !number
  %accuracy = pw.call @total(%hits_0, %hits_1) : (!part, !part) -> !number
  pw.return %w0_next, %b0_next, %w1_next, %b1_next, %loss, %accuracy
      : !w0, !b0, !w1, !b1, !number, !number
}
