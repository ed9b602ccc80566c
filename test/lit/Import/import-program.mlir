// RUN: pw-opt %s --split-input-file --pw-import-program | FileCheck %s

// The entry becomes a program; names are those of locations and of JAX; arrays
// carry the signs that the body's ends lose.
// CHECK-LABEL: module @jit_update
// CHECK-NOT: mhlo
// CHECK: pw.slice @devices mesh <>
// CHECK: pw.program @main(
// CHECK-SAME: !pw.array<4xf32, @devices, [{}]> {pw.name = "state['w']"}
// CHECK-SAME: %arg1: !pw.array<4xui32, @devices, [{}]>
// CHECK-SAME: -> (!pw.array<4xf32, @devices, [{}]> {pw.name = "result['w']"}, !pw.array<4xui32, @devices, [{}]> {pw.name = "result1"})
// CHECK: %[[CALL:.*]]:2 = pw.call @main.body(%{{.*}}, %arg1) donate(%{{.*}})
// CHECK: pw.return %[[CALL]]#0, %[[CALL]]#1
// CHECK: func.func private @main.body(%{{.*}}: tensor<4xf32>, %[[BITS:.*]]: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
// CHECK: %[[SIGNED:.*]] = builtin.unrealized_conversion_cast %[[BITS]] : tensor<4xi32> to tensor<4xui32>
// CHECK: stablehlo.add %[[SIGNED]], %[[SIGNED]] : tensor<4xui32>
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : tensor<4xui32> to tensor<4xi32>
module @jit_update attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32, mhlo.layout_mode = "default"} loc("state['w']"),
                         %arg1: tensor<4xui32>)
      -> (tensor<4xf32> {jax.result_info = "result['w']"}, tensor<4xui32> {jax.result_info = ""}) {
    %0 = stablehlo.negate %arg0 {mhlo.frontend_attributes = {a = "b"}} : tensor<4xf32>
    %1 = stablehlo.add %arg1, %arg1 : tensor<4xui32>
    return %0, %1 : tensor<4xf32>, tensor<4xui32>
  }
}

// -----

// Names that are taken are replaced. A value that is returned twice, and an
// argument that is returned, are results of the body once.
// CHECK-LABEL: module @names
// CHECK: pw.program @main(%x: !pw.array<f32, @devices, []>, %arg1: !pw.array<ui8, @devices, []>)
// CHECK-SAME: {pw.name = "r"}
// CHECK-SAME: {pw.name = "result1"}
// CHECK-SAME: {pw.name = "result2"}
// CHECK: pw.call @main.body{{.*}} -> (!pw.array<f32, @devices, []>, !pw.array<ui8, @devices, []>)
// CHECK: pw.return %[[CALL:.*]]#0, %[[CALL]]#0, %[[CALL]]#1
// CHECK: func.func private @main.body(
module @names {
  func.func @main(%arg0: tensor<f32> loc("x"), %arg1: tensor<ui8> loc("x"))
      -> (tensor<f32> {jax.result_info = "r"}, tensor<f32> {jax.result_info = "r"}, tensor<ui8>) {
    %0 = stablehlo.negate %arg0 : tensor<f32>
    return %0, %0, %arg1 : tensor<f32>, tensor<f32>, tensor<ui8>
  }
}

// -----

// Checks become results, also those of functions that are called. Other
// functions are kept.
// CHECK-LABEL: module @checks
// CHECK: pw.program @main() -> (
// CHECK-SAME: {pw.name = "result0"}
// CHECK-SAME: {pw.expect = #pw.expect<close, result 2, max_ulp 3>, pw.name = "check0"}
// CHECK-SAME: {pw.name = "check0.expected"}
// CHECK-SAME: {pw.expect = #pw.expect<eq, result 4>, pw.name = "check1"}
// CHECK-SAME: {pw.name = "check1.expected"}
// CHECK-SAME: {pw.expect = #pw.expect<almost_eq, result 6, tolerance 1.000000e-03>, pw.name = "check2"}
// CHECK-SAME: {pw.expect = #pw.expect<almost_eq, result 8, tolerance 1.000000e-04>, pw.name = "check3"}
// CHECK-SAME: {pw.expect = #pw.expect<close, result 10, min_ulp 1, max_ulp 5>, pw.name = "check4"}
// CHECK: func.func private @main.body() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) {
// CHECK: call @want()
// CHECK-NOT: check.expect
// CHECK: return
// CHECK: func.func private @want()
module @checks {
  func.func public @main() -> tensor<2xf32> {
    %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = call @want() : () -> tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%0, %1) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    call @compare() : () -> ()
    stablehlo.custom_call @check.expect_almost_eq(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> ()
    check.expect_almost_eq_const %1, dense<[1.0, 2.0]> : tensor<2xf32>
    check.expect_close %0, %1, max_ulp_difference = 5, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @compare() {
    %0 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    check.expect_eq_const %0, dense<[3, 4]> : tensor<2xi32>
    return
  }
  func.func private @want() -> tensor<2xf32> {
    %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
