// A step of training of a network with convolutions and pooling.
//
// def loss(state, x, y):
//     h = jax.nn.relu(conv(x, state["k1"], "SAME"))         # 8 x 8 x 4
//     h = reduce_window(h, -inf, max, (1, 2, 2, 1), (1, 2, 2, 1))
//     h = jax.nn.relu(conv(h, state["k2"], "VALID"))        # 2 x 2 x 8
//     logs = jax.nn.log_softmax(h.reshape(-1, 32) @ state["w"])
//     return -jnp.mean(jnp.sum(jax.nn.one_hot(y, 10) * logs, axis=1))
//
// Written by make_programs.py.
module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4]>
  func.func public @main(%arg0: tensor<3x3x1x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>, tf.aliasing_output = 0 : i32} loc("state['k1']"),
      %arg1: tensor<3x3x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>, tf.aliasing_output = 1 : i32} loc("state['k2']"),
      %arg2: tensor<32x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, tf.aliasing_output = 2 : i32} loc("state['w']"),
      %arg3: tensor<32x8x8x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {}]>} loc("x"),
      %arg4: tensor<32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>} loc("y")) -> (tensor<3x3x1x4xf32> {jax.result_info = "result[0]['k1']"}, tensor<3x3x4x8xf32> {jax.result_info = "result[0]['k2']"}, tensor<32x10xf32> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convolution(%arg3, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x8x8x1xf32>, tensor<3x3x1x4xf32>) -> tensor<32x8x8x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x8x8x4xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<32x8x8x4xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = "stablehlo.reduce_window"(%2, %cst_1) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%r3_0: tensor<f32>, %r3_1: tensor<f32>):
      %r3_2 = stablehlo.maximum %r3_0, %r3_1 : tensor<f32>
      stablehlo.return %r3_2 : tensor<f32>
    }) : (tensor<32x8x8x4xf32>, tensor<f32>) -> tensor<32x4x4x4xf32>
    %4 = stablehlo.convolution(%3, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x4x4x4xf32>, tensor<3x3x4x8xf32>) -> tensor<32x2x2x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x2x2x8xf32>
    %6 = stablehlo.maximum %4, %5 : tensor<32x2x2x8xf32>
    %7 = stablehlo.reshape %6 : (tensor<32x2x2x8xf32>) -> tensor<32x32xf32>
    %8 = call @_one_hot(%arg4) : (tensor<32xi32>) -> tensor<32x10xf32>
    %9 = stablehlo.dot_general %7, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_3) applies stablehlo.maximum across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %13 = stablehlo.subtract %9, %12 : tensor<32x10xf32>
    %14 = stablehlo.exponential %13 : tensor<32x10xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %16 = stablehlo.log %15 : tensor<32xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %19 = stablehlo.subtract %13, %18 : tensor<32x10xf32>
    %20 = stablehlo.multiply %8, %19 : tensor<32x10xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<32.0> : tensor<f32>
    %22 = stablehlo.divide %21, %cst_6 : tensor<f32>
    %23 = stablehlo.negate %22 : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %26 = stablehlo.divide %14, %25 : tensor<32x10xf32>
    %27 = stablehlo.subtract %26, %8 : tensor<32x10xf32>
    %cst_7 = stablehlo.constant dense<0.03125> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32x10xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<32x10xf32>
    %30 = stablehlo.dot_general %7, %29, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %31 = stablehlo.dot_general %29, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x32xf32>
    %32 = stablehlo.reshape %31 : (tensor<32x32xf32>) -> tensor<32x2x2x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x2x2x8xf32>
    %34 = stablehlo.compare  GT, %6, %33,  FLOAT : (tensor<32x2x2x8xf32>, tensor<32x2x2x8xf32>) -> tensor<32x2x2x8xi1>
    %35 = stablehlo.select %34, %32, %33 : tensor<32x2x2x8xi1>, tensor<32x2x2x8xf32>
    %36 = stablehlo.convolution(%3, %35) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x4x4x4xf32>, tensor<32x2x2x8xf32>) -> tensor<3x3x4x8xf32>
    %37 = stablehlo.convolution(%35, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x2x2x8xf32>, tensor<3x3x4x8xf32>) -> tensor<32x4x4x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = "stablehlo.select_and_scatter"(%2, %37, %cst_9) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%r38_0: tensor<f32>, %r38_1: tensor<f32>):
      %r38_2 = stablehlo.compare  GE, %r38_0, %r38_1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r38_2 : tensor<i1>
    }, {
    ^bb0(%r39_0: tensor<f32>, %r39_1: tensor<f32>):
      %r39_2 = stablehlo.add %r39_0, %r39_1 : tensor<f32>
      stablehlo.return %r39_2 : tensor<f32>
    }) : (tensor<32x8x8x4xf32>, tensor<32x4x4x4xf32>, tensor<f32>) -> tensor<32x8x8x4xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32x8x8x4xf32>
    %41 = stablehlo.compare  GT, %2, %40,  FLOAT : (tensor<32x8x8x4xf32>, tensor<32x8x8x4xf32>) -> tensor<32x8x8x4xi1>
    %42 = stablehlo.select %41, %39, %40 : tensor<32x8x8x4xi1>, tensor<32x8x8x4xf32>
    %43 = stablehlo.convolution(%arg3, %42) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x8x8x1xf32>, tensor<32x8x8x4xf32>) -> tensor<3x3x1x4xf32>
    %cst_11 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3x3x1x4xf32>
    %45 = stablehlo.multiply %43, %44 : tensor<3x3x1x4xf32>
    %46 = stablehlo.subtract %arg0, %45 : tensor<3x3x1x4xf32>
    %cst_12 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<3x3x4x8xf32>
    %48 = stablehlo.multiply %36, %47 : tensor<3x3x4x8xf32>
    %49 = stablehlo.subtract %arg1, %48 : tensor<3x3x4x8xf32>
    %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32x10xf32>
    %51 = stablehlo.multiply %30, %50 : tensor<32x10xf32>
    %52 = stablehlo.subtract %arg2, %51 : tensor<32x10xf32>
    return %46, %49, %52, %23 : tensor<3x3x1x4xf32>, tensor<3x3x4x8xf32>, tensor<32x10xf32>, tensor<f32>
  }
  func.func private @_one_hot(%arg0: tensor<32xi32>) -> tensor<32x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %1 = stablehlo.iota dim = 0 : tensor<10xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<10xi32>) -> tensor<1x10xi32>
    %3 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi32>) -> tensor<32x10xi32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x10xi32>) -> tensor<32x10xi32>
    %5 = stablehlo.compare  EQ, %3, %4,  SIGNED : (tensor<32x10xi32>, tensor<32x10xi32>) -> tensor<32x10xi1>
    %6 = stablehlo.convert %5 : (tensor<32x10xi1>) -> tensor<32x10xf32>
    return %6 : tensor<32x10xf32>
  }
}
