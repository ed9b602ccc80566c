// Trains a convolutional network to read handwritten digits. A step is a batch of 32
// images of 8 x 8 pixels: forward, backward, and a step of gradient descent.
//
//   h1 = relu(conv3x3(x, w1) + b1)        8 x 8, 16 channels
//   p1 = largest of 2 x 2 of h1           4 x 4
//   h2 = relu(conv3x3(p1, w2) + b2)       4 x 4, 32 channels
//   p = softmax(h2 w3 + b3)               10 digits
//   loss = mean of -log p[digit]
//   w -= rate * d loss / d w
//
// Functions are written on whole batches. The program says that images are cut over
// four devices and that each of these has all parameters; what a device knows of
// their gradients is a contribution to a sum. How all else is cut follows.

pw.slice @s mesh <"data" = 4>

!images = !pw.array<32x64xi8, @s, [{"data"}, {}]>
!labels = !pw.array<32x10xi8, @s, [{"data"}, {}]>
!x = !pw.array<32x8x8x1xf32, @s>
!h1 = !pw.array<32x8x8x16xf32, @s>
!p1 = !pw.array<32x4x4x16xf32, @s>
!h2 = !pw.array<32x4x4x32xf32, @s>

!w1 = !pw.array<3x3x1x16xf32, @s, [{}, {}, {}, {}]>
!b1 = !pw.array<16xf32, @s, [{}]>
!w2 = !pw.array<3x3x16x32xf32, @s, [{}, {}, {}, {}]>
!b2 = !pw.array<32xf32, @s, [{}]>
!w3 = !pw.array<512x10xf32, @s, [{}, {}]>
!b3 = !pw.array<10xf32, @s, [{}]>
!dw1 = !pw.array<3x3x1x16xf32, @s, [{}, {}, {}, {}] partial add {"data"}>
!db1 = !pw.array<16xf32, @s, [{}] partial add {"data"}>
!dw2 = !pw.array<3x3x16x32xf32, @s, [{}, {}, {}, {}] partial add {"data"}>
!db2 = !pw.array<32xf32, @s, [{}] partial add {"data"}>
!dw3 = !pw.array<512x10xf32, @s, [{}, {}] partial add {"data"}>
!db3 = !pw.array<10xf32, @s, [{}] partial add {"data"}>
!number = !pw.array<f32, @s, []>

// Gradient of a filter: each weight met the image at all places (y, x).
#seen = affine_map<(ky, kx, c, f, n, y, x) -> (n, y + ky, x + kx, c)>
#told = affine_map<(ky, kx, c, f, n, y, x) -> (n, y, x, f)>
#weight = affine_map<(ky, kx, c, f, n, y, x) -> (ky, kx, c, f)>

// Gradient of the image: a pixel was seen by windows that began up to two before it.
#window = affine_map<(n, y, x, c, ky, kx, f) -> (n, y + 2 - ky, x + 2 - kx, f)>
#filter = affine_map<(n, y, x, c, ky, kx, f) -> (ky, kx, c, f)>
#pixel = affine_map<(n, y, x, c, ky, kx, f) -> (n, y, x, c)>

// Places of an image that is cut into windows of 2 x 2, and the window of a place.
#place = affine_map<(n, p, i, q, j, c) -> (n, p, i, q, j, c)>
#pool = affine_map<(n, p, i, q, j, c) -> (n, p, q, c)>

// Subscripts of matrices in a product over k.
#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// From pixels of 0 to 16 to numbers of 0 to 1.
func.func private @pixels(%images: tensor<32x64xi8>) -> tensor<32x8x8x1xf32> {
  %pixels = arith.sitofp %images : tensor<32x64xi8> to tensor<32x64xf32>
  %unit = arith.constant dense<0.0625> : tensor<32x64xf32>
  %scaled = arith.mulf %pixels, %unit : tensor<32x64xf32>
  %x = tensor.expand_shape %scaled [[0], [1, 2, 3]] output_shape [32, 8, 8, 1]
      : tensor<32x64xf32> into tensor<32x8x8x1xf32>
  return %x : tensor<32x8x8x1xf32>
}

func.func private @layer1(%x: tensor<32x8x8x1xf32>, %w: tensor<3x3x1x16xf32>,
                          %b: tensor<16xf32>)
    -> (tensor<32x8x8x16xf32>, tensor<32x4x4x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %y: index, %at: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<32x8x8x1xf32> to tensor<32x10x10x1xf32>
  %empty = tensor.empty() : tensor<32x8x8x16xf32>
  %bias = linalg.broadcast ins(%b : tensor<16xf32>)
      outs(%empty : tensor<32x8x8x16xf32>) dimensions = [0, 1, 2]
  %z = linalg.conv_2d_nhwc_hwcf
      ins(%padded, %w : tensor<32x10x10x1xf32>, tensor<3x3x1x16xf32>)
      outs(%bias : tensor<32x8x8x16xf32>) -> tensor<32x8x8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<32x8x8x16xf32>
  %h = arith.maximumf %z, %zeros : tensor<32x8x8x16xf32>

  %window = tensor.empty() : tensor<2x2xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<32x4x4x16xf32>
  %p = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%h, %window : tensor<32x8x8x16xf32>, tensor<2x2xf32>)
      outs(%lowest : tensor<32x4x4x16xf32>) -> tensor<32x4x4x16xf32>
  return %h, %p : tensor<32x8x8x16xf32>, tensor<32x4x4x16xf32>
}

func.func private @layer2(%x: tensor<32x4x4x16xf32>, %w: tensor<3x3x16x32xf32>,
                          %b: tensor<32xf32>) -> tensor<32x4x4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %y: index, %at: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<32x4x4x16xf32> to tensor<32x6x6x16xf32>
  %empty = tensor.empty() : tensor<32x4x4x32xf32>
  %bias = linalg.broadcast ins(%b : tensor<32xf32>)
      outs(%empty : tensor<32x4x4x32xf32>) dimensions = [0, 1, 2]
  %z = linalg.conv_2d_nhwc_hwcf
      ins(%padded, %w : tensor<32x6x6x16xf32>, tensor<3x3x16x32xf32>)
      outs(%bias : tensor<32x4x4x32xf32>) -> tensor<32x4x4x32xf32>
  %zeros = arith.constant dense<0.0> : tensor<32x4x4x32xf32>
  %h = arith.maximumf %z, %zeros : tensor<32x4x4x32xf32>
  return %h : tensor<32x4x4x32xf32>
}

// Scores of the digits, the loss, and gradients from there to the images of the layer
// before. Loss and hits (images whose digit got the highest score) are means.
func.func private @head(%h2: tensor<32x4x4x32xf32>, %labels: tensor<32x10xi8>,
                        %w: tensor<512x10xf32>, %b: tensor<10xf32>)
    -> (tensor<32x4x4x32xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<f32>,
        tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %share = arith.constant dense<0.03125> : tensor<32xf32>
  %row_zero = arith.constant dense<0.0> : tensor<32xf32>
  %scalar_zero = arith.constant dense<0.0> : tensor<f32>
  %full = tensor.empty() : tensor<32x10xf32>
  %row = tensor.empty() : tensor<32xf32>
  %y = arith.sitofp %labels : tensor<32x10xi8> to tensor<32x10xf32>
  %h = tensor.collapse_shape %h2 [[0], [1, 2, 3]]
      : tensor<32x4x4x32xf32> into tensor<32x512xf32>

  // Scores less their maximum, so that no exponential overflows.
  %bias = linalg.broadcast ins(%b : tensor<10xf32>) outs(%full : tensor<32x10xf32>)
      dimensions = [0]
  %scores = linalg.matmul ins(%h, %w : tensor<32x512xf32>, tensor<512x10xf32>)
      outs(%bias : tensor<32x10xf32>) -> tensor<32x10xf32>
  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<32xf32>) -> tensor<32xf32>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<32x10xf32>)
      outs(%max_init : tensor<32xf32>) dimensions = [1]
  %maxes = linalg.broadcast ins(%max : tensor<32xf32>) outs(%full : tensor<32x10xf32>)
      dimensions = [1]
  %z = arith.subf %scores, %maxes : tensor<32x10xf32>

  // The digit's score; 0 when it is the highest.
  %masked = arith.mulf %z, %y : tensor<32x10xf32>
  %own = linalg.reduce { arith.addf } ins(%masked : tensor<32x10xf32>)
      outs(%row_zero : tensor<32xf32>) dimensions = [1]
  %is_hit = arith.cmpf oge, %own, %row_zero : tensor<32xf32>
  %hit = arith.select %is_hit, %share, %row_zero : tensor<32xi1>, tensor<32xf32>
  %hits = linalg.reduce { arith.addf } ins(%hit : tensor<32xf32>)
      outs(%scalar_zero : tensor<f32>) dimensions = [0]

  // -log p[digit] = log(sum of exp z) - z[digit]
  %e = math.exp %z : tensor<32x10xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<32x10xf32>)
      outs(%row_zero : tensor<32xf32>) dimensions = [1]
  %log = math.log %sum : tensor<32xf32>
  %row_loss = arith.subf %log, %own : tensor<32xf32>
  %row_share = arith.mulf %row_loss, %share : tensor<32xf32>
  %loss = linalg.reduce { arith.addf } ins(%row_share : tensor<32xf32>)
      outs(%scalar_zero : tensor<f32>) dimensions = [0]

  // d loss / d scores = (p - y) / 32, and from it the other gradients.
  %sums = linalg.broadcast ins(%sum : tensor<32xf32>) outs(%full : tensor<32x10xf32>)
      dimensions = [1]
  %p = arith.divf %e, %sums : tensor<32x10xf32>
  %p_y = arith.subf %p, %y : tensor<32x10xf32>
  %shares = arith.constant dense<0.03125> : tensor<32x10xf32>
  %dz = arith.mulf %p_y, %shares : tensor<32x10xf32>
  %db_zero = arith.constant dense<0.0> : tensor<10xf32>
  %db = linalg.reduce { arith.addf } ins(%dz : tensor<32x10xf32>)
      outs(%db_zero : tensor<10xf32>) dimensions = [0]
  %dw_zero = arith.constant dense<0.0> : tensor<512x10xf32>
  %dw = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%h, %dz : tensor<32x512xf32>, tensor<32x10xf32>)
      outs(%dw_zero : tensor<512x10xf32>) -> tensor<512x10xf32>
  %dh_zero = arith.constant dense<0.0> : tensor<32x512xf32>
  %dh = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%dz, %w : tensor<32x10xf32>, tensor<512x10xf32>)
      outs(%dh_zero : tensor<32x512xf32>) -> tensor<32x512xf32>
  %dh2 = tensor.expand_shape %dh [[0], [1, 2, 3]] output_shape [32, 4, 4, 32]
      : tensor<32x512xf32> into tensor<32x4x4x32xf32>
  return %dh2, %dw, %db, %loss, %hits
      : tensor<32x4x4x32xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<f32>,
        tensor<f32>
}

// relu lets a gradient pass where its result is positive; from there it goes to filter,
// bias and image of the convolution.
func.func private @layer2_back(%x: tensor<32x4x4x16xf32>, %h: tensor<32x4x4x32xf32>,
                               %dh: tensor<32x4x4x32xf32>, %w: tensor<3x3x16x32xf32>)
    -> (tensor<32x4x4x16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<32x4x4x32xf32>
  %passes = arith.cmpf ogt, %h, %zeros : tensor<32x4x4x32xf32>
  %dz = arith.select %passes, %dh, %zeros
      : tensor<32x4x4x32xi1>, tensor<32x4x4x32xf32>
  %db_zero = arith.constant dense<0.0> : tensor<32xf32>
  %db = linalg.reduce { arith.addf } ins(%dz : tensor<32x4x4x32xf32>)
      outs(%db_zero : tensor<32xf32>) dimensions = [0, 1, 2]

  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %y: index, %at: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<32x4x4x16xf32> to tensor<32x6x6x16xf32>
  %dw_zero = arith.constant dense<0.0> : tensor<3x3x16x32xf32>
  %dw = linalg.generic {indexing_maps = [#seen, #told, #weight],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction",
                        "reduction", "reduction"]}
      ins(%padded, %dz : tensor<32x6x6x16xf32>, tensor<32x4x4x32xf32>)
      outs(%dw_zero : tensor<3x3x16x32xf32>) {
  ^bb0(%seen: f32, %told: f32, %so_far: f32):
    %product = arith.mulf %seen, %told : f32
    %sum = arith.addf %so_far, %product : f32
    linalg.yield %sum : f32
  } -> tensor<3x3x16x32xf32>

  %dz_padded = tensor.pad %dz low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %y: index, %at: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<32x4x4x32xf32> to tensor<32x6x6x32xf32>
  %dx_zero = arith.constant dense<0.0> : tensor<32x4x4x16xf32>
  %dx = linalg.generic {indexing_maps = [#window, #filter, #pixel],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction",
                        "reduction", "reduction"]}
      ins(%dz_padded, %w : tensor<32x6x6x32xf32>, tensor<3x3x16x32xf32>)
      outs(%dx_zero : tensor<32x4x4x16xf32>) {
  ^bb0(%told: f32, %weight: f32, %so_far: f32):
    %product = arith.mulf %told, %weight : f32
    %sum = arith.addf %so_far, %product : f32
    linalg.yield %sum : f32
  } -> tensor<32x4x4x16xf32>
  return %dx, %dw, %db : tensor<32x4x4x16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>
}

// The largest of four gets the gradient, or each of the largest ones, where relu lets
// it pass.
func.func private @layer1_back(%x: tensor<32x8x8x1xf32>, %h: tensor<32x8x8x16xf32>,
                               %p: tensor<32x4x4x16xf32>, %dp: tensor<32x4x4x16xf32>)
    -> (tensor<3x3x1x16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %windows = tensor.expand_shape %h [[0], [1, 2], [3, 4], [5]]
      output_shape [32, 4, 2, 4, 2, 16]
      : tensor<32x8x8x16xf32> into tensor<32x4x2x4x2x16xf32>
  %empty = tensor.empty() : tensor<32x4x2x4x2x16xf32>
  %parts = linalg.generic {indexing_maps = [#place, #pool, #pool, #place],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "parallel"]}
      ins(%windows, %p, %dp
          : tensor<32x4x2x4x2x16xf32>, tensor<32x4x4x16xf32>, tensor<32x4x4x16xf32>)
      outs(%empty : tensor<32x4x2x4x2x16xf32>) {
  ^bb0(%each: f32, %largest: f32, %d: f32, %out: f32):
    %is_largest = arith.cmpf oeq, %each, %largest : f32
    %passes = arith.cmpf ogt, %each, %zero : f32
    %both = arith.andi %is_largest, %passes : i1
    %dz = arith.select %both, %d, %zero : f32
    linalg.yield %dz : f32
  } -> tensor<32x4x2x4x2x16xf32>
  %dz = tensor.collapse_shape %parts [[0], [1, 2], [3, 4], [5]]
      : tensor<32x4x2x4x2x16xf32> into tensor<32x8x8x16xf32>

  %db_zero = arith.constant dense<0.0> : tensor<16xf32>
  %db = linalg.reduce { arith.addf } ins(%dz : tensor<32x8x8x16xf32>)
      outs(%db_zero : tensor<16xf32>) dimensions = [0, 1, 2]

  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %y: index, %at: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<32x8x8x1xf32> to tensor<32x10x10x1xf32>
  %dw_zero = arith.constant dense<0.0> : tensor<3x3x1x16xf32>
  %dw = linalg.generic {indexing_maps = [#seen, #told, #weight],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction",
                        "reduction", "reduction"]}
      ins(%padded, %dz : tensor<32x10x10x1xf32>, tensor<32x8x8x16xf32>)
      outs(%dw_zero : tensor<3x3x1x16xf32>) {
  ^bb0(%seen: f32, %told: f32, %so_far: f32):
    %product = arith.mulf %seen, %told : f32
    %sum = arith.addf %so_far, %product : f32
    linalg.yield %sum : f32
  } -> tensor<3x3x1x16xf32>
  return %dw, %db : tensor<3x3x1x16xf32>, tensor<16xf32>
}

// The gradients, times the rate of 0.125, off the parameters. What the devices know of
// the gradients is added up here, once, in the same order everywhere, so that copies
// of a parameter stay equal.
func.func private @update1(%w: tensor<3x3x1x16xf32>, %b: tensor<16xf32>,
                           %dw: tensor<3x3x1x16xf32>, %db: tensor<16xf32>)
    -> (tensor<3x3x1x16xf32>, tensor<16xf32>) {
  %w_rate = arith.constant dense<0.125> : tensor<3x3x1x16xf32>
  %w_step = arith.mulf %dw, %w_rate : tensor<3x3x1x16xf32>
  %w_next = arith.subf %w, %w_step : tensor<3x3x1x16xf32>
  %b_rate = arith.constant dense<0.125> : tensor<16xf32>
  %b_step = arith.mulf %db, %b_rate : tensor<16xf32>
  %b_next = arith.subf %b, %b_step : tensor<16xf32>
  return %w_next, %b_next : tensor<3x3x1x16xf32>, tensor<16xf32>
}

func.func private @update2(%w: tensor<3x3x16x32xf32>, %b: tensor<32xf32>,
                           %dw: tensor<3x3x16x32xf32>, %db: tensor<32xf32>)
    -> (tensor<3x3x16x32xf32>, tensor<32xf32>) {
  %w_rate = arith.constant dense<0.125> : tensor<3x3x16x32xf32>
  %w_step = arith.mulf %dw, %w_rate : tensor<3x3x16x32xf32>
  %w_next = arith.subf %w, %w_step : tensor<3x3x16x32xf32>
  %b_rate = arith.constant dense<0.125> : tensor<32xf32>
  %b_step = arith.mulf %db, %b_rate : tensor<32xf32>
  %b_next = arith.subf %b, %b_step : tensor<32xf32>
  return %w_next, %b_next : tensor<3x3x16x32xf32>, tensor<32xf32>
}

func.func private @update3(%w: tensor<512x10xf32>, %b: tensor<10xf32>,
                           %dw: tensor<512x10xf32>, %db: tensor<10xf32>)
    -> (tensor<512x10xf32>, tensor<10xf32>) {
  %w_rate = arith.constant dense<0.125> : tensor<512x10xf32>
  %w_step = arith.mulf %dw, %w_rate : tensor<512x10xf32>
  %w_next = arith.subf %w, %w_step : tensor<512x10xf32>
  %b_rate = arith.constant dense<0.125> : tensor<10xf32>
  %b_step = arith.mulf %db, %b_rate : tensor<10xf32>
  %b_next = arith.subf %b, %b_step : tensor<10xf32>
  return %w_next, %b_next : tensor<512x10xf32>, tensor<10xf32>
}

// Parameters are carried: they stay on the devices for the whole launch, and the new
// ones lie where the old ones did.
pw.program @train(%images: !images {pw.stepped}, %labels: !labels {pw.stepped},
                  %w1: !w1 {pw.carried = 0 : i64}, %b1: !b1 {pw.carried = 1 : i64},
                  %w2: !w2 {pw.carried = 2 : i64}, %b2: !b2 {pw.carried = 3 : i64},
                  %w3: !w3 {pw.carried = 4 : i64}, %b3: !b3 {pw.carried = 5 : i64})
    -> (!w1 {pw.name = "w1"}, !b1 {pw.name = "b1"},
        !w2 {pw.name = "w2"}, !b2 {pw.name = "b2"},
        !w3 {pw.name = "w3"}, !b3 {pw.name = "b3"},
        !number {pw.name = "loss", pw.stepped},
        !number {pw.name = "accuracy", pw.stepped}) {
  %x = pw.call @pixels(%images) : (!images) -> !x
  %h1, %p1 = pw.call @layer1(%x, %w1, %b1) : (!x, !w1, !b1) -> (!h1, !p1)
  %h2 = pw.call @layer2(%p1, %w2, %b2) : (!p1, !w2, !b2) -> !h2
  %dh2, %dw3, %db3, %loss, %accuracy = pw.call @head(%h2, %labels, %w3, %b3)
      : (!h2, !labels, !w3, !b3) -> (!h2, !dw3, !db3, !number, !number)
  %dp1, %dw2, %db2 = pw.call @layer2_back(%p1, %h2, %dh2, %w2)
      : (!p1, !h2, !h2, !w2) -> (!p1, !dw2, !db2)
  %dw1, %db1 = pw.call @layer1_back(%x, %h1, %p1, %dp1)
      : (!x, !h1, !p1, !p1) -> (!dw1, !db1)

  %w1_next, %b1_next = pw.call @update1(%w1, %b1, %dw1, %db1) donate(%w1, %b1)
      : (!w1, !b1, !dw1, !db1) -> (!w1, !b1)
  %w2_next, %b2_next = pw.call @update2(%w2, %b2, %dw2, %db2) donate(%w2, %b2)
      : (!w2, !b2, !dw2, !db2) -> (!w2, !b2)
  %w3_next, %b3_next = pw.call @update3(%w3, %b3, %dw3, %db3) donate(%w3, %b3)
      : (!w3, !b3, !dw3, !db3) -> (!w3, !b3)
  pw.return %w1_next, %b1_next, %w2_next, %b2_next, %w3_next, %b3_next, %loss, %accuracy
      : !w1, !b1, !w2, !b2, !w3, !b3, !number, !number
}
