// Operations and attributes print what they parse.
// RUN: pw-opt %s > %t.once && pw-opt %t.once | diff %t.once - && FileCheck %s < %t.once
// RUN: pw-opt %s --mlir-print-op-generic | pw-opt | diff %t.once -

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// CHECK: sdy.mesh @order = <["x"=2], device_ids=[1, 0]>
sdy.mesh @order = <["x"=2], device_ids=[1, 0]>
// CHECK: sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @one = <[], device_ids=[3]>
// CHECK: sdy.mesh @empty = <[]>
sdy.mesh @empty = <[]>

// CHECK: func.func @shardings(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2, ?}p1, {}], replicated={"z"}, unreduced={"y":(2)2}>},
func.func @shardings(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2, ?}p1, {}], replicated={"z"}, unreduced={"y":(2)2}>},
    // CHECK-SAME: %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{?}, {"a"}p0]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{?}, {"a"}p0]>},
    // CHECK-SAME: %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one, []>})
    %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one, []>})
    // CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // CHECK: stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8}>
  %1 = stablehlo.add %a, %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8}>} : tensor<8x8xf32>
  // CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK: sdy.reshard %{{.*}} <@mesh, [{}, {}]> : tensor<8x8xf32>
  %3 = sdy.reshard %2 <@mesh, [{}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.propagation_barrier %{{.*}} allowed_direction= NONE : tensor<8x8xf32>
  %4 = sdy.propagation_barrier %3 allowed_direction=NONE : tensor<8x8xf32>
  // CHECK: sdy.sharding_group %{{.*}} group_id=0 : tensor<8x8xf32>
  sdy.sharding_group %4 group_id=0 : tensor<8x8xf32>
  // CHECK: %[[M:.*]]:2 = sdy.manual_computation(%{{.*}}, %{{.*}}) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{"x", "z"}, {}]>, <@mesh, []>] manual_axes={"x", "y"} (%arg3: tensor<4x2xf32>, %arg4: tensor<8x2xf32>) {
  // CHECK-NEXT: stablehlo.reshape %arg3
  // CHECK: sdy.return %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<f32>
  // CHECK-NEXT: } : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<f32>)
  %5:2 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{"x", "z"}, {}]>, <@mesh, []>] manual_axes={"x", "y"} (%p: tensor<4x2xf32>, %q: tensor<8x2xf32>) {
    %6 = stablehlo.reshape %p : (tensor<4x2xf32>) -> tensor<8x1xf32>
    %7 = stablehlo.constant dense<1.0> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    sdy.return %8, %7 : tensor<4x8xf32>, tensor<f32>
  } : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<f32>)
  // CHECK: sdy.named_computation<"f">(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] (%arg3: tensor<8x8xf32>) {
  %9 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] (%p: tensor<8x8xf32>) {
    sdy.return %p : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.named_computation<"g">() () {
  sdy.named_computation<"g">() () {
    sdy.return
  } : () -> ()
  return %9 : tensor<8x8xf32>
}

// CHECK: func.func @mpmd(%arg0: tensor<8xf32>) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>}
func.func @mpmd(%a: tensor<8xf32>) attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2" : <["x"=2]>>>} {
  // CHECK: mpmd.named_computation<"layer1"> (%{{.*}}) (%arg1: tensor<8xf32>) {
  // CHECK: mpmd.return %arg1 : tensor<8xf32>
  %0 = mpmd.named_computation<"layer1"> (%a) (%b: tensor<8xf32>) {
    mpmd.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: mpmd.named_computation<"layer1"(1)> (%{{.*}}) (%arg1: tensor<8xf32>) {
  %1 = mpmd.named_computation<"layer1"(1)> (%a) (%b: tensor<8xf32>) {
    mpmd.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: mpmd.named_tensor %{{.*}} name="activation" : tensor<8xf32>
  %2 = mpmd.named_tensor %1 name="activation" : tensor<8xf32>
  // CHECK: mpmd.call @step(%{{.*}}) {call_counter = 1 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = mpmd.call @step(%2) {call_counter = 1 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @step(tensor<8xf32>) -> tensor<8xf32>
