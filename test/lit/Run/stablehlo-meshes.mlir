// Several meshes over the same devices, one of which counts them in another
// order, parts of axes, contributions, and groups of partitions that are parts
// of an axis.
// REQUIRES: pw-run
// DEFINE: %{run} = pw-run %s --input=x=1,2,3,4,5,6,7,8 --input=g=1,1,1,1,1,1,1,1
// RUN: %{run} --topology=1x1x8 | FileCheck %s
// RUN: %{run} --topology=1x2x4 --processes=2 | FileCheck %s
// RUN: %{run} --topology=1x1x1 --oversubscribe 2>/dev/null | FileCheck %s
// CHECK: result0: 8xf32 = [3, 5, 7, 9, 11, 13, 15, 17]
// CHECK-NEXT: result1: 8xf32 = [16, 16, 16, 16, 16, 16, 16, 16]
// CHECK-NEXT: [SUCCESS] 1 step, 5 checks
// RUN: pw-opt %s --pw-import-stablehlo | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: pw.slice @devices mesh <"x.0" = 2, "x.1" = 2, "x.2" = 2>
// PROGRAM: pw.program @main({{.*}}, %g: !pw.array<8xf32, @devices, [{}] partial add {"x.0", "x.1", "x.2"}>)

module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @flat = <["x"=8]>
  sdy.mesh @grid = <["a"=4, "b"=2]>
  sdy.mesh @turned = <["b"=2, "a"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@flat, [{"x"}]>} loc("x"),
      %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@flat, [{}], unreduced={"x"}>} loc("g"))
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@turned, [{"a"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@flat, [{"x":(2)2}]>}) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@turned, [{"b", "a"}]> : tensor<8xf32>
    %2 = sdy.sharding_constraint %arg1 <@flat, [{}], unreduced={"x"}> : tensor<8xf32>
    %3 = stablehlo.add %1, %2 : tensor<8xf32>
    // The groups are pairs of neighbours: a part of "x", and "b" of the grid.
    %4:5 = sdy.manual_computation(%arg0) in_shardings=[<@flat, [{"x"}]>] out_shardings=[<@flat, [{"x":(1)4}]>, <@flat, [{"x":(1)4}]>, <@flat, [{"x"}]>, <@flat, [{}], unreduced={"x"}>, <@flat, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<1xf32>) {
      %pair = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<1xf32>) -> tensor<2xf32>
      %sum = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %next = "stablehlo.collective_permute"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
      %two = stablehlo.constant dense<2.0> : tensor<8xf32>
      %first = "stablehlo.collective_broadcast"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
      sdy.return %pair, %sum, %next, %two, %first : tensor<2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<8xf32>, tensor<1xf32>
    } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    check.expect_eq_const %4#4, dense<[1.0, 1.0, 3.0, 3.0, 5.0, 5.0, 7.0, 7.0]> : tensor<8xf32>
    check.expect_eq_const %4#0, dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
    check.expect_eq_const %4#1, dense<[3.0, 7.0, 11.0, 15.0]> : tensor<4xf32>
    check.expect_eq_const %4#2, dense<[8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
    // The same computation over the mesh in another order: positions are those
    // of the mesh, groups and numbers are those of partitions.
    %5:2 = sdy.manual_computation(%arg0) in_shardings=[<@turned, [{"b", "a"}]>] out_shardings=[<@turned, [{"b", "a"}]>, <@turned, [{"b"}]>] manual_axes={"a", "b"} (%arg2: tensor<1xf32>) {
      %id = stablehlo.partition_id : tensor<ui32>
      %float = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %ids = stablehlo.reshape %float : (tensor<f32>) -> tensor<1xf32>
      %sum = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      sdy.return %ids, %sum : tensor<1xf32>, tensor<1xf32>
    } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>)
    %6 = stablehlo.concatenate %5#0, %5#1, dim = 0 : (tensor<8xf32>, tensor<2xf32>) -> tensor<10xf32>
    check.expect_eq_const %6, dense<[0.0, 2.0, 4.0, 6.0, 1.0, 3.0, 5.0, 7.0, 10.0, 26.0]> : tensor<10xf32>
    return %3, %4#3 : tensor<8xf32>, tensor<8xf32>
  }
}
