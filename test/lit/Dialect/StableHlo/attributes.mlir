// Attributes of front ends are kept, on modules, functions, arguments, results and
// operations, and also those whose name or dialect is not known.
// RUN: pw-opt %s > %t.once && pw-opt %t.once | diff %t.once - && FileCheck %s < %t.once
// RUN: pw-opt %s --mlir-print-op-generic | pw-opt | diff %t.once -

// CHECK: module @jit_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32, other.note = "kept"}
module @jit_step attributes {
  jax.uses_shape_polymorphism = false, mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32, other.note = "kept"} {

// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<4xf32> {jax.buffer_donor = true, mhlo.layout_mode = "default", tf.aliasing_output = 0 : i32},
// CHECK-SAME: %arg1: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}", xla.note = #xla.something<1, "a">})
// CHECK-SAME: -> (tensor<4xf32> {jax.result_info = "result['w']", mhlo.kind = #mhlo.kind<a, [b]>})
func.func public @main(
    %arg0: tensor<4xf32> {jax.buffer_donor = true, mhlo.layout_mode = "default", tf.aliasing_output = 0 : i32},
    %arg1: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}", xla.note = #xla.something<1, "a">})
    -> (tensor<4xf32> {jax.result_info = "result['w']", mhlo.kind = #mhlo.kind<a, [b]>}) {
  // CHECK: call @f(%arg0) {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s0"}}
  %0 = func.call @f(%arg0) {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s0"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(tensor<4xf32>) -> tensor<4xf32>

// Attributes of the dialect, and ones whose name it does not know.
func.func private @all() attributes {test.all = [
  // CHECK-LABEL: func.func private @all
  // CHECK-SAME: #stablehlo.scatter<>
  #stablehlo.scatter<>,
  // CHECK-SAME: #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], input_batching_dims = [2], scatter_indices_batching_dims = [3], scatter_dims_to_operand_dims = [4, 5], index_vector_dim = 6>
  #stablehlo.scatter<index_vector_dim = 6, update_window_dims = [0], inserted_window_dims = [1], input_batching_dims = [2], scatter_indices_batching_dims = [3], scatter_dims_to_operand_dims = [4, 5]>,
  // CHECK-SAME: #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], operand_batching_dims = [2], start_indices_batching_dims = [3], start_index_map = [4], index_vector_dim = 5>
  #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], operand_batching_dims = [2], start_indices_batching_dims = [3], start_index_map = [4], index_vector_dim = 5>,
  // CHECK-SAME: #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>
  #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>,
  // CHECK-SAME: #stablehlo.conv<[b, f]x[o, i]->[f, b]>
  #stablehlo.conv<[b, f]x[o, i]->[f, b]>,
  // CHECK-SAME: #stablehlo.conv<[1, b, 0, f]x[0, 1, i, o]->[b, 0, 1, f]>
  #stablehlo.conv<[1, b, 0, f]x[0, 1, i, o]->[b, 0, 1, f]>,
  // CHECK-SAME: #stablehlo.channel_handle<handle = 3, type = 0>
  #stablehlo.channel_handle<handle = 3, type = 0>,
  // CHECK-SAME: #stablehlo<precision HIGHEST>
  #stablehlo<precision HIGHEST>,
  // CHECK-SAME: #stablehlo<comparison_direction NE>, #stablehlo<comparison_type SIGNED>
  #stablehlo<comparison_direction NE>, #stablehlo<comparison_type SIGNED>,
  // CHECK-SAME: #stablehlo<transpose TRANSPOSE>, #stablehlo<rng_algorithm PHILOX>
  #stablehlo<transpose TRANSPOSE>, #stablehlo<rng_algorithm PHILOX>,
  // CHECK-SAME: #stablehlo<rng_distribution UNIFORM>, #stablehlo<fft_type IRFFT>
  #stablehlo<rng_distribution UNIFORM>, #stablehlo<fft_type IRFFT>,
  // CHECK-SAME: #stablehlo.new_thing<a = [1], b = <c>>
  #stablehlo.new_thing<a = [1], b = <c>>,
  // CHECK-SAME: !stablehlo.future<tensor<f32>>
  !stablehlo.future<tensor<f32>>]}
}
