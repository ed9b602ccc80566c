// Loops that communicate: a counted one over a manual computation, written out,
// one with a constraint, and one whose test depends on data, with a constraint.
// REQUIRES: pw-run
// DEFINE: %{run} = pw-run %s --input=x=1,2,3,4
// RUN: %{run} --topology=1x1x2 | FileCheck %s
// RUN: %{run} --topology=1x1x1 --oversubscribe 2>/dev/null | FileCheck %s
// CHECK: result0: 4xf32 = [3, 4, 3, 4]
// CHECK-NEXT: result1: 4xf32 = [71, 72, 73, 74]
// CHECK-NEXT: result2: 4xf32 = [32, 64, 96, 128]
// CHECK-NEXT: [SUCCESS] 1 step

module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("x")) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %c70 = stablehlo.constant dense<70> : tensor<i32>
    // Each shard gets that of its neighbour, and the larger element of both.
    %0:2 = stablehlo.while(%i = %c0, %x = %arg0) : tensor<i32>, tensor<4xf32> cond {
      %p = stablehlo.compare LT, %i, %c3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %y = func.call @exchange(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %j = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>
    }
    %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
    %1:2 = stablehlo.while(%i = %c0, %x = %arg0) : tensor<i32>, tensor<4xf32> cond {
      %p = stablehlo.compare LT, %i, %c70, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %y = stablehlo.add %x, %ones : tensor<4xf32>
      %z = sdy.sharding_constraint %y <@mesh, [{"x"}]> : tensor<4xf32>
      %j = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %j, %z : tensor<i32>, tensor<4xf32>
    }
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %limit = stablehlo.constant dense<300.0> : tensor<f32>
    %2 = stablehlo.while(%x = %arg0) : tensor<4xf32> cond {
      %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %p = stablehlo.compare LT, %s, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %y = stablehlo.add %x, %x : tensor<4xf32>
      %z = sdy.sharding_constraint %y <@mesh, [{"x"}]> : tensor<4xf32>
      stablehlo.return %z : tensor<4xf32>
    }
    return %0#1, %1#1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func private @exchange(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
      %other = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      %most = stablehlo.maximum %arg1, %other : tensor<2xf32>
      sdy.return %most : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
