// One loss of a network: on one device, without any sharding. The other files of
// this folder have the same network with shardings in all forms.
// REQUIRES: pw-run
// RUN: pw-run %s --topology=1x1x1 --input=x=random:1 --input=y=random:2 --input=v=random:3 --input=w=random:4 | FileCheck %s
// CHECK: result0: f32 = 5.559191
// CHECK-NEXT: [SUCCESS] 1 step

func.func public @main(%arg0: tensor<8x16xf32> loc("x"), %arg1: tensor<8x4xf32> loc("y"), %arg2: tensor<16x32xf32> loc("v"), %arg3: tensor<32x4xf32> loc("w")) -> tensor<f32> {
  %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.tanh %0 : tensor<8x32xf32>
  %2 = stablehlo.dot_general %1, %arg3, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.subtract %2, %arg1 : tensor<8x4xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<8x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %6 = stablehlo.divide %5, %n : tensor<f32>
  return %6 : tensor<f32>
}
