// Loops that communicate become the operations of their iterations.
// RUN: pw-opt %s --pw-write-out-loops -split-input-file | FileCheck %s

sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @main
// CHECK-NOT: stablehlo.while
// CHECK: call @step
// CHECK: call @step
// CHECK: %[[LAST:.*]] = call @step
// CHECK: return %[[LAST]]
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %x = %arg0) : tensor<i32>, tensor<8xf32> cond {
    %p = stablehlo.compare LT, %i, %c3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = func.call @step(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
func.func private @step(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    sdy.return %arg1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A loop with constraints stays if it is short. The partitioner writes it out
// if it communicates.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: @main
// CHECK: stablehlo.while
// CHECK-NOT: stablehlo.while
// CHECK-COUNT-65: sdy.sharding_constraint
func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c64 = stablehlo.constant dense<64> : tensor<i32>
  %c65 = stablehlo.constant dense<65> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %x = %arg0) : tensor<i32>, tensor<8xf32> cond {
    %p = stablehlo.compare LT, %i, %c64, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<8xf32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
  }
  %1:2 = stablehlo.while(%i = %c0, %x = %arg0) : tensor<i32>, tensor<8xf32> cond {
    %p = stablehlo.compare LT, %i, %c65, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<8xf32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
  }
  return %0#1, %1#1 : tensor<8xf32>, tensor<8xf32>
}
