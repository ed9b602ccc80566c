// The strings by which Shardy passes through XLA mean the same as its own
// attributes and operations.
// RUN: pw-opt %s --pw-unify-shardings -split-input-file | FileCheck %s

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=2]>
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22a\22=2, \22b\22=2]>, one = #sdy.mesh<[], device_ids=[0]>}"}, mhlo.num_partitions = 4 : i32} {
  // The string counts, not mhlo.sharding, which says less.
  // CHECK: @main(%arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {}]>})
  // CHECK-SAME: -> (tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}", sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>})
  func.func public @main(%arg0: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22a\22, ?}, {}]>"}, mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}) -> (tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) {
    // Quotes may be escaped twice.
    // CHECK: %[[C:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{}, {"b"}]>
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}, {\\\22b\\\22}]>]>"}, mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: %[[M:.*]] = sdy.manual_computation(%[[C]]) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%[[A:.*]]: tensor<4x4xf32>) {
    // CHECK-NEXT: %[[R:.*]] = func.call @xla.sdy.manual_computation_body(%[[A]])
    // CHECK-NEXT: sdy.return %[[R]]
    %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}, {\22b\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22, \22b\22}>"}} : (tensor<8x8xf32>) -> tensor<4x4xf32>
    %2 = call @xla.sdy.manual_computation_body(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%2) {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}, {\22b\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22, \22b\22}>"}} : (tensor<4x4xf32>) -> tensor<8x8xf32>
    // CHECK: return %[[M]]
    %4 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%3) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "0 : i64"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.custom_call @xla.sdy.ShardingGroup(%4) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "1 : i64"}} : (tensor<8x8xf32>) -> ()
    %5 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%4) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}, {\22b\22}]>]>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %5 : tensor<8x8xf32>
  }
  func.func @xla.sdy.manual_computation_body(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// Older texts have the shardings on the call of the body. A body without
// operands has only a call.
// CHECK: sdy.mesh @mesh = <["a"=2]>
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\\22a\\\22=2]>}"}} {
  // CHECK: %[[M:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"}
  // CHECK: %[[N:.*]] = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"}
  // CHECK: stablehlo.add %[[M]], %[[N]]
  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @local_xla.sdy.GlobalToLocalShape(%arg0) : (tensor<8xf32>) -> tensor<4xf32>
    %1 = call @local_xla.sdy.manual_computation_body(%0) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22a\\\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\\22a\\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22a\\\22}]>]>"}} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @local_xla.sdy.LocalToGlobalShape(%1) : (tensor<4xf32>) -> tensor<8xf32>
    %3 = call @local_xla.sdy.manual_computation_body_0() {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22a\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22a\22}]>]>"}} : () -> tensor<4xf32>
    %4 = stablehlo.custom_call @local_xla.sdy.LocalToGlobalShape(%3) : (tensor<4xf32>) -> tensor<8xf32>
    %5 = stablehlo.add %2, %4 : tensor<8xf32>
    return %5 : tensor<8xf32>
  }
  func.func private @local_xla.sdy.manual_computation_body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
  func.func private @local_xla.sdy.manual_computation_body_0() -> tensor<4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
