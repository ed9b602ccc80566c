// One step of gradient descent for a small network: y = tanh(x w) v. This is the text
// that jax.jit(step).lower(...).as_text(debug_info=True) returns for
//
//   def loss(state, x, y):
//     return jnp.mean((jnp.tanh(x @ state['w']) @ state['v'] - y) ** 2)
//
//   def step(state, x, y):
//     value, gradient = jax.value_and_grad(loss)(state, x, y)
//     return jax.tree.map(lambda p, g: p - 0.1 * g, state, gradient), value
//
// with its state donated, in our own words.
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(
      %arg0: tensor<8x1xf32> {tf.aliasing_output = 0 : i32} loc("state['v']"),
      %arg1: tensor<4x8xf32> {tf.aliasing_output = 1 : i32} loc("state['w']"),
      %arg2: tensor<16x4xf32> loc("x"), %arg3: tensor<16x1xf32> loc("y"))
      -> (tensor<8x1xf32> {jax.result_info = "result[0]['v']"},
          tensor<4x8xf32> {jax.result_info = "result[0]['w']"},
          tensor<f32> {jax.result_info = "result[1]"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<16x8xf32>
    %h = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
    %t = stablehlo.tanh %h : tensor<16x8xf32>
    %p = stablehlo.dot_general %t, %arg0, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x1xf32>) -> tensor<16x1xf32>
    %e = stablehlo.subtract %p, %arg3 : tensor<16x1xf32>
    %e2 = stablehlo.multiply %e, %e : tensor<16x1xf32>
    %sum = stablehlo.reduce(%e2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x1xf32>, tensor<f32>) -> tensor<f32>
    %count = stablehlo.constant dense<16.0> : tensor<f32>
    %loss = stablehlo.divide %sum, %count : tensor<f32>
    // The gradient of the mean of squares is 2 e / 16.
    %scale = stablehlo.constant dense<0.125> : tensor<16x1xf32>
    %dp = stablehlo.multiply %e, %scale : tensor<16x1xf32>
    %dv = stablehlo.dot_general %t, %dp, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x1xf32>) -> tensor<8x1xf32>
    %dt = stablehlo.dot_general %dp, %arg0, contracting_dims = [1] x [1] : (tensor<16x1xf32>, tensor<8x1xf32>) -> tensor<16x8xf32>
    %t2 = stablehlo.multiply %t, %t : tensor<16x8xf32>
    %slope = stablehlo.subtract %one, %t2 : tensor<16x8xf32>
    %dh = stablehlo.multiply %dt, %slope : tensor<16x8xf32>
    %dw = stablehlo.dot_general %arg2, %dh, contracting_dims = [0] x [0] : (tensor<16x4xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %v = func.call @descend(%arg0, %dv) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
    %w = func.call @descend_0(%arg1, %dw) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %v, %w, %loss : tensor<8x1xf32>, tensor<4x8xf32>, tensor<f32>
  }
  func.func private @descend(%p: tensor<8x1xf32>, %g: tensor<8x1xf32>) -> tensor<8x1xf32> {
    %rate = stablehlo.constant dense<0.1> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
    %1 = stablehlo.multiply %0, %g : tensor<8x1xf32>
    %2 = stablehlo.subtract %p, %1 : tensor<8x1xf32>
    return %2 : tensor<8x1xf32>
  }
  func.func private @descend_0(%p: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %rate = stablehlo.constant dense<0.1> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %1 = stablehlo.multiply %0, %g : tensor<4x8xf32>
    %2 = stablehlo.subtract %p, %1 : tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
}
