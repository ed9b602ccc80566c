// The mesh of a module becomes that of its slice, and shardings become types
// and constraints.
// RUN: pw-opt %s --pw-import-program | FileCheck %s

// CHECK: pw.slice @devices mesh <"x" = 2, "y" = 4>
// CHECK-NOT: sdy.
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other_order = <["y"=4, "x"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
sdy.mesh @first = <[], device_ids=[0]>

// Without a sharding all dimensions are open. A replicated axis closes them.
// CHECK: pw.program @main(%a: !pw.array<8x4xf32, @devices, [{"x"}, {}]>, %w: !pw.array<4x8xf32, @devices, [{}, {"y", ?}]>, %b: !pw.array<8xf32, @devices>, %n: !pw.array<8xui32, @devices, [{}]>)
// CHECK-SAME: -> (!pw.array<8x8xf32, @devices, [{"x", "y"}, {}]> {pw.name = "result0"}, !pw.array<8x8xf32, @devices, [{}, {}]> {pw.name = "result1"}, !pw.array<8xui32, @devices, [{"y"}]> {pw.name = "result2"})
// A value that is two results is resharded for the second one.
// CHECK: %[[CALL:.*]]:2 = pw.call @main.body
// CHECK: %[[SECOND:.*]] = pw.reshard %[[CALL]]#0 : !pw.array<8x8xf32, @devices, [{"x", "y"}, {}]> -> !pw.array<8x8xf32, @devices, [{}, {}]>
// CHECK: pw.return %[[CALL]]#0, %[[SECOND]], %[[CALL]]#1
// CHECK: pw.constrain %{{.*}} [{?}, {"y"}] : tensor<8x8xf32>
// CHECK: pw.constrain %{{.*}} [{"x"}] : tensor<8xi32>
func.func public @main(
    %arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("a"),
    %arg1: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", ?}]>} loc("w"),
    %arg2: tensor<8xf32> loc("b"),
    %arg3: tensor<8xui32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], replicated={"x"}>} loc("n"))
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>},
        tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<8xui32> {sdy.sharding = #sdy.sharding<@other_order, [{"y"}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"y"}]> : tensor<8x8xf32>
  %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x8xf32>
  %4 = sdy.propagation_barrier %3 allowed_direction=NONE : tensor<8x8xf32>
  %5 = stablehlo.add %arg3, %arg3 : tensor<8xui32>
  %6 = sdy.sharding_constraint %5 <@mesh, [{"x"}]> : tensor<8xui32>
  return %4, %4, %6 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xui32>
}
