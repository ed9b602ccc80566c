// Operand types give the signs, narrow floats are computed in f32, and calls in
// regions of scalars are inlined.
// RUN: pw-opt %s --pw-lower-stablehlo | FileCheck %s

// CHECK-LABEL: func.func @divide_unsigned(
// CHECK: %[[SAFE:.*]] = arith.select
// CHECK: arith.divui %{{.*}}, %[[SAFE]] : tensor<4xi32>
func.func @divide_unsigned(%a: tensor<4xui32>, %b: tensor<4xui32>) -> tensor<4xui32> {
  %0 = stablehlo.divide %a, %b : tensor<4xui32>
  return %0 : tensor<4xui32>
}

// CHECK-LABEL: func.func @add_narrow(
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<4xf32>
// CHECK: arith.truncf %[[SUM]] : tensor<4xf32> to tensor<4xf16>
func.func @add_narrow(%a: tensor<4xf16>) -> tensor<4xf16> {
  %0 = stablehlo.add %a, %a : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// CHECK-LABEL: func.func @constant(
// CHECK: arith.constant dense<[1, 2, -1]> : tensor<3xi8>
func.func @constant() -> tensor<3xui8> {
  %0 = stablehlo.constant dense<[1, 2, 255]> : tensor<3xui8>
  return %0 : tensor<3xui8>
}

func.func private @sum(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %y : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @calls(
// CHECK: linalg.generic
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: scf.if
// CHECK: scf.yield %[[S]] : f32
func.func @calls(%a: tensor<4xf32>, %z: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %0 = stablehlo.reduce(%a init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %1 = func.call @sum(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.if"(%p) ({
      stablehlo.return %1 : tensor<f32>
    }, {
      stablehlo.return %y : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}
