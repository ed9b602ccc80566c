// The step of pipeline.mlir as a loop over its micro-batches. This is the text that
// jax.jit(step).lower(...).as_text(debug_info=True) returns, in our own words, for
//
//   def loss(state, x, y):
//     h = xla_metadata_call2(first, {'pw_slice': 's0', 'pw_label': '0F'},
//         ad_metadata={'pw_slice': 's0', 'pw_label': '0B'})(state['first'], x)
//     return xla_metadata_call2(second, {'pw_slice': 's1', 'pw_label': '1F'},
//         ad_metadata={'pw_slice': 's1', 'pw_label': '1B'})(state['second'], h, y)
//
//   def step(state, x, y):
//     def body(carry, batch):
//       sums, total = carry
//       value, gradient = jax.value_and_grad(loss)(state, *batch)
//       return (jax.tree.map(jnp.add, sums, gradient), total + value), value
//     start = jax.tree.map(jnp.zeros_like, state), 0.0
//     (sums, total), losses = jax.lax.scan(body, start, (x, y))
//     return jax.tree.map(lambda p, g: p - 0.1 * g, state, sums), total, losses
//
// with its state donated. make_pipeline.py writes this file.
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(
      %arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32} loc("state['first']"),
      %arg1: tensor<8x2xf32> {tf.aliasing_output = 1 : i32} loc("state['second']"),
      %arg2: tensor<4x8x4xf32> loc("x"), %arg3: tensor<4x8x2xf32> loc("y"))
      -> (tensor<4x8xf32> {jax.result_info = "result[0]['first']"},
          tensor<8x2xf32> {jax.result_info = "result[0]['second']"},
          tensor<f32> {jax.result_info = "result[1]"},
          tensor<4xf32> {jax.result_info = "result[2]"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zero0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %zero1 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:9 = stablehlo.while(%x = %arg2, %y = %arg3, %w0 = %arg0, %w1 = %arg1, %i = %c, %sum0 = %zero0, %sum1 = %zero1, %total = %zero, %losses = %zeros) : tensor<4x8x4xf32>, tensor<4x8x2xf32>, tensor<4x8xf32>, tensor<8x2xf32>, tensor<i32>, tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>, tensor<4xf32>
     cond {
      %end = stablehlo.constant dense<4> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %begin = stablehlo.constant dense<0> : tensor<i32>
      %size = stablehlo.constant dense<4> : tensor<i32>
      %negative = stablehlo.compare LT, %i, %begin, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %wrapped = stablehlo.add %i, %size : tensor<i32>
      %k = stablehlo.select %negative, %wrapped, %i : tensor<i1>, tensor<i32>
      %rows_x_1 = stablehlo.dynamic_slice %x, %k, %begin, %begin, sizes = [1, 8, 4] : (tensor<4x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
      %rows_x = stablehlo.reshape %rows_x_1 : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
      %rows_y_1 = stablehlo.dynamic_slice %y, %k, %begin, %begin, sizes = [1, 8, 2] : (tensor<4x8x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x2xf32>
      %rows_y = stablehlo.reshape %rows_y_1 : (tensor<1x8x2xf32>) -> tensor<8x2xf32>
      %next:4 = func.call @closed_call(%w0, %w1, %sum0, %sum1, %total, %rows_x, %rows_y) : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>, tensor<8x4xf32>, tensor<8x2xf32>) -> (tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>, tensor<f32>)
      %loss = stablehlo.broadcast_in_dim %next#3, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %all = stablehlo.dynamic_update_slice %losses, %loss, %k : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %x, %y, %w0, %w1, %j, %next#0, %next#1, %next#2, %all : tensor<4x8x4xf32>, tensor<4x8x2xf32>, tensor<4x8xf32>, tensor<8x2xf32>, tensor<i32>, tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>, tensor<4xf32>
    }
    %rate = stablehlo.constant dense<0.1> : tensor<f32>
    %rate_first = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %change_first = stablehlo.multiply %rate_first, %0#5 : tensor<4x8xf32>
    %new_first = stablehlo.subtract %arg0, %change_first : tensor<4x8xf32>
    %rate_second = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %change_second = stablehlo.multiply %rate_second, %0#6 : tensor<8x2xf32>
    %new_second = stablehlo.subtract %arg1, %change_second : tensor<8x2xf32>
    return %new_first, %new_second, %0#7, %0#8 : tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>, tensor<4xf32>
  }
  func.func private @closed_call(%w0: tensor<4x8xf32>, %w1: tensor<8x2xf32>, %sum0: tensor<4x8xf32>, %sum1: tensor<8x2xf32>, %total: tensor<f32>, %x: tensor<8x4xf32>, %y: tensor<8x2xf32>) -> (tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>, tensor<f32>) {
    %h = call @first(%w0, %x) {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s0"}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    %l:2 = call @second(%w1, %h, %y) {mhlo.frontend_attributes = {pw_label = "1F", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<f32>, tensor<8x2xf32>)
    %g:2 = call @second_vjp(%w1, %h, %l#1) {mhlo.frontend_attributes = {pw_label = "1B", pw_slice = "s1"}} : (tensor<8x2xf32>, tensor<8x8xf32>, tensor<8x2xf32>) -> (tensor<8x2xf32>, tensor<8x8xf32>)
    %d = call @first_vjp(%x, %h, %g#1) {mhlo.frontend_attributes = {pw_label = "0B", pw_slice = "s0"}} : (tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %next0 = stablehlo.add %sum0, %d : tensor<4x8xf32>
    %next1 = stablehlo.add %sum1, %g#0 : tensor<8x2xf32>
    %next = stablehlo.add %total, %l#0 : tensor<f32>
    return %next0, %next1, %next, %l#0 : tensor<4x8xf32>, tensor<8x2xf32>, tensor<f32>, tensor<f32>
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
