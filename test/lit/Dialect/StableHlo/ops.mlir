// Operations print what they parse, in the forms that front ends write.
// RUN: pw-opt %s > %t.once && pw-opt %t.once | diff %t.once - && FileCheck %s < %t.once
// RUN: pw-opt %s --mlir-print-op-generic | pw-opt | diff %t.once -

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%f: tensor<2x3xf32>, %i: tensor<2x3xui8>, %p: tensor<2x3xi1>, %s: tensor<f32>,
                       %one: tensor<i1>) {
  // CHECK: stablehlo.abs %{{.*}} : tensor<2x3xf32>
  %0 = stablehlo.abs %f : tensor<2x3xf32>
  // CHECK: stablehlo.abs %{{.*}} : tensor<2x3xf32>
  %1 = stablehlo.abs %f : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %2 = stablehlo.convert %f : (tensor<2x3xf32>) -> tensor<2x3xi8>
  // CHECK: stablehlo.convert %{{.*}} : tensor<2x3xf32>
  %3 = stablehlo.convert %f : tensor<2x3xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<2x3xui8>
  %4 = stablehlo.add %i, %i {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<2x3xui8>
  // CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
  %5 = stablehlo.exponential %f {result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %6 = stablehlo.clamp %f, %f, %f : tensor<2x3xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %7 = stablehlo.clamp %s, %f, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.is_finite %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %8 = stablehlo.is_finite %f : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %9 = stablehlo.compare  LT, %f, %f,  TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: stablehlo.compare EQ, %{{.*}}, %{{.*}} : (tensor<2x3xui8>, tensor<2x3xui8>) -> tensor<2x3xi1>
  %10 = stablehlo.compare EQ, %i, %i : (tensor<2x3xui8>, tensor<2x3xui8>) -> tensor<2x3xi1>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<2x3xf32>
  %11 = stablehlo.select %p, %f, %f : tensor<2x3xi1>, tensor<2x3xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<2x3xf32>
  %12 = stablehlo.select %one, %f, %f : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<i1>
  %13 = stablehlo.select %one, %one, %one : tensor<i1>
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<2x3xf32>
  %14 = stablehlo.reduce_precision %f, format = e5m10 : tensor<2x3xf32>
  // CHECK: "stablehlo.map"(%{{.*}}) <{dimensions = array<i64: 0, 1>}>
  %15 = "stablehlo.map"(%f) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>):
    %y = stablehlo.multiply %x, %s : tensor<f32>
    stablehlo.return %y : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @constants
func.func @constants(%state: tensor<2xui64>, %a: tensor<f32>, %shape: tensor<2xi64>) {
  // CHECK: %c = stablehlo.constant dense<[1, 2]> : tensor<2xui16>
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xui16>
  // CHECK: %cst = stablehlo.constant {name = "pi"} dense<3.140630e+00> : tensor<2x2xbf16>
  %1 = stablehlo.constant {name = "pi"} dense<3.14> : tensor<2x2xbf16>
  // CHECK: stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %2 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
  // A byte for each element becomes a bit.
  // CHECK: stablehlo.constant dense<[false, true, true, false, false, false, false, false, false, true]> : tensor<10xi1>
  %3 = stablehlo.constant dense<"0x00010100000000000001"> : tensor<10xi1>
  // CHECK: stablehlo.constant dense_resource<__elided__> : tensor<7x9xf32>
  %4 = stablehlo.constant dense_resource<__elided__> : tensor<7x9xf32>
  // CHECK: stablehlo.constant dense<[0xFFF0000000000000, 0.000000e+00]> : tensor<2xf64>
  %5 = stablehlo.constant dense<[0xFFF0000000000000, 0.0]> : tensor<2xf64>
  // CHECK: stablehlo.iota dim = 1 : tensor<2x5xi32>
  %6 = stablehlo.iota dim = 1 : tensor<2x5xi32>
  // CHECK: %output_state, %output = stablehlo.rng_bit_generator %{{.*}}, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %7:2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  // CHECK: stablehlo.rng %{{.*}}, %{{.*}}, %{{.*}}, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x4xf32>
  %8 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%f: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>, %v: tensor<4xf16>) {
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [2, 0] : (tensor<4x6xf32>) -> tensor<6x5x4xf32>
  %1 = stablehlo.broadcast_in_dim %f, dims = [2, 0] : (tensor<4x6xf32>) -> tensor<6x5x4xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %2 = stablehlo.transpose %f, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // CHECK: stablehlo.reverse %{{.*}}, dims = [1, 0] : tensor<4x6xf32>
  %3 = stablehlo.reverse %f, dims = [1, 0] : tensor<4x6xf32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<4x6xf32>) -> tensor<3x8xf32>
  %4 = stablehlo.reshape %f : (tensor<4x6xf32>) -> tensor<3x8xf32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xf16>) -> tensor<4x2xui8>
  %5 = stablehlo.bitcast_convert %v : (tensor<4xf16>) -> tensor<4x2xui8>
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %6 = stablehlo.concatenate %f, %f, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  // CHECK: stablehlo.concatenate %{{.*}}, dim = 0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %7 = stablehlo.concatenate %f, dim = 0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1, 0], high = [-2, 1], interior = [0, 2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x17xf32>
  %8 = stablehlo.pad %f, %s, low = [1, 0], high = [-2, 1], interior = [0, 2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x17xf32>
  // CHECK: stablehlo.slice %{{.*}} [1:3, 0:6:4] : (tensor<4x6xf32>) -> tensor<2x2xf32>
  %9 = stablehlo.slice %f [1:3, 0:6:4] : (tensor<4x6xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.slice %{{.*}} [] : (tensor<f32>) -> tensor<f32>
  %10 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [2, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>
  %11 = stablehlo.dynamic_slice %f, %i, %i, sizes = [2, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, sizes = [] : (tensor<f32>) -> tensor<f32>
  %12 = stablehlo.dynamic_slice %s, sizes = [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %13 = stablehlo.dynamic_update_slice %f, %11, %i, %i : (tensor<4x6xf32>, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @indexed
func.func @indexed(%f: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) {
  // CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  %0 = "stablehlo.gather"(%f, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.scatter"(%{{.*}}, %{{.*}}, %{{.*}}) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
  %1 = "stablehlo.scatter"(%f, %i, %u) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    unique_indices = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<2x4x8xf32>, %b: tensor<2x8x3xf32>, %v: tensor<4xf32>,
                    %x: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x16xf32>, %m: tensor<3x3xf32>) {
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [] x [], precision = [DEFAULT, HIGHEST] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf64>
  %1 = stablehlo.dot_general %v, %v, contracting_dims = [] x [], precision = [DEFAULT, HIGHEST] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf64>
  // CHECK: algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %2 = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = {{\[\[}}1, 1], [0, 0]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [true, false]}
  // CHECK-SAME: {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x2x16xf32>) -> tensor<1x4x13x16xf32>
  %3 = stablehlo.convolution(%x, %k)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 1], pad = [[1, 1], [0, 0]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [true, false]}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64,
     precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}
    : (tensor<1x8x8x4xf32>, tensor<3x3x2x16xf32>) -> tensor<1x4x13x16xf32>
  // CHECK: window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
  %4 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x16xf32>) -> tensor<1x6x6x16xf32>
  // CHECK: stablehlo.cholesky %{{.*}}, lower = true : tensor<3x3xf32>
  %5 = stablehlo.cholesky %m, lower = true : tensor<3x3xf32>
  // CHECK: stablehlo.cholesky %{{.*}} : tensor<3x3xf32>
  %6 = stablehlo.cholesky %m : tensor<3x3xf32>
  // CHECK: "stablehlo.triangular_solve"(%{{.*}}, %{{.*}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}>
  %7 = "stablehlo.triangular_solve"(%m, %m) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK: stablehlo.fft %{{.*}}, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xf32>
  %8 = stablehlo.fft %v, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%f: tensor<4x6xf32>, %i: tensor<4x6xi32>, %s: tensor<f32>, %n: tensor<i32>,
                      %source: tensor<2x3xf32>, %v: tensor<6xf32>) {
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%f init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  // A region with one operation prints as if it had been given by name.
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.maximum across dimensions = [0, 1] {mhlo.note = "x"} : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%f init: %s) across dimensions = [0, 1] {mhlo.note = "x"} : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }
  // The operands are in the other order.
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) {
  // CHECK-NEXT: stablehlo.subtract %[[B]], %[[A]]
  %2 = stablehlo.reduce(%f init: %s) across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %c = stablehlo.subtract %b, %a : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }
  // Text has a pair for each input; the region has all first values, then all second ones.
  // CHECK: %{{.*}}:2 = stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [1]
  // CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) (%[[I:.*]]: tensor<i32>, %[[J:.*]]: tensor<i32>) {
  // CHECK-NEXT: %[[P:.*]] = stablehlo.compare GT, %[[A]], %[[B]]
  // CHECK: stablehlo.select %[[P]], %[[I]], %[[J]] : tensor<i1>, tensor<i32>
  %3:2 = stablehlo.reduce(%f init: %s), (%i init: %n) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%x: tensor<i32>, %y: tensor<i32>) {
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %c = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
    %z = stablehlo.select %p, %x, %y : tensor<i1>, tensor<i32>
    stablehlo.return %c, %z : tensor<f32>, tensor<i32>
  }
  // CHECK: "stablehlo.reduce_window"(%{{.*}}, %{{.*}}) <{padding = dense<{{\[\[}}0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}>
  %4 = "stablehlo.reduce_window"(%f, %s) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x6xf32>
  // CHECK: "stablehlo.select_and_scatter"
  %5 = "stablehlo.select_and_scatter"(%f, %source, %s) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.sort"(%{{.*}}, %{{.*}}) <{dimension = 1 : i64, is_stable = true}>
  %6:2 = "stablehlo.sort"(%f, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %x: tensor<i32>, %y: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  // CHECK: "stablehlo.batch_norm_inference"
  %7 = "stablehlo.batch_norm_inference"(%f, %v, %v, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.batch_norm_training"
  %8:3 = "stablehlo.batch_norm_training"(%f, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  // CHECK: "stablehlo.batch_norm_grad"
  %9:3 = "stablehlo.batch_norm_grad"(%f, %v, %v, %v, %f) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// CHECK-LABEL: func.func @control
func.func @control(%i: tensor<i32>, %n: tensor<i32>, %f: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  // CHECK: %[[LOOP:.*]]:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg2) : tensor<i32>, tensor<4xf32> attributes {mhlo.note = "loop"}
  // CHECK-NEXT: cond {
  // CHECK-NEXT: stablehlo.compare LT, %iterArg, %arg1, SIGNED
  // CHECK: } do {
  // CHECK-NEXT: stablehlo.add %iterArg, %iterArg
  // CHECK-NEXT: stablehlo.while()
  // CHECK-NEXT: cond {
  %0:2 = stablehlo.while(%j = %i, %x = %f) : tensor<i32>, tensor<4xf32> attributes {mhlo.note = "loop"}
   cond {
    %c = stablehlo.compare  LT, %j, %n,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %k = stablehlo.add %j, %j : tensor<i32>
    stablehlo.while()
     cond {
      stablehlo.return %p : tensor<i1>
    } do {
      stablehlo.return
    }
    stablehlo.return %k, %x : tensor<i32>, tensor<4xf32>
  }
  // CHECK: "stablehlo.if"(%arg3) ({
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %f : tensor<4xf32>
  }, {
    stablehlo.return %0#1 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  // CHECK: "stablehlo.case"(%arg0) ({
  %2 = "stablehlo.case"(%i) ({
    stablehlo.return %f : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  // CHECK: %{{.*}}:2 = stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<i32>
  %3:2 = stablehlo.optimization_barrier %2, %i : tensor<4xf32>, tensor<i32>
  // CHECK: stablehlo.custom_call @check.expect_eq(%{{.*}}, %{{.*}}) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
  stablehlo.custom_call @check.expect_eq(%f, %f) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: %{{.*}}:2 = stablehlo.custom_call @"my target"(%{{.*}}) {api_version = 4 : i32, backend_config = {k = 1 : i64}, operand_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>)
  %4:2 = stablehlo.custom_call @"my target"(%f) {api_version = 4 : i32, backend_config = {k = 1}, operand_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>)
  // CHECK: stablehlo.composite "my.gelu" %{{.*}} {composite_attributes = {fast = true}, decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = stablehlo.composite "my.gelu" %f {composite_attributes = {fast = true}, decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<4xf32>, tensor<i32>>
  %6 = stablehlo.tuple %f, %i : tuple<tensor<4xf32>, tensor<i32>>
  // CHECK: stablehlo.get_tuple_element %{{.*}}[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
  %7 = stablehlo.get_tuple_element %6[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
  return %5 : tensor<4xf32>
}
func.func private @gelu(tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: func.func @communication
func.func @communication(%f: tensor<4x8xf32>) {
  // CHECK: stablehlo.create_token : !stablehlo.token
  %t = stablehlo.create_token : !stablehlo.token
  // CHECK: stablehlo.after_all %{{.*}}, %{{.*}} : !stablehlo.token
  %0 = stablehlo.after_all %t, %t : !stablehlo.token
  // CHECK: stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.partition_id : tensor<ui32>
  // CHECK: stablehlo.replica_id : tensor<ui32>
  %2 = stablehlo.replica_id : tensor<ui32>
  // CHECK: "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = "stablehlo.all_gather"(%f) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = ["x"]>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = "stablehlo.all_gather"(%f) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = ["x"]>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: "stablehlo.all_reduce"
  %5 = "stablehlo.all_reduce"(%f) <{replica_groups = dense<[[0, 1, 2], [3, 4, -1]]> : tensor<2x3xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.reduce_scatter"
  %6 = "stablehlo.reduce_scatter"(%f) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK: "stablehlo.all_to_all"
  %7 = "stablehlo.all_to_all"(%f) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  // CHECK: "stablehlo.collective_permute"
  %8 = "stablehlo.collective_permute"(%f) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.collective_broadcast"
  %9 = "stablehlo.collective_broadcast"(%f) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.outfeed"
  %10 = "stablehlo.outfeed"(%f, %t) <{outfeed_config = ""}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.infeed"
  %11:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  // CHECK: "stablehlo.send"
  %12 = "stablehlo.send"(%f, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4x8xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.recv"
  %13:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
  return
}

// CHECK-LABEL: func.func @functions
func.func @functions(%f: tensor<5x6xf32>) {
  // CHECK: chlo.lgamma %{{.*}} : tensor<5x6xf32> -> tensor<5x6xf32>
  %0 = chlo.lgamma %f : tensor<5x6xf32> -> tensor<5x6xf32>
  // CHECK: chlo.is_inf %{{.*}} : tensor<5x6xf32> -> tensor<5x6xi1>
  %1 = chlo.is_inf %f : tensor<5x6xf32> -> tensor<5x6xi1>
  // CHECK: chlo.next_after %{{.*}}, %{{.*}} : tensor<5x6xf32>, tensor<5x6xf32> -> tensor<5x6xf32>
  %2 = chlo.next_after %f, %f : tensor<5x6xf32>, tensor<5x6xf32> -> tensor<5x6xf32>
  // CHECK: %values, %indices = chlo.top_k(%{{.*}}, k = 2) : tensor<5x6xf32> -> (tensor<5x2xf32>, tensor<5x2xi32>)
  %3:2 = chlo.top_k(%f, k = 2) : tensor<5x6xf32> -> (tensor<5x2xf32>, tensor<5x2xi32>)
  // CHECK: chlo.top_k(%{{.*}}, k = 0, is_stable = true) : tensor<5x6xf32> -> (tensor<5x0xf32>, tensor<5x0xi32>)
  %4:2 = chlo.top_k(%f, k = 0, is_stable = true) : tensor<5x6xf32> -> (tensor<5x0xf32>, tensor<5x0xi32>)
  return
}

// CHECK-LABEL: func.func @checks
func.func @checks(%f: tensor<2xf32>, %i: tensor<2xi1>, %e: tensor<0xf64>) {
  // CHECK: check.expect_eq %{{.*}}, %{{.*}} : tensor<2xi1>
  check.expect_eq %i, %i : tensor<2xi1>
  // CHECK: check.expect_eq_const %{{.*}}, dense<[true, false]> : tensor<2xi1>
  check.expect_eq_const %i, dense<[true, false]> : tensor<2xi1>
  // CHECK: check.expect_almost_eq %{{.*}}, %{{.*}} : tensor<2xf32>
  check.expect_almost_eq %f, %f : tensor<2xf32>
  // CHECK: check.expect_almost_eq %{{.*}}, %{{.*}}, tolerance = 1.000000e-02 : tensor<2xf32>
  check.expect_almost_eq %f, %f, tolerance = 0.01 : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %{{.*}}, dense<[1.000000e+00, 0x7F800000]> : tensor<2xf32>
  check.expect_almost_eq_const %f, dense<[1.0, 0x7F800000]> : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %{{.*}}, dense<1.000000e+00>, tolerance = 1.000000e-02 : tensor<2xf32>
  check.expect_almost_eq_const %f, dense<1.0>, tolerance = 0.01 : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %{{.*}}, dense<> : tensor<0xf64>
  check.expect_almost_eq_const %e, dense<> : tensor<0xf64>
  // CHECK: check.expect_close %{{.*}}, %{{.*}}, max_ulp_difference = 5, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %f, %f, max_ulp_difference = 5, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  // CHECK: check.expect_close %{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xf32>
  check.expect_close %f, %f, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  return
}
