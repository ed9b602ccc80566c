// Manual computations become pw.manual wherever they are.
// RUN: pw-opt %s --pw-import-program -split-input-file | FileCheck %s
// RUN: pw-opt %s --pw-import-stablehlo -split-input-file | FileCheck %s --check-prefix=BODY

// In a loop, over one of two axes. Integers have no signs in bodies. Constants
// from outside are copied, and other values become operands.
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK: pw.slice @devices mesh <"x" = 2, "y" = 2>
// CHECK: pw.call @main.body
// CHECK: func.func private @main.body(%arg0: tensor<8xi32>, %arg1: tensor<4xi32>)
// CHECK: stablehlo.while
// CHECK: %[[IN:.*]] = builtin.unrealized_conversion_cast %{{.*}} : tensor<8xui32> to tensor<8xi32>
// CHECK: pw.manual(%[[IN]], %{{.*}}) over ["x"] in {{\[\[}}{"x", ?}], [{?}]] out {{\[\[}}{"x", ?}]] (%[[A:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi32>) {
// CHECK-DAG: builtin.unrealized_conversion_cast %[[A]] : tensor<4xi32> to tensor<4xui32>
// CHECK-DAG: builtin.unrealized_conversion_cast %[[B]] : tensor<4xi32> to tensor<4xui32>
// CHECK-DAG: stablehlo.constant dense<7>
// CHECK: stablehlo.all_reduce
// CHECK: pw.yield %{{.*}} : tensor<4xi32>
// CHECK: } : (tensor<8xi32>, tensor<4xi32>) -> tensor<8xi32>
// CHECK: return
// BODY: func.func private @main.body
// BODY: pw.manual(%arg0, %arg1) over ["x"]
// BODY: pw.all_reduce %{{.*}} add over ["x"] : tensor<4xi32>
// BODY-NOT: unrealized
// BODY: return
func.func public @main(%arg0: tensor<8xui32>, %arg1: tensor<4xui32>) -> tensor<8xui32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<4xui32>
  %0:2 = stablehlo.while(%iter = %zero, %v = %arg0) : tensor<i32>, tensor<8xui32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %more = stablehlo.compare LT, %iter, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %iter, %one : tensor<i32>
    %1 = sdy.manual_computation(%v) in_shardings=[<@mesh, [{"x", ?}]>] out_shardings=[<@mesh, [{"x", ?}]>] manual_axes={"x"} (%a: tensor<4xui32>) {
      %2 = stablehlo.add %a, %arg1 : tensor<4xui32>
      %3 = stablehlo.add %2, %seven : tensor<4xui32>
      %4 = func.call @communicate(%3) : (tensor<4xui32>) -> tensor<4xui32>
      sdy.return %4 : tensor<4xui32>
    } : (tensor<8xui32>) -> tensor<8xui32>
    stablehlo.return %next, %1 : tensor<i32>, tensor<8xui32>
  }
  return %0#1 : tensor<8xui32>
}
func.func private @communicate(%a: tensor<4xui32>) -> tensor<4xui32> {
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%p: tensor<ui32>, %q: tensor<ui32>):
    %s = stablehlo.add %p, %q : tensor<ui32>
    stablehlo.return %s : tensor<ui32>
  }) : (tensor<4xui32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

// On one device the region takes the place of the operation.
// CHECK: func.func private @main.body(%arg0: tensor<4xf32>)
// CHECK-NEXT: stablehlo.add %arg0, %arg0
// CHECK-NEXT: return
// BODY: arith.addf
sdy.mesh @mesh = <[]>
func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%a: tensor<4xf32>) {
    %1 = stablehlo.add %a, %a : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
