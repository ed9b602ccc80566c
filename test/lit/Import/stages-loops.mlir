// RUN: pw-opt %s --split-input-file --pw-import-program | FileCheck %s

// The counter is read, begins with 2, and is compared with `LE`; the array is
// read from the last index on, and written so.
// CHECK-LABEL: module @reversed
// CHECK: pw.program @main(%[[X:.*]]: !pw.array<3x4xf32, @s0, [{}, {}]>, %[[Y:.*]]: !pw.array<4xf32, @s1, [{}]>)
// CHECK: %[[LOOP:.*]]:2 = pw.for 3 (%[[ROW:.*]] = %[[X]] stepped reversed : {{.*}} -> !pw.array<4xf32, @s0, [{}]>, %[[SUM:.*]] = %[[Y]] carried : !pw.array<4xf32, @s1, [{}]>)
// CHECK-SAME: -> (!pw.array<4xf32, @s1, [{}]> carried, !pw.array<3x4xf32, @s1, [{}, {}]> stepped reversed) {
// CHECK-NEXT: %[[SINE:.*]] = pw.call @main.s0_0(%[[ROW]]) :
// CHECK-NEXT: %[[MOVED:.*]] = pw.reshard %[[SINE]]
// CHECK-NEXT: %[[NEXT:.*]]:2 = pw.call @main.s1(%[[MOVED]], %[[Y]], %[[SUM]]) :
// CHECK-NEXT: pw.yield %[[NEXT]]#1, %[[NEXT]]#0 :
// CHECK: func.func private @main.s0()
// CHECK-NEXT: stablehlo.constant dense<5> : tensor<i32>
// CHECK: func.func private @main.s1(
// CHECK: %[[INDEX:.*]] = pw.iteration_index : index
// CHECK-NEXT: %[[CAST:.*]] = arith.index_cast %[[INDEX]] : index to i32
// CHECK-NEXT: %[[NUMBER:.*]] = tensor.from_elements %[[CAST]] : tensor<i32>
// CHECK-NEXT: %[[FIRST:.*]] = stablehlo.constant dense<2> : tensor<i32>
// CHECK-NEXT: %[[COUNTER:.*]] = stablehlo.add %[[NUMBER]], %[[FIRST]]
// CHECK-NEXT: stablehlo.convert %[[COUNTER]]
module @reversed {
  func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>, tensor<i32>) {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %cst = stablehlo.constant dense<0.0> : tensor<3x4xf32>
    %0:3 = stablehlo.while(%i = %two, %sum = %arg1, %out = %cst) : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>
     cond {
      %n = stablehlo.constant dense<4> : tensor<i32>
      %p = stablehlo.compare LE, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %k = stablehlo.subtract %four, %i : tensor<i32>
      %1 = stablehlo.dynamic_slice %arg0, %k, %zero, sizes = [1, 4] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x4xf32>) -> tensor<4xf32>
      %3 = stablehlo.sine %2 {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
      %s = stablehlo.add %3, %arg1 : tensor<4xf32>
      %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
      %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %4 = stablehlo.multiply %s, %g {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
      %5 = stablehlo.add %sum, %4 : tensor<4xf32>
      %6 = stablehlo.reshape %4 : (tensor<4xf32>) -> tensor<1x4xf32>
      %7 = stablehlo.dynamic_update_slice %out, %6, %k, %zero : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
      %j = stablehlo.add %one, %i : tensor<i32>
      stablehlo.return %j, %5, %7 : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>
    }
    return %0#2, %0#1, %0#0 : tensor<3x4xf32>, tensor<4xf32>, tensor<i32>
  }
}
// -----
// Nested loops, both over two slices. The inner one reads the outer counter,
// which is unsigned, and an array from above both.
// CHECK-LABEL: module @nested
// CHECK: pw.program @main(%[[X:.*]]: !pw.array<4xf32, @s0, [{}]>, %[[ALL:.*]]: !pw.array<2x4xf32, @s0, [{}, {}]>)
// CHECK-NEXT: %[[MOVED:.*]] = pw.reshard %[[X]] : {{.*}} -> !pw.array<4xf32, @s1, [{}]>
// CHECK-NEXT: pw.for 2 (%[[A:.*]] = %[[X]] carried : {{.*}}, %[[B:.*]] = %[[X]] carried : {{.*}}) -> {{.*}} {
// CHECK-NEXT: %[[COUNTER:.*]] = pw.call @main.s0() : () -> !pw.array<ui32, @s0, []>
// CHECK-NEXT: %[[INNER:.*]] = pw.for 3 (%[[Z:.*]] = %[[A]] carried : {{.*}}) -> {{.*}} {
// CHECK-NEXT: %[[PRODUCT:.*]] = pw.call @main.s0_1(%[[ALL]], %[[COUNTER]], %[[Z]]) :
// CHECK-NEXT: %[[SENT:.*]] = pw.reshard %[[PRODUCT]]
// CHECK-NEXT: %[[SUM:.*]] = pw.call @main.s1(%[[SENT]], %[[MOVED]]) :
// CHECK: pw.yield %[[B]], %[[INNER]] :
// CHECK: func.func private @main.s0() -> tensor<i32>
// CHECK-NEXT: pw.iteration_index
module @nested {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<ui32>
    %0:3 = stablehlo.while(%i = %zero, %x = %arg0, %y = %arg0) : tensor<ui32>, tensor<4xf32>, tensor<4xf32>
     cond {
      %n = stablehlo.constant dense<2> : tensor<ui32>
      %p = stablehlo.compare LT, %i, %n, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<ui32>
      %1:2 = stablehlo.while(%k = %zero, %z = %x) : tensor<ui32>, tensor<4xf32>
       cond {
        %n = stablehlo.constant dense<3> : tensor<ui32>
        %p = stablehlo.compare LT, %k, %n, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %two = stablehlo.dynamic_slice %arg1, %i, %zero, sizes = [1, 4] : (tensor<2x4xf32>, tensor<ui32>, tensor<ui32>) -> tensor<1x4xf32>
        %w = stablehlo.reshape %two : (tensor<1x4xf32>) -> tensor<4xf32>
        %m = stablehlo.multiply %z, %w {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
        %c = stablehlo.cosine %m {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
        %q = stablehlo.add %c, %arg0 {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
        %j = stablehlo.add %k, %one : tensor<ui32>
        stablehlo.return %j, %q : tensor<ui32>, tensor<4xf32>
      }
      %j = stablehlo.add %i, %one : tensor<ui32>
      stablehlo.return %j, %y, %1#1 : tensor<ui32>, tensor<4xf32>, tensor<4xf32>
    }
    return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
  }
}
