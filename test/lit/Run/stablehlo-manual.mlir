// A manual computation over all axes. Its collectives are over axes, in any order,
// that make up their groups.
// REQUIRES: pw-run
// DEFINE: %{run} = pw-run %s --input=x=1,2,3,4,5,6,7,8
// RUN: %{run} --topology=1x1x4 | FileCheck %s
// RUN: %{run} --topology=1x2x2 --processes=2 | FileCheck %s
// RUN: %{run} --topology=1x1x4 --world=sim | FileCheck %s
// CHECK: result0: 4xf32 = [5, 7, 13, 15]
// CHECK-NEXT: [SUCCESS] 1 step, 7 checks
// RUN: pw-opt %s --pw-import-stablehlo | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: pw.program @main
// PROGRAM: pw.call @main.body
// PROGRAM: func.func private @main.body
// PROGRAM: pw.manual(%{{.*}}) over ["x", "y"]
// PROGRAM: pw.all_reduce %{{.*}} add over ["y"]
// PROGRAM: pw.all_gather %{{.*}} dim 0 over ["x"]
// PROGRAM: pw.reduce_scatter %{{.*}} add dim 0 over ["x", "y"]
// PROGRAM: pw.all_gather %{{.*}} dim 0 over ["y", "x"]

module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>} loc("x")) -> tensor<4xf32> {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %0 = stablehlo.multiply %arg0, %ones : tensor<8xf32>
    %1:7 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x", "y"}]>]
        out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"y"}]>, <@mesh, [{"x", "y"}]>, <@mesh, [{}]>, <@mesh, [{"x", "y"}]>, <@mesh, [{"x", "y"}]>, <@mesh, [{"x", "y"}]>]
        manual_axes={"x", "y"} (%arg1: tensor<2xf32>) {
      %sum = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      %joined = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
      %part = "stablehlo.reduce_scatter"(%joined) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<4xf32>) -> tensor<1xf32>
      %turned = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[0, 2, 1, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<8xf32>
      %sent = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      %swapped = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
      %id = stablehlo.partition_id : tensor<ui32>
      %ids = stablehlo.broadcast_in_dim %id, dims = [] : (tensor<ui32>) -> tensor<1xui32>
      sdy.return %sum, %joined, %part, %turned, %sent, %swapped, %ids : tensor<2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xui32>
    } : (tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xui32>)
    check.expect_eq_const %1#0, dense<[4.0, 6.0, 12.0, 14.0]> : tensor<4xf32>
    check.expect_eq_const %1#1, dense<[1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]> : tensor<8xf32>
    check.expect_eq_const %1#2, dense<[8.0, 12.0, 24.0, 28.0]> : tensor<4xf32>
    check.expect_eq_const %1#3, dense<[1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]> : tensor<8xf32>
    check.expect_eq_const %1#4, dense<[3.0, 4.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0]> : tensor<8xf32>
    check.expect_eq_const %1#5, dense<[1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0]> : tensor<8xf32>
    check.expect_eq_const %1#6, dense<[0, 1, 2, 3]> : tensor<4xui32>
    %more = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.add %1#0, %more : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
