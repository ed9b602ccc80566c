// A step of training, with its state donated, on a mesh.
//
// def loss(state, x, y):
//     h = jnp.tanh(x @ state["w1"] + state["b1"])
//     logs = jax.nn.log_softmax(h @ state["w2"] + state["b2"])
//     return -jnp.mean(jnp.sum(jax.nn.one_hot(y, 10) * logs, axis=1))
//
// def step(state, x, y):
//     value, gradient = jax.value_and_grad(loss)(state, x, y)
//     return jax.tree.map(lambda p, g: p - 0.5 * g, state, gradient), value
//
// mesh = jax.make_mesh((2, 2), ("data", "model"))
//
// Written by make_programs.py.
module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>, tf.aliasing_output = 0 : i32} loc("state['b1']"),
      %arg1: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, tf.aliasing_output = 1 : i32} loc("state['b2']"),
      %arg2: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>, tf.aliasing_output = 2 : i32} loc("state['w1']"),
      %arg3: tensor<32x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>, tf.aliasing_output = 3 : i32} loc("state['w2']"),
      %arg4: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
      %arg5: tensor<32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>} loc("y")) -> (tensor<32xf32> {jax.result_info = "result[0]['b1']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, tensor<10xf32> {jax.result_info = "result[0]['b2']", sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<64x32xf32> {jax.result_info = "result[0]['w1']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<32x10xf32> {jax.result_info = "result[0]['w2']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, tensor<f32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %0 = stablehlo.dot_general %arg4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<32x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<32x32xf32>
    %4 = stablehlo.tanh %3 : tensor<32x32xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<32x10xf32>
    %8 = stablehlo.add %5, %7 : tensor<32x10xf32>
    %9 = call @_one_hot(%arg5) : (tensor<32xi32>) -> tensor<32x10xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.reduce(%8 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %13 = stablehlo.subtract %8, %12 : tensor<32x10xf32>
    %14 = stablehlo.exponential %13 : tensor<32x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %16 = stablehlo.log %15 : tensor<32xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %19 = stablehlo.subtract %13, %18 : tensor<32x10xf32>
    %20 = stablehlo.multiply %9, %19 : tensor<32x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<32.0> : tensor<f32>
    %22 = stablehlo.divide %21, %cst_3 : tensor<f32>
    %23 = stablehlo.negate %22 : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %26 = stablehlo.divide %14, %25 : tensor<32x10xf32>
    %27 = stablehlo.subtract %26, %9 : tensor<32x10xf32>
    %cst_4 = stablehlo.constant dense<0.03125> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x10xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<32x10xf32>
    %30 = stablehlo.dot_general %4, %29, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%29 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<32x10xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
    %33 = stablehlo.multiply %4, %4 : tensor<32x32xf32>
    %34 = stablehlo.subtract %32, %33 : tensor<32x32xf32>
    %35 = stablehlo.dot_general %29, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x32xf32>
    %36 = stablehlo.multiply %35, %34 : tensor<32x32xf32>
    %37 = stablehlo.dot_general %arg4, %36, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%36 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %40 = stablehlo.multiply %38, %39 : tensor<32xf32>
    %41 = stablehlo.subtract %arg0, %40 : tensor<32xf32>
    %cst_9 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %43 = stablehlo.multiply %31, %42 : tensor<10xf32>
    %44 = stablehlo.subtract %arg1, %43 : tensor<10xf32>
    %cst_10 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
    %46 = stablehlo.multiply %37, %45 : tensor<64x32xf32>
    %47 = stablehlo.subtract %arg2, %46 : tensor<64x32xf32>
    %cst_11 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<32x10xf32>
    %49 = stablehlo.multiply %30, %48 : tensor<32x10xf32>
    %50 = stablehlo.subtract %arg3, %49 : tensor<32x10xf32>
    return %41, %44, %47, %50, %23 : tensor<32xf32>, tensor<10xf32>, tensor<64x32xf32>, tensor<32x10xf32>, tensor<f32>
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
