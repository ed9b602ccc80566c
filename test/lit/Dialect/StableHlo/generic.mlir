// Generic forms are read as pretty ones, with properties of operations among other
// attributes, as older text has them, or on their own.
// RUN: pw-opt %s -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @older
func.func @older(%f: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i64>) {
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] {mhlo.note = "x"} : (tensor<f32>) -> tensor<2xf32>
  %0 = "stablehlo.broadcast_in_dim"(%s) {broadcast_dimensions = array<i64>, mhlo.note = "x"} : (tensor<f32>) -> tensor<2xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [2, 2]
  %1 = "stablehlo.dynamic_slice"(%f, %i, %i) {slice_sizes = array<i64: 2, 2>} : (tensor<4x6xf32>, tensor<i64>, tensor<i64>) -> tensor<2x2xf32>
  // CHECK: stablehlo.compare EQ, %{{.*}}, %{{.*}}, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = "stablehlo.compare"(%s, %s) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.multiply across dimensions = [1]
  %3 = "stablehlo.reduce"(%f, %s) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.multiply"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [0] x [0], precision = [DEFAULT, HIGH]
  %4 = "stablehlo.dot_general"(%f, %f) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @newer
"func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>, tensor<i1>) -> (), sym_name = "newer"}> ({
^bb0(%f: tensor<4x6xf32>, %s: tensor<f32>, %p: tensor<i1>):
  // CHECK: stablehlo.constant dense<1> : tensor<2xi32>
  %0 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<2xi32>
  // CHECK: stablehlo.slice %{{.*}} [0:4:2, 1:6] : (tensor<4x6xf32>) -> tensor<2x5xf32>
  %1 = "stablehlo.slice"(%f) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 6>, strides = array<i64: 2, 1>}> : (tensor<4x6xf32>) -> tensor<2x5xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [0, 1], high = [0, 0], interior = [0, 0]
  %2 = "stablehlo.pad"(%f, %s) <{edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x7xf32>
  // CHECK: stablehlo.iota dim = 0 : tensor<3xi32>
  %3 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xi32>
  // CHECK: stablehlo.while(%iterArg = %{{.*}}) : tensor<f32>
  %4 = "stablehlo.while"(%s) ({
  ^bb0(%x: tensor<f32>):
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%x: tensor<f32>):
    "stablehlo.return"(%x) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [f, b]x[i, o]->[b, f], window = {}
  %5 = "stablehlo.convolution"(%f, %f) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, b]x[i, o]->[b, f]>, feature_group_count = 1 : i64}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  // CHECK: stablehlo.custom_call @f(%{{.*}}) : (tensor<f32>) -> tensor<f32>
  %6 = "stablehlo.custom_call"(%s) <{call_target_name = "f"}> : (tensor<f32>) -> tensor<f32>
  // CHECK: chlo.top_k(%{{.*}}, k = 1)
  %7:2 = "chlo.top_k"(%f) <{k = 1 : i64}> : (tensor<4x6xf32>) -> (tensor<4x1xf32>, tensor<4x1xi32>)
  "func.return"() : () -> ()
}) : () -> ()
