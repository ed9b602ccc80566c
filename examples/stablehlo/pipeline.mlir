// One step of gradient descent for a network of two stages, which computes four
// micro-batches one after the other. This is the text that
// jax.jit(step).lower(...).as_text(debug_info=True) returns, in our own words, for
//
//   def first(w, x): return jnp.tanh(x @ w)
//   def second(w, h, y): return jnp.sum((h @ w - y) ** 2) / 64
//
//   def loss(state, x, y, k):
//     h = xla_metadata_call2(first, {'pw_slice': 's0', 'pw_label': f'{k}F'},
//         ad_metadata={'pw_slice': 's0', 'pw_label': f'{k}B'})(state['first'], x)
//     return xla_metadata_call2(second, {'pw_slice': 's1', 'pw_label': f'{k}F'},
//         ad_metadata={'pw_slice': 's1', 'pw_label': f'{k}B'})(state['second'], h, y)
//
//   def step(state, x, y):
//     total, sums = 0.0, None
//     for k in range(4):
//       rows = slice(8 * k, 8 * k + 8)
//       value, gradient = jax.value_and_grad(loss)(state, x[rows], y[rows], k)
//       total += value
//       sums = gradient if sums is None else jax.tree.map(jnp.add, sums, gradient)
//     return jax.tree.map(lambda p, g: p - 0.1 * g, state, sums), total
//
// with its state donated. make_pipeline.py writes this file.
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(
      %arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32} loc("state['first']"),
      %arg1: tensor<8x2xf32> {tf.aliasing_output = 1 : i32} loc("state['second']"),
      %arg2: tensor<32x4xf32> loc("x"), %arg3: tensor<32x2xf32> loc("y"))
      -> (tensor<4x8xf32> {jax.result_info = "result[0]['first']"},
          tensor<8x2xf32> {jax.result_info = "result[0]['second']"},
          tensor<f32> {jax.result_info = "result[1]"}) {
    %x0 = stablehlo.slice %arg2 [0:8, 0:4] : (tensor<32x4xf32>) -> tensor<8x4xf32>
    %y0 = stablehlo.slice %arg3 [0:8, 0:2] : (tensor<32x2xf32>) -> tensor<8x2xf32>
    %h0 = call @first(%arg0, %x0) {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s0"}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %l0:2 = call @second(%arg1, %h0, %y0) {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<f32>, tensor<8x2xf32>)
    %g0:2 = call @second_vjp(%arg1, %h0, %l0#1) {mhlo.frontend_attributes = {pw_label = "0B", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x8xf32>)
    %d0 = call @first_vjp(%x0, %h0, %g0#1) {mhlo.frontend_attributes = {pw_label = "0B", pw_slice = "s0"}} : (tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %x1 = stablehlo.slice %arg2 [8:16, 0:4] : (tensor<32x4xf32>) -> tensor<8x4xf32>
    %y1 = stablehlo.slice %arg3 [8:16, 0:2] : (tensor<32x2xf32>) -> tensor<8x2xf32>
    %h1 = call @first(%arg0, %x1) {mhlo.frontend_attributes = {pw_label = "1F", pw_slice = "s0"}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %l1:2 = call @second(%arg1, %h1, %y1) {mhlo.frontend_attributes = {pw_label = "1F", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<f32>, tensor<8x2xf32>)
    %g1:2 = call @second_vjp(%arg1, %h1, %l1#1) {mhlo.frontend_attributes = {pw_label = "1B", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x8xf32>)
    %d1 = call @first_vjp(%x1, %h1, %g1#1) {mhlo.frontend_attributes = {pw_label = "1B", pw_slice = "s0"}} : (tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %first1 = stablehlo.add %d0, %d1 : tensor<4x8xf32>
    %second1 = stablehlo.add %g0#0, %g1#0 : tensor<8x2xf32>
    %loss1 = stablehlo.add %l0#0, %l1#0 : tensor<f32>
    %x2 = stablehlo.slice %arg2 [16:24, 0:4] : (tensor<32x4xf32>) -> tensor<8x4xf32>
    %y2 = stablehlo.slice %arg3 [16:24, 0:2] : (tensor<32x2xf32>) -> tensor<8x2xf32>
    %h2 = call @first(%arg0, %x2) {mhlo.frontend_attributes = {pw_label = "2F", pw_slice = "s0"}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %l2:2 = call @second(%arg1, %h2, %y2) {mhlo.frontend_attributes = {pw_label = "2F", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<f32>, tensor<8x2xf32>)
    %g2:2 = call @second_vjp(%arg1, %h2, %l2#1) {mhlo.frontend_attributes = {pw_label = "2B", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x8xf32>)
    %d2 = call @first_vjp(%x2, %h2, %g2#1) {mhlo.frontend_attributes = {pw_label = "2B", pw_slice = "s0"}} : (tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %first2 = stablehlo.add %first1, %d2 : tensor<4x8xf32>
    %second2 = stablehlo.add %second1, %g2#0 : tensor<8x2xf32>
    %loss2 = stablehlo.add %loss1, %l2#0 : tensor<f32>
    %x3 = stablehlo.slice %arg2 [24:32, 0:4] : (tensor<32x4xf32>) -> tensor<8x4xf32>
    %y3 = stablehlo.slice %arg3 [24:32, 0:2] : (tensor<32x2xf32>) -> tensor<8x2xf32>
    %h3 = call @first(%arg0, %x3) {mhlo.frontend_attributes = {pw_label = "3F", pw_slice = "s0"}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %l3:2 = call @second(%arg1, %h3, %y3) {mhlo.frontend_attributes = {pw_label = "3F", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<f32>, tensor<8x2xf32>)
    %g3:2 = call @second_vjp(%arg1, %h3, %l3#1) {mhlo.frontend_attributes = {pw_label = "3B", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x8xf32>)
    %d3 = call @first_vjp(%x3, %h3, %g3#1) {mhlo.frontend_attributes = {pw_label = "3B", pw_slice = "s0"}} : (tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %first3 = stablehlo.add %first2, %d3 : tensor<4x8xf32>
    %second3 = stablehlo.add %second2, %g3#0 : tensor<8x2xf32>
    %loss3 = stablehlo.add %loss2, %l3#0 : tensor<f32>
    %rate = stablehlo.constant dense<0.1> : tensor<f32>
    %rate_first = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %change_first = stablehlo.multiply %rate_first, %first3 : tensor<4x8xf32>
    %new_first = stablehlo.subtract %arg0, %change_first : tensor<4x8xf32>
    %rate_second = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %change_second = stablehlo.multiply %rate_second, %second3 : tensor<8x2xf32>
    %new_second = stablehlo.subtract %arg1, %change_second : tensor<8x2xf32>
    return %new_first, %new_second, %loss3 : tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>
  }
  func.func private @first(%w: tensor<4x8xf32>, %x: tensor<8x4xf32>) -> tensor<8x8xf32> {
    %z = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %h = stablehlo.tanh %z : tensor<8x8xf32>
    return %h : tensor<8x8xf32>
  }
  func.func private @first_vjp(%x: tensor<8x4xf32>, %h: tensor<8x8xf32>, %dh: tensor<8x8xf32>) -> tensor<4x8xf32> {
    %one = stablehlo.constant dense<1.0> : tensor<8x8xf32>
    %h2 = stablehlo.multiply %h, %h : tensor<8x8xf32>
    %slope = stablehlo.subtract %one, %h2 : tensor<8x8xf32>
    %dz = stablehlo.multiply %dh, %slope : tensor<8x8xf32>
    %dw = stablehlo.dot_general %x, %dz, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    return %dw : tensor<4x8xf32>
  }
  func.func private @second(%w: tensor<8x2xf32>, %h: tensor<8x8xf32>, %y: tensor<8x2xf32>) -> (tensor<f32>, tensor<8x2xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %e = stablehlo.subtract %p, %y : tensor<8x2xf32>
    %e2 = stablehlo.multiply %e, %e : tensor<8x2xf32>
    %sum = stablehlo.reduce(%e2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x2xf32>, tensor<f32>) -> tensor<f32>
    %count = stablehlo.constant dense<64.0> : tensor<f32>
    %loss = stablehlo.divide %sum, %count : tensor<f32>
    return %loss, %e : tensor<f32>, tensor<8x2xf32>
  }
  func.func private @second_vjp(%w: tensor<8x2xf32>, %h: tensor<8x8xf32>, %e: tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x8xf32>) {
    %scale = stablehlo.constant dense<0.03125> : tensor<8x2xf32>
    %dp = stablehlo.multiply %e, %scale : tensor<8x2xf32>
    %dw = stablehlo.dot_general %h, %dp, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %dh = stablehlo.dot_general %dp, %w, contracting_dims = [1] x [1] : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
    return %dw, %dh : tensor<8x2xf32>, tensor<8x8xf32>
  }
}
