// A language model that reads a text character by character and guesses the next
// one, and one step of its training: forward, backward and Adam, written out.
//
// A step has 4 pieces of text of 128 characters: 512 rows of 256 numbers go through
// 4 layers of attention with 4 heads of 64, and of a network with one hidden layer
// of 1024. Characters are ASCII, so there are 128.
//
// Everything here is written on whole arrays and knows of no device. What stands in
// front of this text, one of the files in parallel/, says which slices there are and
// how arrays are cut: !x, !wqkv and so on, and the same with _b for the second half
// of the layers, which may live on a slice of its own. The script `run` puts the two
// together.

// Rows and columns of a matrix, and what is known of a row or a column alone.
#rows_columns = affine_map<(n, d) -> (n, d)>
#rows = affine_map<(n, d) -> (n)>
#columns = affine_map<(n, d) -> (d)>

// Products over k: #mn is #mk times #kn, which #km and #nk read the other way.
#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Queries, keys and values are one array [s, row, column], made by matrices
// [s, d, column] from rows of d.
#s_rows = affine_map<(s, n, c, d) -> (n, d)>
#s_matrix = affine_map<(s, n, c, d) -> (s, d, c)>
#s_result = affine_map<(s, n, c, d) -> (s, n, c)>

// Elements of a matrix, and of several.
#ij = affine_map<(i, j) -> (i, j)>
#sij = affine_map<(s, i, j) -> (s, i, j)>

// Attention in piece b and head h, from the character at i back to that at j,
// numbers e of a head.
#bihe = affine_map<(b, h, i, j, e) -> (b, i, h, e)>
#bjhe = affine_map<(b, h, i, j, e) -> (b, j, h, e)>
#bhij = affine_map<(b, h, i, j, e) -> (b, h, i, j)>
#scores = affine_map<(b, h, i, j) -> (b, h, i, j)>
#per_row = affine_map<(b, h, i, j) -> (b, h, i)>

//===----------------------------------------------------------------------===//
// Parts of the functions below
//===----------------------------------------------------------------------===//

// Rows with mean 0 and variance 1, and what they were multiplied by for that.
func.func private @normalize(%x: tensor<512x256xf32>)
    -> (tensor<512x256xf32>, tensor<512xf32>) {
  %zero = arith.constant 0.0 : f32
  %share = arith.constant 0.00390625 : f32 // 1 / 256
  %epsilon = arith.constant 1.0e-5 : f32
  %row = tensor.empty() : tensor<512xf32>
  %full = tensor.empty() : tensor<512x256xf32>
  %none = linalg.fill ins(%zero : f32) outs(%row : tensor<512xf32>) -> tensor<512xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<512x256xf32>)
      outs(%none : tensor<512xf32>) dimensions = [1]
  %centred = linalg.generic
      {indexing_maps = [#rows_columns, #rows, #rows_columns],
       iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<512x256xf32>, tensor<512xf32>)
      outs(%full : tensor<512x256xf32>) {
    ^bb0(%a: f32, %s: f32, %unused: f32):
      %mean = arith.mulf %s, %share : f32
      %r = arith.subf %a, %mean : f32
      linalg.yield %r : f32
  } -> tensor<512x256xf32>
  %squares = arith.mulf %centred, %centred : tensor<512x256xf32>
  %sum_squares = linalg.reduce { arith.addf } ins(%squares : tensor<512x256xf32>)
      outs(%none : tensor<512xf32>) dimensions = [1]
  %factor = linalg.map ins(%sum_squares : tensor<512xf32>)
      outs(%row : tensor<512xf32>) (%s: f32, %unused: f32) {
    %variance = arith.mulf %s, %share : f32
    %safe = arith.addf %variance, %epsilon : f32
    %r = math.rsqrt %safe : f32
    linalg.yield %r : f32
  }
  %result = linalg.generic
      {indexing_maps = [#rows_columns, #rows, #rows_columns],
       iterator_types = ["parallel", "parallel"]}
      ins(%centred, %factor : tensor<512x256xf32>, tensor<512xf32>)
      outs(%full : tensor<512x256xf32>) {
    ^bb0(%a: f32, %f: f32, %unused: f32):
      %r = arith.mulf %a, %f : f32
      linalg.yield %r : f32
  } -> tensor<512x256xf32>
  return %result, %factor : tensor<512x256xf32>, tensor<512xf32>
}

// n (1 + gain) + bias
func.func private @scale(%n: tensor<512x256xf32>, %gain: tensor<256xf32>,
                         %bias: tensor<256xf32>) -> tensor<512x256xf32> {
  %one = arith.constant 1.0 : f32
  %full = tensor.empty() : tensor<512x256xf32>
  %result = linalg.generic
      {indexing_maps = [#rows_columns, #columns, #columns, #rows_columns],
       iterator_types = ["parallel", "parallel"]}
      ins(%n, %gain, %bias : tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>)
      outs(%full : tensor<512x256xf32>) {
    ^bb0(%a: f32, %g: f32, %b: f32, %unused: f32):
      %f = arith.addf %g, %one : f32
      %scaled = arith.mulf %a, %f : f32
      %r = arith.addf %scaled, %b : f32
      linalg.yield %r : f32
  } -> tensor<512x256xf32>
  return %result : tensor<512x256xf32>
}

// Gradients of @scale after @normalize, from that of the result: of x, plus
// `onto`, of gain and of bias.
func.func private @normalize_backward(
    %n: tensor<512x256xf32>, %factor: tensor<512xf32>, %gain: tensor<256xf32>,
    %d: tensor<512x256xf32>, %onto: tensor<512x256xf32>)
    -> (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %share = arith.constant 0.00390625 : f32 // 1 / 256
  %row = tensor.empty() : tensor<512xf32>
  %column = tensor.empty() : tensor<256xf32>
  %full = tensor.empty() : tensor<512x256xf32>
  %row_none = linalg.fill ins(%zero : f32) outs(%row : tensor<512xf32>)
      -> tensor<512xf32>
  %column_none = linalg.fill ins(%zero : f32) outs(%column : tensor<256xf32>)
      -> tensor<256xf32>
  %g_bias = linalg.reduce { arith.addf } ins(%d : tensor<512x256xf32>)
      outs(%column_none : tensor<256xf32>) dimensions = [0]
  %dn_n = arith.mulf %d, %n : tensor<512x256xf32>
  %g_gain = linalg.reduce { arith.addf } ins(%dn_n : tensor<512x256xf32>)
      outs(%column_none : tensor<256xf32>) dimensions = [0]
  %dn = linalg.generic
      {indexing_maps = [#rows_columns, #columns, #rows_columns],
       iterator_types = ["parallel", "parallel"]}
      ins(%d, %gain : tensor<512x256xf32>, tensor<256xf32>)
      outs(%full : tensor<512x256xf32>) {
    ^bb0(%a: f32, %g: f32, %unused: f32):
      %f = arith.addf %g, %one : f32
      %r = arith.mulf %a, %f : f32
      linalg.yield %r : f32
  } -> tensor<512x256xf32>
  // What changes the mean of a row, or its variance, does not get through.
  %sum = linalg.reduce { arith.addf } ins(%dn : tensor<512x256xf32>)
      outs(%row_none : tensor<512xf32>) dimensions = [1]
  %along = arith.mulf %dn, %n : tensor<512x256xf32>
  %sum_along = linalg.reduce { arith.addf } ins(%along : tensor<512x256xf32>)
      outs(%row_none : tensor<512xf32>) dimensions = [1]
  %dx = linalg.generic
      {indexing_maps = [#rows_columns, #rows_columns, #rows, #rows, #rows,
                        #rows_columns, #rows_columns],
       iterator_types = ["parallel", "parallel"]}
      ins(%dn, %n, %sum, %sum_along, %factor, %onto
          : tensor<512x256xf32>, tensor<512x256xf32>, tensor<512xf32>,
            tensor<512xf32>, tensor<512xf32>, tensor<512x256xf32>)
      outs(%full : tensor<512x256xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32, %t: f32, %f: f32, %o: f32, %unused: f32):
      %mean = arith.mulf %s, %share : f32
      %slope = arith.mulf %t, %share : f32
      %b_slope = arith.mulf %b, %slope : f32
      %c = arith.subf %a, %mean : f32
      %c_b = arith.subf %c, %b_slope : f32
      %c_f = arith.mulf %c_b, %f : f32
      %r = arith.addf %c_f, %o : f32
      linalg.yield %r : f32
  } -> tensor<512x256xf32>
  return %dx, %g_gain, %g_bias
      : tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>
}

// Gain and bias of the two norms of a layer.
func.func private @norm_rows(%norms: tensor<4x256xf32>)
    -> (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) {
  %gain_0 = tensor.extract_slice %norms[0, 0] [1, 256] [1, 1]
      : tensor<4x256xf32> to tensor<256xf32>
  %bias_0 = tensor.extract_slice %norms[1, 0] [1, 256] [1, 1]
      : tensor<4x256xf32> to tensor<256xf32>
  %gain_1 = tensor.extract_slice %norms[2, 0] [1, 256] [1, 1]
      : tensor<4x256xf32> to tensor<256xf32>
  %bias_1 = tensor.extract_slice %norms[3, 0] [1, 256] [1, 1]
      : tensor<4x256xf32> to tensor<256xf32>
  return %gain_0, %bias_0, %gain_1, %bias_1
      : tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>
}

// The rows of an array [s, row, column], as [piece, character, head, number].
func.func private @heads(%qkv: tensor<3x512x256xf32>)
    -> (tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>) {
  %all = tensor.expand_shape %qkv [[0], [1, 2], [3, 4]]
      output_shape [3, 4, 128, 4, 64]
      : tensor<3x512x256xf32> into tensor<3x4x128x4x64xf32>
  %q = tensor.extract_slice %all[0, 0, 0, 0, 0] [1, 4, 128, 4, 64] [1, 1, 1, 1, 1]
      : tensor<3x4x128x4x64xf32> to tensor<4x128x4x64xf32>
  %k = tensor.extract_slice %all[1, 0, 0, 0, 0] [1, 4, 128, 4, 64] [1, 1, 1, 1, 1]
      : tensor<3x4x128x4x64xf32> to tensor<4x128x4x64xf32>
  %v = tensor.extract_slice %all[2, 0, 0, 0, 0] [1, 4, 128, 4, 64] [1, 1, 1, 1, 1]
      : tensor<3x4x128x4x64xf32> to tensor<4x128x4x64xf32>
  return %q, %k, %v : tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>,
                      tensor<4x128x4x64xf32>
}

// Row n has a 1 where character n is, and zeros.
func.func private @one_hot(%chars: tensor<4x128xi8>) -> tensor<512x128xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %rows = tensor.collapse_shape %chars [[0, 1]] : tensor<4x128xi8> into tensor<512xi8>
  %empty = tensor.empty() : tensor<512x128xf32>
  %result = linalg.generic
      {indexing_maps = [#rows, #rows_columns],
       iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<512xi8>) outs(%empty : tensor<512x128xf32>) {
    ^bb0(%char: i8, %unused: f32):
      %column = linalg.index 1 : index
      %number = arith.index_cast %column : index to i8
      %is = arith.cmpi eq, %char, %number : i8
      %r = arith.select %is, %one, %zero : f32
      linalg.yield %r : f32
  } -> tensor<512x128xf32>
  return %result : tensor<512x128xf32>
}

//===----------------------------------------------------------------------===//
// The first and the last layer
//===----------------------------------------------------------------------===//

// What stands for the character, plus what stands for its place.
func.func private @embed(%chars: tensor<4x128xi8>, %token: tensor<128x256xf32>,
                         %place: tensor<128x256xf32>) -> tensor<512x256xf32> {
  %each = tensor.empty() : tensor<4x128x256xf32>
  %places = linalg.broadcast ins(%place : tensor<128x256xf32>)
      outs(%each : tensor<4x128x256xf32>) dimensions = [0]
  %numbers = arith.extui %chars : tensor<4x128xi8> to tensor<4x128xi32>
  %indices = tensor.expand_shape %numbers [[0], [1, 2]] output_shape [4, 128, 1]
      : tensor<4x128xi32> into tensor<4x128x1xi32>
  %tokens = tensor.gather %token[%indices] gather_dims([0])
      : (tensor<128x256xf32>, tensor<4x128x1xi32>) -> tensor<4x128x256xf32>
  %pieces = arith.addf %tokens, %places : tensor<4x128x256xf32>
  %x = tensor.collapse_shape %pieces [[0, 1], [2]]
      : tensor<4x128x256xf32> into tensor<512x256xf32>
  return %x : tensor<512x256xf32>
}

func.func private @embed_backward(%chars: tensor<4x128xi8>, %d: tensor<512x256xf32>)
    -> (tensor<128x256xf32>, tensor<128x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %table = tensor.empty() : tensor<128x256xf32>
  %none = linalg.fill ins(%zero : f32) outs(%table : tensor<128x256xf32>)
      -> tensor<128x256xf32>
  %hot = func.call @one_hot(%chars) : (tensor<4x128xi8>) -> tensor<512x128xf32>
  %g_token = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%hot, %d : tensor<512x128xf32>, tensor<512x256xf32>)
      outs(%none : tensor<128x256xf32>) -> tensor<128x256xf32>
  %pieces = tensor.expand_shape %d [[0, 1], [2]] output_shape [4, 128, 256]
      : tensor<512x256xf32> into tensor<4x128x256xf32>
  %g_place = linalg.reduce { arith.addf } ins(%pieces : tensor<4x128x256xf32>)
      outs(%none : tensor<128x256xf32>) dimensions = [0]
  return %g_token, %g_place : tensor<128x256xf32>, tensor<128x256xf32>
}

// The rows of `norm` are gain and bias.
func.func private @last_norm(%x: tensor<512x256xf32>, %norm: tensor<2x256xf32>)
    -> (tensor<512x256xf32>, tensor<512x256xf32>, tensor<512xf32>, tensor<256xf32>) {
  %gain = tensor.extract_slice %norm[0, 0] [1, 256] [1, 1]
      : tensor<2x256xf32> to tensor<256xf32>
  %bias = tensor.extract_slice %norm[1, 0] [1, 256] [1, 1]
      : tensor<2x256xf32> to tensor<256xf32>
  %n, %factor = func.call @normalize(%x)
      : (tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512xf32>)
  %a = func.call @scale(%n, %gain, %bias)
      : (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<512x256xf32>
  return %a, %n, %factor, %gain
      : tensor<512x256xf32>, tensor<512x256xf32>, tensor<512xf32>, tensor<256xf32>
}

// The mean of -log q[next character], and q, the probabilities of all characters.
func.func private @head(%x: tensor<512x256xf32>, %norm: tensor<2x256xf32>,
                        %head: tensor<128x256xf32>, %next: tensor<4x128xi8>)
    -> (tensor<f32>, tensor<512x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %share = arith.constant 0.001953125 : f32 // 1 / 512
  %row = tensor.empty() : tensor<512xf32>
  %full = tensor.empty() : tensor<512x128xf32>
  %scalar = tensor.empty() : tensor<f32>
  %row_none = linalg.fill ins(%zero : f32) outs(%row : tensor<512xf32>)
      -> tensor<512xf32>
  %row_lowest = linalg.fill ins(%lowest : f32) outs(%row : tensor<512xf32>)
      -> tensor<512xf32>
  %full_none = linalg.fill ins(%zero : f32) outs(%full : tensor<512x128xf32>)
      -> tensor<512x128xf32>
  %scalar_none = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>

  %a, %n, %factor, %gain = func.call @last_norm(%x, %norm)
      : (tensor<512x256xf32>, tensor<2x256xf32>)
      -> (tensor<512x256xf32>, tensor<512x256xf32>, tensor<512xf32>, tensor<256xf32>)
  %scores = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%a, %head : tensor<512x256xf32>, tensor<128x256xf32>)
      outs(%full_none : tensor<512x128xf32>) -> tensor<512x128xf32>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<512x128xf32>)
      outs(%row_lowest : tensor<512xf32>) dimensions = [1]
  %e = linalg.generic
      {indexing_maps = [#rows_columns, #rows, #rows_columns],
       iterator_types = ["parallel", "parallel"]}
      ins(%scores, %max : tensor<512x128xf32>, tensor<512xf32>)
      outs(%full : tensor<512x128xf32>) {
    ^bb0(%s: f32, %m: f32, %unused: f32):
      %z = arith.subf %s, %m : f32
      %r = math.exp %z : f32
      linalg.yield %r : f32
  } -> tensor<512x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<512x128xf32>)
      outs(%row_none : tensor<512xf32>) dimensions = [1]
  %q = linalg.generic
      {indexing_maps = [#rows_columns, #rows, #rows_columns],
       iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : tensor<512x128xf32>, tensor<512xf32>)
      outs(%full : tensor<512x128xf32>) {
    ^bb0(%a0: f32, %s: f32, %unused: f32):
      %r = arith.divf %a0, %s : f32
      linalg.yield %r : f32
  } -> tensor<512x128xf32>

  // log(sum of exp(scores - max)) - (score of the next one - max)
  %hot = func.call @one_hot(%next) : (tensor<4x128xi8>) -> tensor<512x128xf32>
  %masked = arith.mulf %scores, %hot : tensor<512x128xf32>
  %own = linalg.reduce { arith.addf } ins(%masked : tensor<512x128xf32>)
      outs(%row_none : tensor<512xf32>) dimensions = [1]
  %losses = linalg.map ins(%sum, %max, %own
          : tensor<512xf32>, tensor<512xf32>, tensor<512xf32>)
      outs(%row : tensor<512xf32>) (%s: f32, %m: f32, %o: f32, %unused: f32) {
    %log = math.log %s : f32
    %z = arith.subf %o, %m : f32
    %l = arith.subf %log, %z : f32
    %r = arith.mulf %l, %share : f32
    linalg.yield %r : f32
  }
  %loss = linalg.reduce { arith.addf } ins(%losses : tensor<512xf32>)
      outs(%scalar_none : tensor<f32>) dimensions = [0]
  return %loss, %q : tensor<f32>, tensor<512x128xf32>
}

func.func private @head_backward(
    %x: tensor<512x256xf32>, %q: tensor<512x128xf32>, %norm: tensor<2x256xf32>,
    %head: tensor<128x256xf32>, %next: tensor<4x128xi8>)
    -> (tensor<512x256xf32>, tensor<2x256xf32>, tensor<128x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %share = arith.constant dense<0.001953125> : tensor<512x128xf32> // 1 / 512
  %rows = tensor.empty() : tensor<512x256xf32>
  %rows_none = linalg.fill ins(%zero : f32) outs(%rows : tensor<512x256xf32>)
      -> tensor<512x256xf32>
  %matrix = tensor.empty() : tensor<128x256xf32>
  %matrix_none = linalg.fill ins(%zero : f32) outs(%matrix : tensor<128x256xf32>)
      -> tensor<128x256xf32>
  %a, %n, %factor, %gain = func.call @last_norm(%x, %norm)
      : (tensor<512x256xf32>, tensor<2x256xf32>)
      -> (tensor<512x256xf32>, tensor<512x256xf32>, tensor<512xf32>, tensor<256xf32>)
  %hot = func.call @one_hot(%next) : (tensor<4x128xi8>) -> tensor<512x128xf32>
  %q_hot = arith.subf %q, %hot : tensor<512x128xf32>
  %d_scores = arith.mulf %q_hot, %share : tensor<512x128xf32>
  %g_head = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%d_scores, %a : tensor<512x128xf32>, tensor<512x256xf32>)
      outs(%matrix_none : tensor<128x256xf32>) -> tensor<128x256xf32>
  %da = linalg.matmul ins(%d_scores, %head : tensor<512x128xf32>, tensor<128x256xf32>)
      outs(%rows_none : tensor<512x256xf32>) -> tensor<512x256xf32>
  %dx, %g_gain, %g_bias =
      func.call @normalize_backward(%n, %factor, %gain, %da, %rows_none)
      : (tensor<512x256xf32>, tensor<512xf32>, tensor<256xf32>, tensor<512x256xf32>,
         tensor<512x256xf32>)
      -> (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>)
  %gain_row = tensor.expand_shape %g_gain [[0, 1]] output_shape [1, 256]
      : tensor<256xf32> into tensor<1x256xf32>
  %bias_row = tensor.expand_shape %g_bias [[0, 1]] output_shape [1, 256]
      : tensor<256xf32> into tensor<1x256xf32>
  %g_norm = tensor.concat dim(0) %gain_row, %bias_row
      : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<2x256xf32>
  return %dx, %g_norm, %g_head
      : tensor<512x256xf32>, tensor<2x256xf32>, tensor<128x256xf32>
}

//===----------------------------------------------------------------------===//
// A layer between
//===----------------------------------------------------------------------===//

// 0.5 h (1 + t), t = tanh(sqrt(2 / pi) (h + 0.044715 h^3))
func.func private @gelu(%h: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c = arith.constant 0.7978845608 : f32
  %c3 = arith.constant 0.044715 : f32
  %empty = tensor.empty() : tensor<512x1024xf32>
  %result = linalg.map ins(%h : tensor<512x1024xf32>)
      outs(%empty : tensor<512x1024xf32>) (%x: f32, %unused: f32) {
    %x2 = arith.mulf %x, %x : f32
    %s = arith.mulf %x2, %c3 : f32
    %s1 = arith.addf %s, %one : f32
    %xs = arith.mulf %x, %s1 : f32
    %u = arith.mulf %xs, %c : f32
    %t = math.tanh %u : f32
    %t1 = arith.addf %t, %one : f32
    %half_x = arith.mulf %x, %half : f32
    %r = arith.mulf %half_x, %t1 : f32
    linalg.yield %r : f32
  }
  return %result : tensor<512x1024xf32>
}

// d, that of the result, times
// 0.5 (1 + t) + 0.5 h (1 - t^2) sqrt(2 / pi) (1 + 3 * 0.044715 h^2)
func.func private @gelu_backward(%h: tensor<512x1024xf32>, %d: tensor<512x1024xf32>)
    -> tensor<512x1024xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %c = arith.constant 0.7978845608 : f32
  %c3 = arith.constant 0.044715 : f32
  %c3_3 = arith.constant 0.134145 : f32
  %empty = tensor.empty() : tensor<512x1024xf32>
  %result = linalg.map ins(%h, %d : tensor<512x1024xf32>, tensor<512x1024xf32>)
      outs(%empty : tensor<512x1024xf32>) (%x: f32, %dg: f32, %unused: f32) {
    %x2 = arith.mulf %x, %x : f32
    %s = arith.mulf %x2, %c3 : f32
    %s1 = arith.addf %s, %one : f32
    %xs = arith.mulf %x, %s1 : f32
    %u = arith.mulf %xs, %c : f32
    %t = math.tanh %u : f32
    %t1 = arith.addf %t, %one : f32
    %first = arith.mulf %t1, %half : f32
    %t2 = arith.mulf %t, %t : f32
    %slope = arith.subf %one, %t2 : f32
    %v = arith.mulf %x2, %c3_3 : f32
    %v1 = arith.addf %v, %one : f32
    %du = arith.mulf %v1, %c : f32
    %half_x = arith.mulf %x, %half : f32
    %a = arith.mulf %half_x, %slope : f32
    %second = arith.mulf %a, %du : f32
    %both = arith.addf %first, %second : f32
    %r = arith.mulf %both, %dg : f32
    linalg.yield %r : f32
  }
  return %result : tensor<512x1024xf32>
}

// Queries, keys and values.
func.func private @project(%a: tensor<512x256xf32>, %w: tensor<3x256x256xf32>)
    -> tensor<3x512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x512x256xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x512x256xf32>)
      -> tensor<3x512x256xf32>
  %qkv = linalg.contract indexing_maps = [#s_rows, #s_matrix, #s_result]
      ins(%a, %w : tensor<512x256xf32>, tensor<3x256x256xf32>)
      outs(%none : tensor<3x512x256xf32>) -> tensor<3x512x256xf32>
  return %qkv : tensor<3x512x256xf32>
}

// p = softmax(q k^T / 8) over what was read so far, and p v.
func.func private @attend(%qkv: tensor<3x512x256xf32>)
    -> (tensor<4x4x128x128xf32>, tensor<512x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %eighth = arith.constant 0.125 : f32
  %q, %k, %v = func.call @heads(%qkv) : (tensor<3x512x256xf32>)
      -> (tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>)
  %full = tensor.empty() : tensor<4x4x128x128xf32>
  %row = tensor.empty() : tensor<4x4x128xf32>
  %heads = tensor.empty() : tensor<4x128x4x64xf32>
  %full_none = linalg.fill ins(%zero : f32) outs(%full : tensor<4x4x128x128xf32>)
      -> tensor<4x4x128x128xf32>
  %row_none = linalg.fill ins(%zero : f32) outs(%row : tensor<4x4x128xf32>)
      -> tensor<4x4x128xf32>
  %row_lowest = linalg.fill ins(%lowest : f32) outs(%row : tensor<4x4x128xf32>)
      -> tensor<4x4x128xf32>
  %heads_none = linalg.fill ins(%zero : f32) outs(%heads : tensor<4x128x4x64xf32>)
      -> tensor<4x128x4x64xf32>
  %products = linalg.contract indexing_maps = [#bihe, #bjhe, #bhij]
      ins(%q, %k : tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>)
      outs(%full_none : tensor<4x4x128x128xf32>) -> tensor<4x4x128x128xf32>
  %scores = linalg.generic
      {indexing_maps = [#scores, #scores],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%products : tensor<4x4x128x128xf32>)
      outs(%full : tensor<4x4x128x128xf32>) {
    ^bb0(%s: f32, %unused: f32):
      %i = linalg.index 2 : index
      %j = linalg.index 3 : index
      %is_read = arith.cmpi ule, %j, %i : index
      %scaled = arith.mulf %s, %eighth : f32
      %r = arith.select %is_read, %scaled, %lowest : f32
      linalg.yield %r : f32
  } -> tensor<4x4x128x128xf32>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<4x4x128x128xf32>)
      outs(%row_lowest : tensor<4x4x128xf32>) dimensions = [3]
  %e = linalg.generic
      {indexing_maps = [#scores, #per_row, #scores],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores, %max : tensor<4x4x128x128xf32>, tensor<4x4x128xf32>)
      outs(%full : tensor<4x4x128x128xf32>) {
    ^bb0(%s: f32, %m: f32, %unused: f32):
      %z = arith.subf %s, %m : f32
      %r = math.exp %z : f32
      linalg.yield %r : f32
  } -> tensor<4x4x128x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<4x4x128x128xf32>)
      outs(%row_none : tensor<4x4x128xf32>) dimensions = [3]
  %p = linalg.generic
      {indexing_maps = [#scores, #per_row, #scores],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<4x4x128x128xf32>, tensor<4x4x128xf32>)
      outs(%full : tensor<4x4x128x128xf32>) {
    ^bb0(%a: f32, %s: f32, %unused: f32):
      %r = arith.divf %a, %s : f32
      linalg.yield %r : f32
  } -> tensor<4x4x128x128xf32>
  %o = linalg.contract indexing_maps = [#bhij, #bjhe, #bihe]
      ins(%p, %v : tensor<4x4x128x128xf32>, tensor<4x128x4x64xf32>)
      outs(%heads_none : tensor<4x128x4x64xf32>) -> tensor<4x128x4x64xf32>
  %rows = tensor.collapse_shape %o [[0, 1], [2, 3]]
      : tensor<4x128x4x64xf32> into tensor<512x256xf32>
  return %p, %rows : tensor<4x4x128x128xf32>, tensor<512x256xf32>
}

// The gradient of queries, keys and values from that of the result, d.
func.func private @attend_backward(
    %qkv: tensor<3x512x256xf32>, %p: tensor<4x4x128x128xf32>, %d: tensor<512x256xf32>)
    -> tensor<3x512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %q, %k, %v = func.call @heads(%qkv) : (tensor<3x512x256xf32>)
      -> (tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>)
  %do = tensor.expand_shape %d [[0, 1], [2, 3]] output_shape [4, 128, 4, 64]
      : tensor<512x256xf32> into tensor<4x128x4x64xf32>
  %full = tensor.empty() : tensor<4x4x128x128xf32>
  %row = tensor.empty() : tensor<4x4x128xf32>
  %heads = tensor.empty() : tensor<4x128x4x64xf32>
  %full_none = linalg.fill ins(%zero : f32) outs(%full : tensor<4x4x128x128xf32>)
      -> tensor<4x4x128x128xf32>
  %row_none = linalg.fill ins(%zero : f32) outs(%row : tensor<4x4x128xf32>)
      -> tensor<4x4x128xf32>
  %none = linalg.fill ins(%zero : f32) outs(%heads : tensor<4x128x4x64xf32>)
      -> tensor<4x128x4x64xf32>
  %dv = linalg.contract indexing_maps = [#bhij, #bihe, #bjhe]
      ins(%p, %do : tensor<4x4x128x128xf32>, tensor<4x128x4x64xf32>)
      outs(%none : tensor<4x128x4x64xf32>) -> tensor<4x128x4x64xf32>
  %dp = linalg.contract indexing_maps = [#bihe, #bjhe, #bhij]
      ins(%do, %v : tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>)
      outs(%full_none : tensor<4x4x128x128xf32>) -> tensor<4x4x128x128xf32>
  %p_dp = arith.mulf %p, %dp : tensor<4x4x128x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%p_dp : tensor<4x4x128x128xf32>)
      outs(%row_none : tensor<4x4x128xf32>) dimensions = [3]
  %ds = linalg.generic
      {indexing_maps = [#scores, #scores, #per_row, #scores],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %dp, %sum
          : tensor<4x4x128x128xf32>, tensor<4x4x128x128xf32>, tensor<4x4x128xf32>)
      outs(%full : tensor<4x4x128x128xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32, %unused: f32):
      %less = arith.subf %b, %s : f32
      %dz = arith.mulf %a, %less : f32
      %r = arith.mulf %dz, %eighth : f32
      linalg.yield %r : f32
  } -> tensor<4x4x128x128xf32>
  %dq = linalg.contract indexing_maps = [#bhij, #bjhe, #bihe]
      ins(%ds, %k : tensor<4x4x128x128xf32>, tensor<4x128x4x64xf32>)
      outs(%none : tensor<4x128x4x64xf32>) -> tensor<4x128x4x64xf32>
  %dk = linalg.contract indexing_maps = [#bhij, #bihe, #bjhe]
      ins(%ds, %q : tensor<4x4x128x128xf32>, tensor<4x128x4x64xf32>)
      outs(%none : tensor<4x128x4x64xf32>) -> tensor<4x128x4x64xf32>
  %dq_1 = tensor.expand_shape %dq [[0, 1], [2], [3], [4]]
      output_shape [1, 4, 128, 4, 64]
      : tensor<4x128x4x64xf32> into tensor<1x4x128x4x64xf32>
  %dk_1 = tensor.expand_shape %dk [[0, 1], [2], [3], [4]]
      output_shape [1, 4, 128, 4, 64]
      : tensor<4x128x4x64xf32> into tensor<1x4x128x4x64xf32>
  %dv_1 = tensor.expand_shape %dv [[0, 1], [2], [3], [4]]
      output_shape [1, 4, 128, 4, 64]
      : tensor<4x128x4x64xf32> into tensor<1x4x128x4x64xf32>
  %all = tensor.concat dim(0) %dq_1, %dk_1, %dv_1
      : (tensor<1x4x128x4x64xf32>, tensor<1x4x128x4x64xf32>,
         tensor<1x4x128x4x64xf32>) -> tensor<3x4x128x4x64xf32>
  %dqkv = tensor.collapse_shape %all [[0], [1, 2], [3, 4]]
      : tensor<3x4x128x4x64xf32> into tensor<3x512x256xf32>
  return %dqkv : tensor<3x512x256xf32>
}

// z = x + attention(norm(x)) wo, y = z + gelu(norm(z) win^T) wout. Besides y these are
// results that the way back reads: queries, keys and values, the weights of the
// attention p and its result o, z, and h = norm(z) win^T.
func.func private @layer(
    %x: tensor<512x256xf32>, %norms: tensor<4x256xf32>, %wqkv: tensor<3x256x256xf32>,
    %wo: tensor<256x256xf32>, %win: tensor<1024x256xf32>, %wout: tensor<1024x256xf32>)
    -> (tensor<512x256xf32>, tensor<3x512x256xf32>, tensor<4x4x128x128xf32>,
        tensor<512x256xf32>, tensor<512x256xf32>, tensor<512x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x1024xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x1024xf32>)
      -> tensor<512x1024xf32>
  %gain_0, %bias_0, %gain_1, %bias_1 = func.call @norm_rows(%norms)
      : (tensor<4x256xf32>)
      -> (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>)

  %n_0, %factor_0 = func.call @normalize(%x)
      : (tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512xf32>)
  %a_0 = func.call @scale(%n_0, %gain_0, %bias_0)
      : (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<512x256xf32>
  %qkv = func.call @project(%a_0, %wqkv)
      : (tensor<512x256xf32>, tensor<3x256x256xf32>) -> tensor<3x512x256xf32>
  %p, %o = func.call @attend(%qkv)
      : (tensor<3x512x256xf32>) -> (tensor<4x4x128x128xf32>, tensor<512x256xf32>)
  %z = linalg.matmul ins(%o, %wo : tensor<512x256xf32>, tensor<256x256xf32>)
      outs(%x : tensor<512x256xf32>) -> tensor<512x256xf32>

  %n_1, %factor_1 = func.call @normalize(%z)
      : (tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512xf32>)
  %a_1 = func.call @scale(%n_1, %gain_1, %bias_1)
      : (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<512x256xf32>
  %h = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%a_1, %win : tensor<512x256xf32>, tensor<1024x256xf32>)
      outs(%none : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %g = func.call @gelu(%h) : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %y = linalg.matmul ins(%g, %wout : tensor<512x1024xf32>, tensor<1024x256xf32>)
      outs(%z : tensor<512x256xf32>) -> tensor<512x256xf32>
  return %y, %qkv, %p, %o, %z, %h
      : tensor<512x256xf32>, tensor<3x512x256xf32>, tensor<4x4x128x128xf32>,
        tensor<512x256xf32>, tensor<512x256xf32>, tensor<512x1024xf32>
}

// From the gradient of y those of x and of the parameters, in the order of @layer.
func.func private @layer_backward(
    %x: tensor<512x256xf32>, %qkv: tensor<3x512x256xf32>,
    %p: tensor<4x4x128x128xf32>, %o: tensor<512x256xf32>, %z: tensor<512x256xf32>,
    %h: tensor<512x1024xf32>, %dy: tensor<512x256xf32>, %norms: tensor<4x256xf32>,
    %wqkv: tensor<3x256x256xf32>, %wo: tensor<256x256xf32>,
    %win: tensor<1024x256xf32>, %wout: tensor<1024x256xf32>)
    -> (tensor<512x256xf32>, tensor<4x256xf32>, tensor<3x256x256xf32>,
        tensor<256x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<512x256xf32>
  %rows_none = linalg.fill ins(%zero : f32) outs(%rows : tensor<512x256xf32>)
      -> tensor<512x256xf32>
  %gain_0, %bias_0, %gain_1, %bias_1 = func.call @norm_rows(%norms)
      : (tensor<4x256xf32>)
      -> (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>)

  // y = z + gelu(h) wout
  %g = func.call @gelu(%h) : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %w_empty = tensor.empty() : tensor<1024x256xf32>
  %w_none = linalg.fill ins(%zero : f32) outs(%w_empty : tensor<1024x256xf32>)
      -> tensor<1024x256xf32>
  %g_wout = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%g, %dy : tensor<512x1024xf32>, tensor<512x256xf32>)
      outs(%w_none : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %h_empty = tensor.empty() : tensor<512x1024xf32>
  %h_none = linalg.fill ins(%zero : f32) outs(%h_empty : tensor<512x1024xf32>)
      -> tensor<512x1024xf32>
  %dg = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%dy, %wout : tensor<512x256xf32>, tensor<1024x256xf32>)
      outs(%h_none : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %dh = func.call @gelu_backward(%h, %dg)
      : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>

  // h = norm(z) win^T
  %n_1, %factor_1 = func.call @normalize(%z)
      : (tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512xf32>)
  %a_1 = func.call @scale(%n_1, %gain_1, %bias_1)
      : (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<512x256xf32>
  %g_win = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%dh, %a_1 : tensor<512x1024xf32>, tensor<512x256xf32>)
      outs(%w_none : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %da_1 = linalg.matmul
      ins(%dh, %win : tensor<512x1024xf32>, tensor<1024x256xf32>)
      outs(%rows_none : tensor<512x256xf32>) -> tensor<512x256xf32>
  %dz, %g_gain_1, %g_bias_1 =
      func.call @normalize_backward(%n_1, %factor_1, %gain_1, %da_1, %dy)
      : (tensor<512x256xf32>, tensor<512xf32>, tensor<256xf32>, tensor<512x256xf32>,
         tensor<512x256xf32>)
      -> (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>)

  // z = x + o wo
  %wo_empty = tensor.empty() : tensor<256x256xf32>
  %wo_none = linalg.fill ins(%zero : f32) outs(%wo_empty : tensor<256x256xf32>)
      -> tensor<256x256xf32>
  %g_wo = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%o, %dz : tensor<512x256xf32>, tensor<512x256xf32>)
      outs(%wo_none : tensor<256x256xf32>) -> tensor<256x256xf32>
  %do = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%dz, %wo : tensor<512x256xf32>, tensor<256x256xf32>)
      outs(%rows_none : tensor<512x256xf32>) -> tensor<512x256xf32>
  %dqkv = func.call @attend_backward(%qkv, %p, %do)
      : (tensor<3x512x256xf32>, tensor<4x4x128x128xf32>, tensor<512x256xf32>)
      -> tensor<3x512x256xf32>

  // qkv = norm(x) wqkv
  %n_0, %factor_0 = func.call @normalize(%x)
      : (tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512xf32>)
  %a_0 = func.call @scale(%n_0, %gain_0, %bias_0)
      : (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<512x256xf32>
  %wqkv_empty = tensor.empty() : tensor<3x256x256xf32>
  %wqkv_none = linalg.fill ins(%zero : f32) outs(%wqkv_empty : tensor<3x256x256xf32>)
      -> tensor<3x256x256xf32>
  %g_wqkv = linalg.contract indexing_maps = [#s_rows, #s_result, #s_matrix]
      ins(%a_0, %dqkv : tensor<512x256xf32>, tensor<3x512x256xf32>)
      outs(%wqkv_none : tensor<3x256x256xf32>) -> tensor<3x256x256xf32>
  %da_0 = linalg.contract indexing_maps = [#s_result, #s_matrix, #s_rows]
      ins(%dqkv, %wqkv : tensor<3x512x256xf32>, tensor<3x256x256xf32>)
      outs(%rows_none : tensor<512x256xf32>) -> tensor<512x256xf32>
  %dx, %g_gain_0, %g_bias_0 =
      func.call @normalize_backward(%n_0, %factor_0, %gain_0, %da_0, %dz)
      : (tensor<512x256xf32>, tensor<512xf32>, tensor<256xf32>, tensor<512x256xf32>,
         tensor<512x256xf32>)
      -> (tensor<512x256xf32>, tensor<256xf32>, tensor<256xf32>)

  %row_0 = tensor.expand_shape %g_gain_0 [[0, 1]] output_shape [1, 256]
      : tensor<256xf32> into tensor<1x256xf32>
  %row_1 = tensor.expand_shape %g_bias_0 [[0, 1]] output_shape [1, 256]
      : tensor<256xf32> into tensor<1x256xf32>
  %row_2 = tensor.expand_shape %g_gain_1 [[0, 1]] output_shape [1, 256]
      : tensor<256xf32> into tensor<1x256xf32>
  %row_3 = tensor.expand_shape %g_bias_1 [[0, 1]] output_shape [1, 256]
      : tensor<256xf32> into tensor<1x256xf32>
  %g_norms = tensor.concat dim(0) %row_0, %row_1, %row_2, %row_3
      : (tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>)
      -> tensor<4x256xf32>
  return %dx, %g_norms, %g_wqkv, %g_wo, %g_win, %g_wout
      : tensor<512x256xf32>, tensor<4x256xf32>, tensor<3x256x256xf32>,
        tensor<256x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>
}

//===----------------------------------------------------------------------===//
// Adam
//===----------------------------------------------------------------------===//

// Averages that start at 0 are too small by a factor that grows to 1: the sum of
// the weights in them, 1 - 0.9^t for the gradients and 1 - 0.99^t for the squares.
// They are carried as the averages are, so that another launch goes on where this one
// ends; `pw.step_index` would begin with 0 there.
func.func private @tick(%clock: tensor<2xf32>) -> tensor<2xf32> {
  %kept = arith.constant dense<[0.9, 0.99]> : tensor<2xf32>
  %new = arith.constant dense<[0.1, 0.01]> : tensor<2xf32>
  %old = arith.mulf %clock, %kept : tensor<2xf32>
  %next = arith.addf %old, %new : tensor<2xf32>
  return %next : tensor<2xf32>
}

// For each shape of parameters: w, m and v of the next step from these and from the
// gradient g. A step goes along m / c over the root of v / c2, c and c2 being what
// the clock says.
func.func private @adam_128x256(
    %clock: tensor<2xf32>, %w: tensor<128x256xf32>, %g: tensor<128x256xf32>,
    %m: tensor<128x256xf32>, %v: tensor<128x256xf32>)
    -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>) {
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %c = tensor.extract %clock[%first] : tensor<2xf32>
  %c2 = tensor.extract %clock[%second] : tensor<2xf32>
  %rate = arith.constant 1.0e-3 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %kept = arith.constant 0.9 : f32
  %new = arith.constant 0.1 : f32
  %kept2 = arith.constant 0.99 : f32
  %new2 = arith.constant 0.01 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %next:3 = linalg.generic
      {indexing_maps = [#ij, #ij, #ij, #ij, #ij, #ij, #ij],
       iterator_types = ["parallel", "parallel"]}
      ins(%w, %g, %m, %v
          : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>,
            tensor<128x256xf32>)
      outs(%e, %e, %e
          : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>) {
    ^bb0(%w0: f32, %g0: f32, %m0: f32, %v0: f32, %u0: f32, %u1: f32, %u2: f32):
      %m_kept = arith.mulf %m0, %kept : f32
      %m_new = arith.mulf %g0, %new : f32
      %m1 = arith.addf %m_kept, %m_new : f32
      %v_kept = arith.mulf %v0, %kept2 : f32
      %g_g = arith.mulf %g0, %g0 : f32
      %v_new = arith.mulf %g_g, %new2 : f32
      %v1 = arith.addf %v_kept, %v_new : f32
      %mean = arith.divf %m1, %c : f32
      %mean2 = arith.divf %v1, %c2 : f32
      %root = math.sqrt %mean2 : f32
      %size = arith.addf %root, %epsilon : f32
      %part = arith.divf %mean, %size : f32
      %step = arith.mulf %part, %rate : f32
      %w1 = arith.subf %w0, %step : f32
      linalg.yield %w1, %m1, %v1 : f32, f32, f32
  } -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>)
  return %next#0, %next#1, %next#2
      : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>
}

func.func private @adam_2x256(
    %clock: tensor<2xf32>, %w: tensor<2x256xf32>, %g: tensor<2x256xf32>,
    %m: tensor<2x256xf32>, %v: tensor<2x256xf32>)
    -> (tensor<2x256xf32>, tensor<2x256xf32>, tensor<2x256xf32>) {
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %c = tensor.extract %clock[%first] : tensor<2xf32>
  %c2 = tensor.extract %clock[%second] : tensor<2xf32>
  %rate = arith.constant 1.0e-3 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %kept = arith.constant 0.9 : f32
  %new = arith.constant 0.1 : f32
  %kept2 = arith.constant 0.99 : f32
  %new2 = arith.constant 0.01 : f32
  %e = tensor.empty() : tensor<2x256xf32>
  %next:3 = linalg.generic
      {indexing_maps = [#ij, #ij, #ij, #ij, #ij, #ij, #ij],
       iterator_types = ["parallel", "parallel"]}
      ins(%w, %g, %m, %v
          : tensor<2x256xf32>, tensor<2x256xf32>, tensor<2x256xf32>,
            tensor<2x256xf32>)
      outs(%e, %e, %e
          : tensor<2x256xf32>, tensor<2x256xf32>, tensor<2x256xf32>) {
    ^bb0(%w0: f32, %g0: f32, %m0: f32, %v0: f32, %u0: f32, %u1: f32, %u2: f32):
      %m_kept = arith.mulf %m0, %kept : f32
      %m_new = arith.mulf %g0, %new : f32
      %m1 = arith.addf %m_kept, %m_new : f32
      %v_kept = arith.mulf %v0, %kept2 : f32
      %g_g = arith.mulf %g0, %g0 : f32
      %v_new = arith.mulf %g_g, %new2 : f32
      %v1 = arith.addf %v_kept, %v_new : f32
      %mean = arith.divf %m1, %c : f32
      %mean2 = arith.divf %v1, %c2 : f32
      %root = math.sqrt %mean2 : f32
      %size = arith.addf %root, %epsilon : f32
      %part = arith.divf %mean, %size : f32
      %step = arith.mulf %part, %rate : f32
      %w1 = arith.subf %w0, %step : f32
      linalg.yield %w1, %m1, %v1 : f32, f32, f32
  } -> (tensor<2x256xf32>, tensor<2x256xf32>, tensor<2x256xf32>)
  return %next#0, %next#1, %next#2
      : tensor<2x256xf32>, tensor<2x256xf32>, tensor<2x256xf32>
}

func.func private @adam_4x256(
    %clock: tensor<2xf32>, %w: tensor<4x256xf32>, %g: tensor<4x256xf32>,
    %m: tensor<4x256xf32>, %v: tensor<4x256xf32>)
    -> (tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>) {
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %c = tensor.extract %clock[%first] : tensor<2xf32>
  %c2 = tensor.extract %clock[%second] : tensor<2xf32>
  %rate = arith.constant 1.0e-3 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %kept = arith.constant 0.9 : f32
  %new = arith.constant 0.1 : f32
  %kept2 = arith.constant 0.99 : f32
  %new2 = arith.constant 0.01 : f32
  %e = tensor.empty() : tensor<4x256xf32>
  %next:3 = linalg.generic
      {indexing_maps = [#ij, #ij, #ij, #ij, #ij, #ij, #ij],
       iterator_types = ["parallel", "parallel"]}
      ins(%w, %g, %m, %v
          : tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>,
            tensor<4x256xf32>)
      outs(%e, %e, %e
          : tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>) {
    ^bb0(%w0: f32, %g0: f32, %m0: f32, %v0: f32, %u0: f32, %u1: f32, %u2: f32):
      %m_kept = arith.mulf %m0, %kept : f32
      %m_new = arith.mulf %g0, %new : f32
      %m1 = arith.addf %m_kept, %m_new : f32
      %v_kept = arith.mulf %v0, %kept2 : f32
      %g_g = arith.mulf %g0, %g0 : f32
      %v_new = arith.mulf %g_g, %new2 : f32
      %v1 = arith.addf %v_kept, %v_new : f32
      %mean = arith.divf %m1, %c : f32
      %mean2 = arith.divf %v1, %c2 : f32
      %root = math.sqrt %mean2 : f32
      %size = arith.addf %root, %epsilon : f32
      %part = arith.divf %mean, %size : f32
      %step = arith.mulf %part, %rate : f32
      %w1 = arith.subf %w0, %step : f32
      linalg.yield %w1, %m1, %v1 : f32, f32, f32
  } -> (tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>)
  return %next#0, %next#1, %next#2
      : tensor<4x256xf32>, tensor<4x256xf32>, tensor<4x256xf32>
}

func.func private @adam_256x256(
    %clock: tensor<2xf32>, %w: tensor<256x256xf32>, %g: tensor<256x256xf32>,
    %m: tensor<256x256xf32>, %v: tensor<256x256xf32>)
    -> (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) {
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %c = tensor.extract %clock[%first] : tensor<2xf32>
  %c2 = tensor.extract %clock[%second] : tensor<2xf32>
  %rate = arith.constant 1.0e-3 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %kept = arith.constant 0.9 : f32
  %new = arith.constant 0.1 : f32
  %kept2 = arith.constant 0.99 : f32
  %new2 = arith.constant 0.01 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %next:3 = linalg.generic
      {indexing_maps = [#ij, #ij, #ij, #ij, #ij, #ij, #ij],
       iterator_types = ["parallel", "parallel"]}
      ins(%w, %g, %m, %v
          : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>,
            tensor<256x256xf32>)
      outs(%e, %e, %e
          : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) {
    ^bb0(%w0: f32, %g0: f32, %m0: f32, %v0: f32, %u0: f32, %u1: f32, %u2: f32):
      %m_kept = arith.mulf %m0, %kept : f32
      %m_new = arith.mulf %g0, %new : f32
      %m1 = arith.addf %m_kept, %m_new : f32
      %v_kept = arith.mulf %v0, %kept2 : f32
      %g_g = arith.mulf %g0, %g0 : f32
      %v_new = arith.mulf %g_g, %new2 : f32
      %v1 = arith.addf %v_kept, %v_new : f32
      %mean = arith.divf %m1, %c : f32
      %mean2 = arith.divf %v1, %c2 : f32
      %root = math.sqrt %mean2 : f32
      %size = arith.addf %root, %epsilon : f32
      %part = arith.divf %mean, %size : f32
      %step = arith.mulf %part, %rate : f32
      %w1 = arith.subf %w0, %step : f32
      linalg.yield %w1, %m1, %v1 : f32, f32, f32
  } -> (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>)
  return %next#0, %next#1, %next#2
      : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>
}

func.func private @adam_1024x256(
    %clock: tensor<2xf32>, %w: tensor<1024x256xf32>, %g: tensor<1024x256xf32>,
    %m: tensor<1024x256xf32>, %v: tensor<1024x256xf32>)
    -> (tensor<1024x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>) {
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %c = tensor.extract %clock[%first] : tensor<2xf32>
  %c2 = tensor.extract %clock[%second] : tensor<2xf32>
  %rate = arith.constant 1.0e-3 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %kept = arith.constant 0.9 : f32
  %new = arith.constant 0.1 : f32
  %kept2 = arith.constant 0.99 : f32
  %new2 = arith.constant 0.01 : f32
  %e = tensor.empty() : tensor<1024x256xf32>
  %next:3 = linalg.generic
      {indexing_maps = [#ij, #ij, #ij, #ij, #ij, #ij, #ij],
       iterator_types = ["parallel", "parallel"]}
      ins(%w, %g, %m, %v
          : tensor<1024x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>,
            tensor<1024x256xf32>)
      outs(%e, %e, %e
          : tensor<1024x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>) {
    ^bb0(%w0: f32, %g0: f32, %m0: f32, %v0: f32, %u0: f32, %u1: f32, %u2: f32):
      %m_kept = arith.mulf %m0, %kept : f32
      %m_new = arith.mulf %g0, %new : f32
      %m1 = arith.addf %m_kept, %m_new : f32
      %v_kept = arith.mulf %v0, %kept2 : f32
      %g_g = arith.mulf %g0, %g0 : f32
      %v_new = arith.mulf %g_g, %new2 : f32
      %v1 = arith.addf %v_kept, %v_new : f32
      %mean = arith.divf %m1, %c : f32
      %mean2 = arith.divf %v1, %c2 : f32
      %root = math.sqrt %mean2 : f32
      %size = arith.addf %root, %epsilon : f32
      %part = arith.divf %mean, %size : f32
      %step = arith.mulf %part, %rate : f32
      %w1 = arith.subf %w0, %step : f32
      linalg.yield %w1, %m1, %v1 : f32, f32, f32
  } -> (tensor<1024x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>)
  return %next#0, %next#1, %next#2
      : tensor<1024x256xf32>, tensor<1024x256xf32>, tensor<1024x256xf32>
}

func.func private @adam_3x256x256(
    %clock: tensor<2xf32>, %w: tensor<3x256x256xf32>, %g: tensor<3x256x256xf32>,
    %m: tensor<3x256x256xf32>, %v: tensor<3x256x256xf32>)
    -> (tensor<3x256x256xf32>, tensor<3x256x256xf32>, tensor<3x256x256xf32>) {
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %c = tensor.extract %clock[%first] : tensor<2xf32>
  %c2 = tensor.extract %clock[%second] : tensor<2xf32>
  %rate = arith.constant 1.0e-3 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %kept = arith.constant 0.9 : f32
  %new = arith.constant 0.1 : f32
  %kept2 = arith.constant 0.99 : f32
  %new2 = arith.constant 0.01 : f32
  %e = tensor.empty() : tensor<3x256x256xf32>
  %next:3 = linalg.generic
      {indexing_maps = [#sij, #sij, #sij, #sij, #sij, #sij, #sij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %g, %m, %v
          : tensor<3x256x256xf32>, tensor<3x256x256xf32>, tensor<3x256x256xf32>,
            tensor<3x256x256xf32>)
      outs(%e, %e, %e
          : tensor<3x256x256xf32>, tensor<3x256x256xf32>, tensor<3x256x256xf32>) {
    ^bb0(%w0: f32, %g0: f32, %m0: f32, %v0: f32, %u0: f32, %u1: f32, %u2: f32):
      %m_kept = arith.mulf %m0, %kept : f32
      %m_new = arith.mulf %g0, %new : f32
      %m1 = arith.addf %m_kept, %m_new : f32
      %v_kept = arith.mulf %v0, %kept2 : f32
      %g_g = arith.mulf %g0, %g0 : f32
      %v_new = arith.mulf %g_g, %new2 : f32
      %v1 = arith.addf %v_kept, %v_new : f32
      %mean = arith.divf %m1, %c : f32
      %mean2 = arith.divf %v1, %c2 : f32
      %root = math.sqrt %mean2 : f32
      %size = arith.addf %root, %epsilon : f32
      %part = arith.divf %mean, %size : f32
      %step = arith.mulf %part, %rate : f32
      %w1 = arith.subf %w0, %step : f32
      linalg.yield %w1, %m1, %v1 : f32, f32, f32
  } -> (tensor<3x256x256xf32>, tensor<3x256x256xf32>, tensor<3x256x256xf32>)
  return %next#0, %next#1, %next#2
      : tensor<3x256x256xf32>, tensor<3x256x256xf32>, tensor<3x256x256xf32>
}

// One step of training. Everything that it learns is carried: the parameters, the
// averages m and v of their gradients and of the squares of these, and the clock.
pw.program @train(
    %inputs: !chars {pw.stepped}, %targets: !chars_b {pw.stepped},
    %clock: !clock {pw.carried = 0 : i64},
    %token: !table {pw.carried = 1 : i64},
    %place: !table {pw.carried = 2 : i64},
    %norms0: !norms {pw.carried = 3 : i64},
    %wqkv0: !wqkv {pw.carried = 4 : i64},
    %wo0: !wo {pw.carried = 5 : i64},
    %win0: !win {pw.carried = 6 : i64},
    %wout0: !wout {pw.carried = 7 : i64},
    %norms1: !norms {pw.carried = 8 : i64},
    %wqkv1: !wqkv {pw.carried = 9 : i64},
    %wo1: !wo {pw.carried = 10 : i64},
    %win1: !win {pw.carried = 11 : i64},
    %wout1: !wout {pw.carried = 12 : i64},
    %norms2: !norms_b {pw.carried = 13 : i64},
    %wqkv2: !wqkv_b {pw.carried = 14 : i64},
    %wo2: !wo_b {pw.carried = 15 : i64},
    %win2: !win_b {pw.carried = 16 : i64},
    %wout2: !wout_b {pw.carried = 17 : i64},
    %norms3: !norms_b {pw.carried = 18 : i64},
    %wqkv3: !wqkv_b {pw.carried = 19 : i64},
    %wo3: !wo_b {pw.carried = 20 : i64},
    %win3: !win_b {pw.carried = 21 : i64},
    %wout3: !wout_b {pw.carried = 22 : i64},
    %norm: !norm {pw.carried = 23 : i64},
    %head: !head {pw.carried = 24 : i64},
    %m_token: !table {pw.carried = 25 : i64},
    %m_place: !table {pw.carried = 26 : i64},
    %m_norms0: !norms {pw.carried = 27 : i64},
    %m_wqkv0: !wqkv {pw.carried = 28 : i64},
    %m_wo0: !wo {pw.carried = 29 : i64},
    %m_win0: !win {pw.carried = 30 : i64},
    %m_wout0: !wout {pw.carried = 31 : i64},
    %m_norms1: !norms {pw.carried = 32 : i64},
    %m_wqkv1: !wqkv {pw.carried = 33 : i64},
    %m_wo1: !wo {pw.carried = 34 : i64},
    %m_win1: !win {pw.carried = 35 : i64},
    %m_wout1: !wout {pw.carried = 36 : i64},
    %m_norms2: !norms_b {pw.carried = 37 : i64},
    %m_wqkv2: !wqkv_b {pw.carried = 38 : i64},
    %m_wo2: !wo_b {pw.carried = 39 : i64},
    %m_win2: !win_b {pw.carried = 40 : i64},
    %m_wout2: !wout_b {pw.carried = 41 : i64},
    %m_norms3: !norms_b {pw.carried = 42 : i64},
    %m_wqkv3: !wqkv_b {pw.carried = 43 : i64},
    %m_wo3: !wo_b {pw.carried = 44 : i64},
    %m_win3: !win_b {pw.carried = 45 : i64},
    %m_wout3: !wout_b {pw.carried = 46 : i64},
    %m_norm: !norm {pw.carried = 47 : i64},
    %m_head: !head {pw.carried = 48 : i64},
    %v_token: !table {pw.carried = 49 : i64},
    %v_place: !table {pw.carried = 50 : i64},
    %v_norms0: !norms {pw.carried = 51 : i64},
    %v_wqkv0: !wqkv {pw.carried = 52 : i64},
    %v_wo0: !wo {pw.carried = 53 : i64},
    %v_win0: !win {pw.carried = 54 : i64},
    %v_wout0: !wout {pw.carried = 55 : i64},
    %v_norms1: !norms {pw.carried = 56 : i64},
    %v_wqkv1: !wqkv {pw.carried = 57 : i64},
    %v_wo1: !wo {pw.carried = 58 : i64},
    %v_win1: !win {pw.carried = 59 : i64},
    %v_wout1: !wout {pw.carried = 60 : i64},
    %v_norms2: !norms_b {pw.carried = 61 : i64},
    %v_wqkv2: !wqkv_b {pw.carried = 62 : i64},
    %v_wo2: !wo_b {pw.carried = 63 : i64},
    %v_win2: !win_b {pw.carried = 64 : i64},
    %v_wout2: !wout_b {pw.carried = 65 : i64},
    %v_norms3: !norms_b {pw.carried = 66 : i64},
    %v_wqkv3: !wqkv_b {pw.carried = 67 : i64},
    %v_wo3: !wo_b {pw.carried = 68 : i64},
    %v_win3: !win_b {pw.carried = 69 : i64},
    %v_wout3: !wout_b {pw.carried = 70 : i64},
    %v_norm: !norm {pw.carried = 71 : i64},
    %v_head: !head {pw.carried = 72 : i64})
    -> (!clock {pw.name = "clock"},
        !table {pw.name = "token"},
        !table {pw.name = "place"},
        !norms {pw.name = "norms0"},
        !wqkv {pw.name = "wqkv0"},
        !wo {pw.name = "wo0"},
        !win {pw.name = "win0"},
        !wout {pw.name = "wout0"},
        !norms {pw.name = "norms1"},
        !wqkv {pw.name = "wqkv1"},
        !wo {pw.name = "wo1"},
        !win {pw.name = "win1"},
        !wout {pw.name = "wout1"},
        !norms_b {pw.name = "norms2"},
        !wqkv_b {pw.name = "wqkv2"},
        !wo_b {pw.name = "wo2"},
        !win_b {pw.name = "win2"},
        !wout_b {pw.name = "wout2"},
        !norms_b {pw.name = "norms3"},
        !wqkv_b {pw.name = "wqkv3"},
        !wo_b {pw.name = "wo3"},
        !win_b {pw.name = "win3"},
        !wout_b {pw.name = "wout3"},
        !norm {pw.name = "norm"},
        !head {pw.name = "head"},
        !table {pw.name = "m_token"},
        !table {pw.name = "m_place"},
        !norms {pw.name = "m_norms0"},
        !wqkv {pw.name = "m_wqkv0"},
        !wo {pw.name = "m_wo0"},
        !win {pw.name = "m_win0"},
        !wout {pw.name = "m_wout0"},
        !norms {pw.name = "m_norms1"},
        !wqkv {pw.name = "m_wqkv1"},
        !wo {pw.name = "m_wo1"},
        !win {pw.name = "m_win1"},
        !wout {pw.name = "m_wout1"},
        !norms_b {pw.name = "m_norms2"},
        !wqkv_b {pw.name = "m_wqkv2"},
        !wo_b {pw.name = "m_wo2"},
        !win_b {pw.name = "m_win2"},
        !wout_b {pw.name = "m_wout2"},
        !norms_b {pw.name = "m_norms3"},
        !wqkv_b {pw.name = "m_wqkv3"},
        !wo_b {pw.name = "m_wo3"},
        !win_b {pw.name = "m_win3"},
        !wout_b {pw.name = "m_wout3"},
        !norm {pw.name = "m_norm"},
        !head {pw.name = "m_head"},
        !table {pw.name = "v_token"},
        !table {pw.name = "v_place"},
        !norms {pw.name = "v_norms0"},
        !wqkv {pw.name = "v_wqkv0"},
        !wo {pw.name = "v_wo0"},
        !win {pw.name = "v_win0"},
        !wout {pw.name = "v_wout0"},
        !norms {pw.name = "v_norms1"},
        !wqkv {pw.name = "v_wqkv1"},
        !wo {pw.name = "v_wo1"},
        !win {pw.name = "v_win1"},
        !wout {pw.name = "v_wout1"},
        !norms_b {pw.name = "v_norms2"},
        !wqkv_b {pw.name = "v_wqkv2"},
        !wo_b {pw.name = "v_wo2"},
        !win_b {pw.name = "v_win2"},
        !wout_b {pw.name = "v_wout2"},
        !norms_b {pw.name = "v_norms3"},
        !wqkv_b {pw.name = "v_wqkv3"},
        !wo_b {pw.name = "v_wo3"},
        !win_b {pw.name = "v_win3"},
        !wout_b {pw.name = "v_wout3"},
        !norm {pw.name = "v_norm"},
        !head {pw.name = "v_head"},
        !loss {pw.name = "loss", pw.stepped}) {
  // Forward.
  %x0 = pw.call @embed(%inputs, %token, %place) : (!chars, !table, !table) -> !x
  %y0, %qkv0, %p0, %o0, %z0, %h0 =
      pw.call @layer(%x0, %norms0, %wqkv0, %wo0, %win0, %wout0)
      : (!x, !norms, !wqkv, !wo, !win, !wout)
      -> (!x, !qkv, !p, !o, !x, !h)
  %y1, %qkv1, %p1, %o1, %z1, %h1 =
      pw.call @layer(%y0, %norms1, %wqkv1, %wo1, %win1, %wout1)
      : (!x, !norms, !wqkv, !wo, !win, !wout)
      -> (!x, !qkv, !p, !o, !x, !h)
  %x2 = pw.reshard %y1 : !x -> !x_b
  %y2, %qkv2, %p2, %o2, %z2, %h2 =
      pw.call @layer(%x2, %norms2, %wqkv2, %wo2, %win2, %wout2)
      : (!x_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
      -> (!x_b, !qkv_b, !p_b, !o_b, !x_b, !h_b)
  %y3, %qkv3, %p3, %o3, %z3, %h3 =
      pw.call @layer(%y2, %norms3, %wqkv3, %wo3, %win3, %wout3)
      : (!x_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
      -> (!x_b, !qkv_b, !p_b, !o_b, !x_b, !h_b)
  %loss, %q = pw.call @head(%y3, %norm, %head, %targets)
      : (!x_b, !norm, !head, !chars_b) -> (!loss, !q)

  // Backward.
  %d3, %g_norm, %g_head = pw.call @head_backward(%y3, %q, %norm, %head, %targets)
      : (!x_b, !q, !norm, !head, !chars_b) -> (!x_b, !norm, !head)
  %d2, %g_norms3, %g_wqkv3, %g_wo3, %g_win3, %g_wout3 =
      pw.call @layer_backward(%y2, %qkv3, %p3, %o3, %z3, %h3, %d3,
                              %norms3, %wqkv3, %wo3, %win3, %wout3)
      : (!x_b, !qkv_b, !p_b, !o_b, !x_b, !h_b, !x_b,
         !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
      -> (!x_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
  %d1_b, %g_norms2, %g_wqkv2, %g_wo2, %g_win2, %g_wout2 =
      pw.call @layer_backward(%x2, %qkv2, %p2, %o2, %z2, %h2, %d2,
                              %norms2, %wqkv2, %wo2, %win2, %wout2)
      : (!x_b, !qkv_b, !p_b, !o_b, !x_b, !h_b, !x_b,
         !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
      -> (!x_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b)
  %d1 = pw.reshard %d1_b : !x_b -> !x
  %d0, %g_norms1, %g_wqkv1, %g_wo1, %g_win1, %g_wout1 =
      pw.call @layer_backward(%y0, %qkv1, %p1, %o1, %z1, %h1, %d1,
                              %norms1, %wqkv1, %wo1, %win1, %wout1)
      : (!x, !qkv, !p, !o, !x, !h, !x,
         !norms, !wqkv, !wo, !win, !wout)
      -> (!x, !norms, !wqkv, !wo, !win, !wout)
  %d, %g_norms0, %g_wqkv0, %g_wo0, %g_win0, %g_wout0 =
      pw.call @layer_backward(%x0, %qkv0, %p0, %o0, %z0, %h0, %d0,
                              %norms0, %wqkv0, %wo0, %win0, %wout0)
      : (!x, !qkv, !p, !o, !x, !h, !x,
         !norms, !wqkv, !wo, !win, !wout)
      -> (!x, !norms, !wqkv, !wo, !win, !wout)
  %g_token, %g_place = pw.call @embed_backward(%inputs, %d)
      : (!chars, !x) -> (!table, !table)

  // Adam.
  %clock_next = pw.call @tick(%clock) donate(%clock) : (!clock) -> !clock
  %clock_b = pw.reshard %clock_next : !clock -> !clock_b
  %token_next, %m_token_next, %v_token_next =
      pw.call @adam_128x256(%clock_next, %token, %g_token, %m_token, %v_token)
      donate(%token, %m_token, %v_token)
      : (!clock, !table, !table, !table, !table)
      -> (!table, !table, !table)
  %place_next, %m_place_next, %v_place_next =
      pw.call @adam_128x256(%clock_next, %place, %g_place, %m_place, %v_place)
      donate(%place, %m_place, %v_place)
      : (!clock, !table, !table, !table, !table)
      -> (!table, !table, !table)
  %norms0_next, %m_norms0_next, %v_norms0_next =
      pw.call @adam_4x256(%clock_next, %norms0, %g_norms0, %m_norms0, %v_norms0)
      donate(%norms0, %m_norms0, %v_norms0)
      : (!clock, !norms, !norms, !norms, !norms)
      -> (!norms, !norms, !norms)
  %wqkv0_next, %m_wqkv0_next, %v_wqkv0_next =
      pw.call @adam_3x256x256(%clock_next, %wqkv0, %g_wqkv0, %m_wqkv0, %v_wqkv0)
      donate(%wqkv0, %m_wqkv0, %v_wqkv0)
      : (!clock, !wqkv, !wqkv, !wqkv, !wqkv)
      -> (!wqkv, !wqkv, !wqkv)
  %wo0_next, %m_wo0_next, %v_wo0_next =
      pw.call @adam_256x256(%clock_next, %wo0, %g_wo0, %m_wo0, %v_wo0)
      donate(%wo0, %m_wo0, %v_wo0)
      : (!clock, !wo, !wo, !wo, !wo)
      -> (!wo, !wo, !wo)
  %win0_next, %m_win0_next, %v_win0_next =
      pw.call @adam_1024x256(%clock_next, %win0, %g_win0, %m_win0, %v_win0)
      donate(%win0, %m_win0, %v_win0)
      : (!clock, !win, !win, !win, !win)
      -> (!win, !win, !win)
  %wout0_next, %m_wout0_next, %v_wout0_next =
      pw.call @adam_1024x256(%clock_next, %wout0, %g_wout0, %m_wout0, %v_wout0)
      donate(%wout0, %m_wout0, %v_wout0)
      : (!clock, !wout, !wout, !wout, !wout)
      -> (!wout, !wout, !wout)
  %norms1_next, %m_norms1_next, %v_norms1_next =
      pw.call @adam_4x256(%clock_next, %norms1, %g_norms1, %m_norms1, %v_norms1)
      donate(%norms1, %m_norms1, %v_norms1)
      : (!clock, !norms, !norms, !norms, !norms)
      -> (!norms, !norms, !norms)
  %wqkv1_next, %m_wqkv1_next, %v_wqkv1_next =
      pw.call @adam_3x256x256(%clock_next, %wqkv1, %g_wqkv1, %m_wqkv1, %v_wqkv1)
      donate(%wqkv1, %m_wqkv1, %v_wqkv1)
      : (!clock, !wqkv, !wqkv, !wqkv, !wqkv)
      -> (!wqkv, !wqkv, !wqkv)
  %wo1_next, %m_wo1_next, %v_wo1_next =
      pw.call @adam_256x256(%clock_next, %wo1, %g_wo1, %m_wo1, %v_wo1)
      donate(%wo1, %m_wo1, %v_wo1)
      : (!clock, !wo, !wo, !wo, !wo)
      -> (!wo, !wo, !wo)
  %win1_next, %m_win1_next, %v_win1_next =
      pw.call @adam_1024x256(%clock_next, %win1, %g_win1, %m_win1, %v_win1)
      donate(%win1, %m_win1, %v_win1)
      : (!clock, !win, !win, !win, !win)
      -> (!win, !win, !win)
  %wout1_next, %m_wout1_next, %v_wout1_next =
      pw.call @adam_1024x256(%clock_next, %wout1, %g_wout1, %m_wout1, %v_wout1)
      donate(%wout1, %m_wout1, %v_wout1)
      : (!clock, !wout, !wout, !wout, !wout)
      -> (!wout, !wout, !wout)
  %norms2_next, %m_norms2_next, %v_norms2_next =
      pw.call @adam_4x256(%clock_b, %norms2, %g_norms2, %m_norms2, %v_norms2)
      donate(%norms2, %m_norms2, %v_norms2)
      : (!clock_b, !norms_b, !norms_b, !norms_b, !norms_b)
      -> (!norms_b, !norms_b, !norms_b)
  %wqkv2_next, %m_wqkv2_next, %v_wqkv2_next =
      pw.call @adam_3x256x256(%clock_b, %wqkv2, %g_wqkv2, %m_wqkv2, %v_wqkv2)
      donate(%wqkv2, %m_wqkv2, %v_wqkv2)
      : (!clock_b, !wqkv_b, !wqkv_b, !wqkv_b, !wqkv_b)
      -> (!wqkv_b, !wqkv_b, !wqkv_b)
  %wo2_next, %m_wo2_next, %v_wo2_next =
      pw.call @adam_256x256(%clock_b, %wo2, %g_wo2, %m_wo2, %v_wo2)
      donate(%wo2, %m_wo2, %v_wo2)
      : (!clock_b, !wo_b, !wo_b, !wo_b, !wo_b)
      -> (!wo_b, !wo_b, !wo_b)
  %win2_next, %m_win2_next, %v_win2_next =
      pw.call @adam_1024x256(%clock_b, %win2, %g_win2, %m_win2, %v_win2)
      donate(%win2, %m_win2, %v_win2)
      : (!clock_b, !win_b, !win_b, !win_b, !win_b)
      -> (!win_b, !win_b, !win_b)
  %wout2_next, %m_wout2_next, %v_wout2_next =
      pw.call @adam_1024x256(%clock_b, %wout2, %g_wout2, %m_wout2, %v_wout2)
      donate(%wout2, %m_wout2, %v_wout2)
      : (!clock_b, !wout_b, !wout_b, !wout_b, !wout_b)
      -> (!wout_b, !wout_b, !wout_b)
  %norms3_next, %m_norms3_next, %v_norms3_next =
      pw.call @adam_4x256(%clock_b, %norms3, %g_norms3, %m_norms3, %v_norms3)
      donate(%norms3, %m_norms3, %v_norms3)
      : (!clock_b, !norms_b, !norms_b, !norms_b, !norms_b)
      -> (!norms_b, !norms_b, !norms_b)
  %wqkv3_next, %m_wqkv3_next, %v_wqkv3_next =
      pw.call @adam_3x256x256(%clock_b, %wqkv3, %g_wqkv3, %m_wqkv3, %v_wqkv3)
      donate(%wqkv3, %m_wqkv3, %v_wqkv3)
      : (!clock_b, !wqkv_b, !wqkv_b, !wqkv_b, !wqkv_b)
      -> (!wqkv_b, !wqkv_b, !wqkv_b)
  %wo3_next, %m_wo3_next, %v_wo3_next =
      pw.call @adam_256x256(%clock_b, %wo3, %g_wo3, %m_wo3, %v_wo3)
      donate(%wo3, %m_wo3, %v_wo3)
      : (!clock_b, !wo_b, !wo_b, !wo_b, !wo_b)
      -> (!wo_b, !wo_b, !wo_b)
  %win3_next, %m_win3_next, %v_win3_next =
      pw.call @adam_1024x256(%clock_b, %win3, %g_win3, %m_win3, %v_win3)
      donate(%win3, %m_win3, %v_win3)
      : (!clock_b, !win_b, !win_b, !win_b, !win_b)
      -> (!win_b, !win_b, !win_b)
  %wout3_next, %m_wout3_next, %v_wout3_next =
      pw.call @adam_1024x256(%clock_b, %wout3, %g_wout3, %m_wout3, %v_wout3)
      donate(%wout3, %m_wout3, %v_wout3)
      : (!clock_b, !wout_b, !wout_b, !wout_b, !wout_b)
      -> (!wout_b, !wout_b, !wout_b)
  %norm_next, %m_norm_next, %v_norm_next =
      pw.call @adam_2x256(%clock_b, %norm, %g_norm, %m_norm, %v_norm)
      donate(%norm, %m_norm, %v_norm)
      : (!clock_b, !norm, !norm, !norm, !norm)
      -> (!norm, !norm, !norm)
  %head_next, %m_head_next, %v_head_next =
      pw.call @adam_128x256(%clock_b, %head, %g_head, %m_head, %v_head)
      donate(%head, %m_head, %v_head)
      : (!clock_b, !head, !head, !head, !head)
      -> (!head, !head, !head)
  pw.return %clock_next, %token_next, %place_next, %norms0_next, %wqkv0_next, %wo0_next,
            %win0_next, %wout0_next, %norms1_next, %wqkv1_next, %wo1_next,
            %win1_next, %wout1_next, %norms2_next, %wqkv2_next, %wo2_next,
            %win2_next, %wout2_next, %norms3_next, %wqkv3_next, %wo3_next,
            %win3_next, %wout3_next, %norm_next, %head_next, %m_token_next,
            %m_place_next, %m_norms0_next, %m_wqkv0_next, %m_wo0_next, %m_win0_next,
            %m_wout0_next, %m_norms1_next, %m_wqkv1_next, %m_wo1_next, %m_win1_next,
            %m_wout1_next, %m_norms2_next, %m_wqkv2_next, %m_wo2_next, %m_win2_next,
            %m_wout2_next, %m_norms3_next, %m_wqkv3_next, %m_wo3_next, %m_win3_next,
            %m_wout3_next, %m_norm_next, %m_head_next, %v_token_next, %v_place_next,
            %v_norms0_next, %v_wqkv0_next, %v_wo0_next, %v_win0_next, %v_wout0_next,
            %v_norms1_next, %v_wqkv1_next, %v_wo1_next, %v_win1_next, %v_wout1_next,
            %v_norms2_next, %v_wqkv2_next, %v_wo2_next, %v_win2_next, %v_wout2_next,
            %v_norms3_next, %v_wqkv3_next, %v_wo3_next, %v_win3_next, %v_wout3_next,
            %v_norm_next, %v_head_next, %loss
      : !clock, !table, !table, !norms, !wqkv, !wo, !win, !wout, !norms, !wqkv, !wo, !win,
        !wout, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b, !norms_b, !wqkv_b, !wo_b,
        !win_b, !wout_b, !norm, !head, !table, !table, !norms, !wqkv, !wo, !win,
        !wout, !norms, !wqkv, !wo, !win, !wout, !norms_b, !wqkv_b, !wo_b, !win_b,
        !wout_b, !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b, !norm, !head, !table,
        !table, !norms, !wqkv, !wo, !win, !wout, !norms, !wqkv, !wo, !win, !wout,
        !norms_b, !wqkv_b, !wo_b, !win_b, !wout_b, !norms_b, !wqkv_b, !wo_b, !win_b,
        !wout_b, !norm, !head, !loss
}
