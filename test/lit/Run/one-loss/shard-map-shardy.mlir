// A manual computation: weights are gathered over one axis, and products are added
// up over the other one.
// REQUIRES: pw-run
// DEFINE: %{run} = pw-run %s --input=x=random:1 --input=y=random:2 --input=v=random:3 --input=w=random:4
// RUN: %{run} --topology=1x1x4 | FileCheck %s
// RUN: %{run} --topology=1x1x2 --oversubscribe 2>/dev/null | FileCheck %s
// CHECK: result0: f32 = 5.5591
// CHECK-NEXT: [SUCCESS] 1 step, 1 check

sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func public @main(
    %arg0: tensor<8x16xf32> loc("x"),
    %arg1: tensor<8x4xf32> loc("y"),
    %arg2: tensor<16x32xf32> loc("v"),
    %arg3: tensor<32x4xf32> loc("w")) -> tensor<f32> {
  %loss = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [{"data"}, {}]>, <@mesh, [{"data"}, {"model"}]>, <@mesh, [{"model", "data"}, {}]>] out_shardings=[<@mesh, []>] manual_axes={"data", "model"} (%b0: tensor<4x16xf32>, %b1: tensor<4x4xf32>, %b2: tensor<8x16xf32>, %b3: tensor<8x4xf32>) {
    %v = "stablehlo.all_gather"(%b2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<8x16xf32>) -> tensor<16x16xf32>
    %w = "stablehlo.all_gather"(%b3) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<8x4xf32>) -> tensor<16x4xf32>
    %s0 = stablehlo.dot_general %b0, %v, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %s1 = stablehlo.tanh %s0 : tensor<4x16xf32>
    %s2 = stablehlo.dot_general %s1, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
    %s3 = "stablehlo.all_reduce"(%s2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %s4 = stablehlo.subtract %s3, %b1 : tensor<4x4xf32>
    %s5 = stablehlo.multiply %s4, %s4 : tensor<4x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s6 = stablehlo.reduce(%s5 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
    %s7 = "stablehlo.all_reduce"(%s6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    %n = stablehlo.constant dense<32.0> : tensor<f32>
    %s8 = stablehlo.divide %s7, %n : tensor<f32>
    sdy.return %s8 : tensor<f32>
  } : (tensor<8x16xf32>, tensor<8x4xf32>, tensor<16x32xf32>, tensor<32x4xf32>) -> tensor<f32>
  check.expect_almost_eq_const %loss, dense<5.559191>, tolerance = 1.0e-5 : tensor<f32>
  return %loss : tensor<f32>
}
