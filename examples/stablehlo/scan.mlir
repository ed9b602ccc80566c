// Layers with stacked weights, and the gradient, as two loops.
//
// def loss(state, x, y):
//     def layer(h, p):
//         return jnp.tanh(h @ p["w"] + p["b"]), None
//     h, _ = jax.lax.scan(layer, x, state)
//     return jnp.mean((h - y) ** 2)
//
// def step(state, x, y):
//     value, gradient = jax.value_and_grad(loss)(state, x, y)
//     return jax.tree.map(lambda p, g: p - 0.2 * g, state, gradient), value
//
// Written by make_programs.py.
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x16xf32> {tf.aliasing_output = 0 : i32} loc("state['b']"),
      %arg1: tensor<6x16x16xf32> {tf.aliasing_output = 1 : i32} loc("state['w']"),
      %arg2: tensor<8x16xf32> loc("x"),
      %arg3: tensor<8x16xf32> loc("y")) -> (tensor<6x16xf32> {jax.result_info = "result[0]['b']"}, tensor<6x16x16xf32> {jax.result_info = "result[0]['w']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8x16xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1:6 = stablehlo.while(%iterArg_0 = %arg0, %iterArg_1 = %arg1, %iterArg_2 = %c_1, %iterArg_3 = %arg2, %iterArg_4 = %0, %iterArg_5 = %0) : tensor<6x16xf32>, tensor<6x16x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>
     cond {
      %c_2 = stablehlo.constant dense<6> : tensor<i32>
      %2 = stablehlo.compare  LT, %iterArg_2, %c_2,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %3 = stablehlo.dynamic_slice %iterArg_0, %iterArg_2, %c_3, sizes = [1, 16] : (tensor<6x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x16xf32>) -> tensor<16xf32>
      %5 = stablehlo.dynamic_slice %iterArg_1, %iterArg_2, %c_3, %c_3, sizes = [1, 16, 16] : (tensor<6x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
      %6 = stablehlo.reshape %5 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
      %7 = stablehlo.dot_general %iterArg_3, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      %8 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<8x16xf32>
      %10 = stablehlo.add %7, %9 : tensor<8x16xf32>
      %11 = stablehlo.tanh %10 : tensor<8x16xf32>
      %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
      %13 = stablehlo.multiply %11, %11 : tensor<8x16xf32>
      %14 = stablehlo.subtract %12, %13 : tensor<8x16xf32>
      %15 = stablehlo.broadcast_in_dim %iterArg_3, dims = [1, 2] : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
      %16 = stablehlo.dynamic_update_slice %iterArg_4, %15, %iterArg_2, %c_3, %c_3 : (tensor<6x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x16xf32>
      %17 = stablehlo.broadcast_in_dim %14, dims = [1, 2] : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
      %18 = stablehlo.dynamic_update_slice %iterArg_5, %17, %iterArg_2, %c_3, %c_3 : (tensor<6x8x16xf32>, tensor<1x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x8x16xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %iterArg_2, %c_5 : tensor<i32>
      stablehlo.return %iterArg_0, %iterArg_1, %19, %11, %16, %18 : tensor<6x16xf32>, tensor<6x16x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>
    }
    %20 = stablehlo.subtract %1#3, %arg3 : tensor<8x16xf32>
    %21 = stablehlo.multiply %20, %20 : tensor<8x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<128.0> : tensor<f32>
    %23 = stablehlo.divide %22, %cst_7 : tensor<f32>
    %cst_8 = stablehlo.constant dense<0.015625> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %25 = stablehlo.multiply %20, %24 : tensor<8x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x16x16xf32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %28:7 = stablehlo.while(%iterArg2_0 = %arg1, %iterArg2_1 = %1#4, %iterArg2_2 = %1#5, %iterArg2_3 = %c_11, %iterArg2_4 = %25, %iterArg2_5 = %26, %iterArg2_6 = %27) : tensor<6x16x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<6x16xf32>, tensor<6x16x16xf32>
     cond {
      %c_12 = stablehlo.constant dense<6> : tensor<i32>
      %29 = stablehlo.compare  LT, %iterArg2_3, %c_12,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %29 : tensor<i1>
    } do {
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %c_14 = stablehlo.constant dense<6> : tensor<i32>
      %30 = stablehlo.subtract %c_14, %iterArg2_3 : tensor<i32>
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %31 = stablehlo.subtract %30, %c_15 : tensor<i32>
      %32 = stablehlo.dynamic_slice %iterArg2_2, %31, %c_13, %c_13, sizes = [1, 8, 16] : (tensor<6x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
      %33 = stablehlo.reshape %32 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
      %34 = stablehlo.multiply %iterArg2_4, %33 : tensor<8x16xf32>
      %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %35 = stablehlo.reduce(%34 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
      %36 = stablehlo.broadcast_in_dim %35, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
      %37 = stablehlo.dynamic_update_slice %iterArg2_5, %36, %31, %c_13 : (tensor<6x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<6x16xf32>
      %38 = stablehlo.dynamic_slice %iterArg2_1, %31, %c_13, %c_13, sizes = [1, 8, 16] : (tensor<6x8x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x16xf32>
      %39 = stablehlo.reshape %38 : (tensor<1x8x16xf32>) -> tensor<8x16xf32>
      %40 = stablehlo.dot_general %39, %34, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      %41 = stablehlo.broadcast_in_dim %40, dims = [1, 2] : (tensor<16x16xf32>) -> tensor<1x16x16xf32>
      %42 = stablehlo.dynamic_update_slice %iterArg2_6, %41, %31, %c_13, %c_13 : (tensor<6x16x16xf32>, tensor<1x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x16x16xf32>
      %43 = stablehlo.dynamic_slice %iterArg2_0, %31, %c_13, %c_13, sizes = [1, 16, 16] : (tensor<6x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
      %44 = stablehlo.reshape %43 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
      %45 = stablehlo.dot_general %34, %44, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      %c_17 = stablehlo.constant dense<1> : tensor<i32>
      %46 = stablehlo.add %iterArg2_3, %c_17 : tensor<i32>
      stablehlo.return %iterArg2_0, %iterArg2_1, %iterArg2_2, %46, %45, %37, %42 : tensor<6x16x16xf32>, tensor<6x8x16xf32>, tensor<6x8x16xf32>, tensor<i32>, tensor<8x16xf32>, tensor<6x16xf32>, tensor<6x16x16xf32>
    }
    %cst_18 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<6x16xf32>
    %48 = stablehlo.multiply %28#5, %47 : tensor<6x16xf32>
    %49 = stablehlo.subtract %arg0, %48 : tensor<6x16xf32>
    %cst_19 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<6x16x16xf32>
    %51 = stablehlo.multiply %28#6, %50 : tensor<6x16x16xf32>
    %52 = stablehlo.subtract %arg1, %51 : tensor<6x16x16xf32>
    return %49, %52, %23 : tensor<6x16xf32>, tensor<6x16x16xf32>, tensor<f32>
  }
}
