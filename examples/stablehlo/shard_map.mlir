// A layer whose collectives are written by hand.
//
// @partial(jax.shard_map, mesh=jax.make_mesh((4,), ("x",)),
//          in_specs=(P("x", None), P("x", None)),
//          out_specs=(P("x", None), P("x", None), P(None, "x"), P()))
// def f(x, w):
//     h = jnp.tanh(x @ jax.lax.all_gather(w, "x", tiled=True))
//     shifted = jax.lax.ppermute(h, "x", [(i, (i + 1) % 4) for i in range(4)])
//     gram = jax.lax.psum_scatter(h.T @ h, "x", tiled=True)
//     columns = jax.lax.all_to_all(h, "x", 1, 0, tiled=True)
//     return shifted, gram, columns, jax.lax.psum(jnp.sum(h), "x")
//
// Written by make_programs.py.
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"),
      %arg1: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("w")) -> (tensor<8x16xf32> {jax.result_info = "result[0]"}, tensor<16x16xf32> {jax.result_info = "result[1]"}, tensor<8x16xf32> {jax.result_info = "result[2]"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %0:4 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {"x"}]>, <@mesh, []>] manual_axes={"x"} (%argm0: tensor<2x16xf32>, %argm1: tensor<4x16xf32>) {
      %1 = "stablehlo.all_gather"(%argm1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<4x16xf32>) -> tensor<16x16xf32>
      %2 = stablehlo.dot_general %argm0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
      %3 = stablehlo.tanh %2 : tensor<2x16xf32>
      %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x16xf32>) -> tensor<2x16xf32>
      %5 = stablehlo.transpose %3, dims = [1, 0] : (tensor<2x16xf32>) -> tensor<16x2xf32>
      %6 = stablehlo.dot_general %5, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x2xf32>, tensor<2x16xf32>) -> tensor<16x16xf32>
      %7 = "stablehlo.reduce_scatter"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%r7_0: tensor<f32>, %r7_1: tensor<f32>):
        %r7_2 = stablehlo.add %r7_0, %r7_1 : tensor<f32>
        stablehlo.return %r7_2 : tensor<f32>
      }) : (tensor<16x16xf32>) -> tensor<4x16xf32>
      %8 = "stablehlo.all_to_all"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<2x16xf32>) -> tensor<8x4xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x16xf32>, tensor<f32>) -> tensor<f32>
      %10 = "stablehlo.all_reduce"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%r10_0: tensor<f32>, %r10_1: tensor<f32>):
        %r10_2 = stablehlo.add %r10_0, %r10_1 : tensor<f32>
        stablehlo.return %r10_2 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      sdy.return %4, %7, %8, %10 : tensor<2x16xf32>, tensor<4x16xf32>, tensor<8x4xf32>, tensor<f32>
    } : (tensor<8x16xf32>, tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>, tensor<f32>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>, tensor<f32>
  }
}
