// A mesh of one device: shards are whole arrays, and nothing is communicated. A
// module for several partitions may also cut nothing.
// REQUIRES: pw-run
// RUN: pw-run %s --topology=1x1x1 --input=x=1,2 | FileCheck %s
// CHECK: result0: 2xf32 = [1, 2]
// CHECK-NEXT: result1: 2xf32 = [1, 2]
// CHECK-NEXT: result2: ui32 = 0
// CHECK-NEXT: [SUCCESS] 1 step

sdy.mesh @mesh = <["x"=1]>
func.func public @main(%arg0: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("x")) -> (tensor<2xf32>, tensor<2xf32>, tensor<ui32>) {
  %0:3 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, []>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    %sum = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0]]> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %same = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    sdy.return %sum, %same, %id : tensor<2xf32>, tensor<2xf32>, tensor<ui32>
  } : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<ui32>)
  return %0#0, %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>, tensor<ui32>
}
