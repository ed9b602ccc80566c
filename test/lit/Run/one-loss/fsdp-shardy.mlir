// Fully sharded and tensor parallel, in the form of Shardy. A second mesh has the
// axes of the first as one, and a sharding names a part of it.
// REQUIRES: pw-run
// DEFINE: %{run} = pw-run %s --input=x=random:1 --input=y=random:2 --input=v=random:3 --input=w=random:4
// RUN: %{run} --topology=1x1x4 | FileCheck %s
// RUN: %{run} --topology=1x1x2 --oversubscribe 2>/dev/null | FileCheck %s
// CHECK: result0: f32 = 5.5591
// CHECK-NEXT: [SUCCESS] 1 step, 1 check

sdy.mesh @mesh = <["data"=2, "model"=2]>
sdy.mesh @flat = <["all"=4]>
func.func public @main(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@flat, [{"all":(1)2}, {}]>} loc("y"),
    %arg2: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("v"),
    %arg3: tensor<32x4xf32> {sdy.sharding = #sdy.sharding<@flat, [{"all"}, {}]>} loc("w")) -> tensor<f32> {
  %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %h = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"model"}]> : tensor<8x32xf32>
  %1 = stablehlo.tanh %h : tensor<8x32xf32>
  %2 = stablehlo.dot_general %1, %arg3, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.subtract %2, %arg1 : tensor<8x4xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<8x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %n = stablehlo.constant dense<32.0> : tensor<f32>
  %loss = stablehlo.divide %5, %n : tensor<f32>
  check.expect_almost_eq_const %loss, dense<5.559191>, tolerance = 1.0e-5 : tensor<f32>
  return %loss : tensor<f32>
}
