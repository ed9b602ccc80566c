// Shardings in the text of XLA become those of sdy.
// RUN: pw-opt %s --pw-unify-shardings -split-input-file | FileCheck %s

// A module without a mesh of Shardy has numbered axes. The blocks of [2,4] and
// of [4,2] have three axes in common; T(..) names them in another order.
// CHECK: sdy.mesh @mesh = <["d0"=2, "d1"=2, "d2"=2]>
module attributes {mhlo.num_partitions = 8 : i32} {
  // CHECK: @main(
  // CHECK-SAME: %arg0: tensor<8x8xf32> {mhlo.sharding = {{.*}}, sdy.sharding = #sdy.sharding<@mesh, [{"d0"}, {"d1", "d2"}]>}
  // CHECK-SAME: %arg1: tensor<8x8xf32> {mhlo.sharding = {{.*}}, sdy.sharding = #sdy.sharding<@mesh, [{"d0", "d1"}, {}]>}
  // CHECK-SAME: %arg2: tensor<8x8xf32> {mhlo.sharding = {{.*}}, sdy.sharding = #sdy.sharding<@mesh, [{"d2"}, {"d0", "d1"}]>}
  // CHECK-SAME: %arg3: tensor<8x8xf32> {mhlo.sharding = {{.*}}, sdy.sharding = #sdy.sharding<@mesh, [{}, {"d2"}]>}
  // CHECK-SAME: %arg4: tensor<8x8xf32> {mhlo.sharding = "{replicated}", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
  // CHECK-SAME: %arg5: tensor<8x8xf32> {mhlo.sharding = "{maximal device=3}"}
  // CHECK-SAME: %arg6: tensor<8x8xf32> {mhlo.sharding = {{.*}}, sdy.sharding = #sdy.sharding<@mesh, [{"d0"}, {"d2", "d1"}]>}
  // CHECK-SAME: -> (tensor<8x8xf32> {mhlo.sharding = {{.*}}, sdy.sharding = #sdy.sharding<@mesh, [{"d0", "d1", "d2"}, {}]>})
  func.func public @main(
      %arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"},
      %arg1: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[4,2] last_tile_dim_replicate}"},
      %arg2: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,4]<=[4,2]T(1,0)}"},
      %arg3: tensor<8x8xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dims={replicated} metadata={op_name=\"f{}\"}}"},
      %arg4: tensor<8x8xf32> {mhlo.sharding = "{replicated}"},
      %arg5: tensor<8x8xf32> {mhlo.sharding = "{maximal device=3}"},
      %arg6: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,4]0,2,1,3,4,6,5,7}"})
      -> (tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) {
    // CHECK: %[[C:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"d0", "d1", ?}, {"d2"}]>
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[4,2]<=[8]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // The mark of a stage stays.
    // CHECK-NEXT: %[[R:.*]] = sdy.sharding_constraint %[[C]] <@mesh, [{}, {}]> {mhlo.frontend_attributes = {pw_slice = "s0"}}
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.frontend_attributes = {pw_slice = "s0"}, mhlo.sharding = "{replicated shard_as 1}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: return %[[R]]
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{unknown}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}

// -----

// Calls that make shards and whole arrays become a manual computation. What is
// between them moves into it, with copies of constants from outside.
// CHECK: sdy.mesh @mesh = <["d0"=4]>
// CHECK: func.func public @main
// CHECK: %[[C:.*]] = stablehlo.constant
// CHECK-NEXT: %[[W:.*]] = stablehlo.add %arg1, %arg1
// CHECK-NEXT: %[[M:.*]]:2 = sdy.manual_computation(%arg0, %[[W]]) in_shardings=[<@mesh, [{"d0"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{"d0"}]>] manual_axes={"d0"} (%[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>) {
// CHECK-NEXT:   %[[COPY:.*]] = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:   %[[X:.*]] = stablehlo.add %[[A]], %[[COPY]]
// CHECK-NEXT:   %[[Y:.*]] = func.call @shmap_body(%[[X]], %[[B]])
// CHECK-NEXT:   sdy.return %[[B]], %[[Y]]
// CHECK: %[[S:.*]] = stablehlo.add %[[M]]#0, %[[C]]
// CHECK: return %[[M]]#1, %[[S]]
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<2xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
    %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
    %2 = stablehlo.add %1, %c : tensor<2xf32>
    %w = stablehlo.add %arg1, %arg1 : tensor<2xf32>
    %3 = stablehlo.custom_call @SPMDFullToShardShape(%w) {mhlo.sharding = "{manual}"} : (tensor<2xf32>) -> tensor<2xf32>
    %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{manual}"} : (tensor<2xf32>) -> tensor<2xf32>
    %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<2xf32>
    %s = stablehlo.add %5, %c : tensor<2xf32>
    %6 = func.call @shmap_body(%2, %3) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<2xf32>) -> tensor<8xf32>
    return %7, %s : tensor<8xf32>, tensor<2xf32>
  }
  func.func private @shmap_body(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

// A part of the last dimensions is manual: the other axes are cut by the
// compiler.
// CHECK: sdy.mesh @mesh = <["d0"=2, "d1"=4]>
// CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d0", ?}, {?}]>] out_shardings=[<@mesh, [{"d0", ?}, {?}]>] manual_axes={"d0"} (%{{.*}}: tensor<4x8xf32>)
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{devices=[1,1,4,2]<=[2,4]T(1,0) last_tile_dims={replicated, manual}}"} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.add %1, %1 : tensor<4x8xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,4,2]<=[2,4]T(1,0) last_tile_dims={replicated, manual}}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<4x8xf32>) -> tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
}

// -----

// A second computation may begin before the first one ends.
// CHECK: func.func public @main
// CHECK-NEXT: %[[M:.*]] = sdy.manual_computation(%arg0)
// CHECK: %[[N:.*]] = sdy.manual_computation(%arg1, %[[M]])
// CHECK: return %[[N]]
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}, %arg1: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%arg1) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.add %0, %0 : tensor<4xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
    %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
    %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    %6 = stablehlo.add %1, %5 : tensor<4xf32>
    %7 = stablehlo.custom_call @SPMDShardToFullShape(%6) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
    return %7 : tensor<8xf32>
  }
}

// -----

// Without a sharding that cuts, a module for several partitions has one axis.
// CHECK: sdy.mesh @mesh = <["d0"=4]>
// CHECK: %arg0: tensor<8xf32> {mhlo.sharding = "{replicated}", sdy.sharding = #sdy.sharding<@mesh, [{}]>}
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{replicated}"}) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
}
