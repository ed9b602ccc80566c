// All meshes, parts of axes and groups of partitions become whole axes of one
// mesh.
// RUN: pw-opt %s --pw-unify-shardings -split-input-file | FileCheck %s

// The third mesh counts the partitions in another order.
// CHECK: sdy.mesh @a = <["x.0"=2, "x.1"=2, "x.2"=2]>
// CHECK-NOT: sdy.mesh
sdy.mesh @a = <["x"=8]>
sdy.mesh @b = <["y"=2, "z"=4]>
sdy.mesh @c = <["z"=4, "y"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @empty = <[]>
// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x.0", "x.1", "x.2"}]>}
// CHECK-SAME: %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x.1", "x.2"}]>}
// CHECK-SAME: %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x.1", "x.2", "x.0"}]>}
// CHECK-SAME: %arg3: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x.0", "x.1"}p1], unreduced={"x.2"}>}
// CHECK-SAME: %arg4: tensor<8xf32>,
// CHECK-SAME: %arg5: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{?}]>}
func.func public @main(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@b, [{"z"}]>},
    %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@c, [{"z", "y"}]>},
    %arg3: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x":(1)4}p1], unreduced={"x":(4)2}>},
    %arg4: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, []>},
    %arg5: tensor<8xf32> {sdy.sharding = #sdy.sharding<@empty, [{?}]>}) -> tensor<8xf32> {
  // Shardings of other operations are hints.
  // CHECK: stablehlo.add %arg0, %arg1 : tensor<8xf32>
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@b, [{"y"}]>]>} : tensor<8xf32>
  // CHECK: %[[C:.*]] = sdy.sharding_constraint %{{.*}} <@a, [{"x.0", ?}]>
  %1 = sdy.sharding_constraint %0 <@b, [{"y", ?}]> : tensor<8xf32>
  // A value on one device may be anywhere.
  // CHECK-NEXT: %[[R:.*]] = sdy.sharding_constraint %[[C]] <@a, [{"x.1"}]>
  %2 = sdy.sharding_constraint %1 <@one, []> : tensor<8xf32>
  %3 = sdy.reshard %2 <mesh<["u"=2, "v"=2, "w"=2]>, [{"v"}]> : tensor<8xf32>
  // CHECK-NEXT: %[[IN:.*]] = sdy.sharding_constraint %[[R]] <@a, [{}]>
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[IN]], %[[IN]]
  // CHECK-NEXT: %[[OUT:.*]] = sdy.sharding_constraint %[[SUM]] <@a, [{"x.0"}]>
  // CHECK-NEXT: return %[[OUT]]
  %4 = sdy.named_computation<"f">(%3) in_shardings=[<@b, [{}]>] out_shardings=[<@b, [{"y"}]>] (%arg6: tensor<8xf32>) {
    %5 = stablehlo.add %arg6, %arg6 : tensor<8xf32>
    sdy.return %5 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// Groups of pairs divide the axis. An axis of size 1 stays, for a run with
// another size.
// CHECK: sdy.mesh @mesh = <["y"=1, "x.0"=2, "x.1"=2]>
sdy.mesh @mesh = <["y"=1, "x"=4]>
// CHECK: sdy.manual_computation({{.*}}) in_shardings=[<@mesh, [{"y", "x.0", "x.1"}]>] out_shardings=[<@mesh, [{"x.0", "x.1"}]>] manual_axes={"y", "x.0", "x.1"}
func.func public @main(%arg0: tensor<8xf32>) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"y", "x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"y", "x"} (%arg1: tensor<2xf32>) {
    %1 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// No axes make up this order of devices, so partitions are numbered by it.
// CHECK: sdy.mesh @mesh = <["x"=4]>
sdy.mesh @mesh = <["x"=4], device_ids=[0, 1, 3, 2]>
func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xui32>) {
  %0:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    // CHECK: source_target_pairs = dense<{{\[\[}}0, 3], [2, 1]]>
    %1 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    // CHECK: %[[ID:.*]] = stablehlo.partition_id
    // CHECK: %[[LIST:.*]] = stablehlo.constant dense<[0, 1, 3, 2]> : tensor<4xui32>
    // CHECK: stablehlo.dynamic_slice %[[LIST]], %[[ID]], sizes = [1]
    %2 = stablehlo.partition_id : tensor<ui32>
    %3 = stablehlo.reshape %2 : (tensor<ui32>) -> tensor<1xui32>
    sdy.return %1, %3 : tensor<2xf32>, tensor<1xui32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4xui32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<4xui32>
}

// -----

// On one device, shards are whole arrays.
// CHECK: sdy.mesh @mesh = <["x"=1]>
// CHECK: func.func public @main
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
// CHECK-NEXT: return %[[SUM]]
sdy.mesh @mesh = <["x"=1]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<8xf32>) {
    %1 = stablehlo.add %arg1, %arg1 : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
