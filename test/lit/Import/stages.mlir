// Operations with marks run on their slices.
// RUN: pw-opt %s --split-input-file --pw-import-program 2>&1 | FileCheck %s

// Unmarked operations go where they are used, or else to their operands. A
// constant is copied. An argument is on the slice of its first user.
// CHECK-LABEL: module @marks
// CHECK: pw.slice @s0 mesh <>
// CHECK: pw.slice @s1 mesh <>
// CHECK: pw.program @main(%x: !pw.array<4xf32, @s0, [{}]>, %w: !pw.array<4xf32, @s0, [{}]>, %v: !pw.array<4xf32, @s1, [{}]>)
// CHECK-SAME: -> (!pw.array<4xf32, @s1, [{}]> {pw.name = "result0"}, !pw.array<4xf32, @s0, [{}]> {pw.name = "result1"})
// CHECK-NEXT: %[[H:.*]]:2 = pw.call @main.s0(%x, %w)
// CHECK-NEXT: %[[MOVED:.*]] = pw.reshard %[[H]]#0 : !pw.array<4xf32, @s0, [{}]> -> !pw.array<4xf32, @s1, [{}]>
// CHECK-NEXT: %[[W:.*]] = pw.reshard %w : !pw.array<4xf32, @s0, [{}]> -> !pw.array<4xf32, @s1, [{}]>
// CHECK-NEXT: %[[Y:.*]] = pw.call @main.s1(%[[MOVED]], %v, %[[W]])
// CHECK-NEXT: pw.return %[[Y]], %[[H]]#1
// CHECK: func.func private @main.s0(
// CHECK-NEXT: stablehlo.negate
// CHECK-NEXT: stablehlo.constant dense<2.0
// CHECK-NEXT: stablehlo.multiply
// CHECK-NEXT: stablehlo.cosine
// CHECK-NEXT: return
// CHECK: func.func private @main.s1(
// CHECK-NEXT: stablehlo.constant dense<2.0
// CHECK-NEXT: stablehlo.multiply
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.sine
// CHECK-NEXT: return
module @marks {
  func.func public @main(%arg0: tensor<4xf32> loc("x"), %arg1: tensor<4xf32> loc("w"), %arg2: tensor<4xf32> loc("v"))
      -> (tensor<4xf32>, tensor<4xf32>) {
    %two = stablehlo.constant dense<2.0> : tensor<4xf32>
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    %1 = stablehlo.multiply %0, %two {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
    %2 = stablehlo.cosine %arg1 {mhlo.frontend_attributes = {a = "b", pw_slice = "s0"}} : tensor<4xf32>
    %3 = stablehlo.multiply %1, %two {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
    %4 = stablehlo.add %3, %arg2 : tensor<4xf32>
    %5 = stablehlo.add %4, %arg1 {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
    %6 = stablehlo.sine %5 : tensor<4xf32>
    return %6, %2 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Labels make calls of their own, in an order in which the slices can work at
// the same time. What only prepares arguments has no label. Sums of gradients
// and the update belong to the last call that they need. A donated argument is
// donated to its last reader, and its next value is on its slice.
// CHECK-LABEL: module @labels
// CHECK: pw.program @main(
// CHECK-NEXT: %[[X:.*]]:2 = pw.call @main.s0(%x)
// CHECK-NEXT: %[[F0:.*]] = pw.call @main.s0.0F(%[[X]]#0, %w) label "0F"
// CHECK-NEXT: %[[F1:.*]] = pw.call @main.s0.1F(%[[X]]#1, %w) label "1F"
// CHECK-NEXT: pw.reshard %[[F0]]
// CHECK-NEXT: %[[S0:.*]] = pw.call @main.s1.0F({{.*}}) label "0F"
// CHECK-NEXT: pw.reshard %[[S0]]
// CHECK-NEXT: pw.call @main.s0.0B({{.*}}) label "0B"
// CHECK-NEXT: pw.reshard %[[F1]]
// CHECK-NEXT: %[[S1:.*]] = pw.call @main.s1.1F({{.*}}) label "1F"
// CHECK-NEXT: pw.reshard %[[S1]]
// CHECK-NEXT: %[[W:.*]] = pw.call @main.s0.1B({{.*}}%w{{.*}}) donate(%w) label "1B"
// CHECK-NEXT: pw.return %[[W]]
// CHECK: func.func private @main.s0.1B(
// CHECK: call @backward
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.subtract
// CHECK-NEXT: return
module @labels {
  func.func public @main(%arg0: tensor<8xf32> loc("x"), %arg1: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("w")) -> tensor<4xf32> {
    %x0 = stablehlo.slice %arg0 [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    %0 = call @forward(%x0, %arg1) {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s0"}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.sine %0 {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s1"}} : tensor<4xf32>
    %2 = call @backward(%x0, %1) {mhlo.frontend_attributes = {pw_label = "0B", pw_slice = "s0"}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %x1 = stablehlo.slice %arg0 [4:8] : (tensor<8xf32>) -> tensor<4xf32>
    %3 = call @forward(%x1, %arg1) {mhlo.frontend_attributes = {pw_label = "1F", pw_slice = "s0"}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.sine %3 {mhlo.frontend_attributes = {pw_label = "1F", pw_slice = "s1"}} : tensor<4xf32>
    %5 = call @backward(%x1, %4) {mhlo.frontend_attributes = {pw_label = "1B", pw_slice = "s0"}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %6 = stablehlo.add %2, %5 : tensor<4xf32>
    %7 = stablehlo.subtract %arg1, %6 : tensor<4xf32>
    return %7 : tensor<4xf32>
  }
  func.func private @forward(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @backward(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// What a function leaves open it takes from its call: @inner has the label of
// the call. Its function is inlined, because it contains marks.
// CHECK-LABEL: module @inner
// CHECK: pw.program @main(
// CHECK: pw.call @main.s0(%arg0) : (!pw.array<4xui32, @s0, [{}]>)
// CHECK: pw.call @main.s0.0F({{.*}}) label "0F"
// CHECK: pw.call @main.s1.0F({{.*}}) label "0F"
// CHECK: pw.call @main.s0_0(
// CHECK: pw.return
// CHECK: func.func private @main.s0(%arg0: tensor<4xi32>)
// CHECK: func.func private @main.s0.0F(
// CHECK-NEXT: stablehlo.sine
// CHECK-NEXT: stablehlo.cosine
// CHECK-NEXT: return
module @inner {
  func.func public @main(%arg0: tensor<4xui32>) -> tensor<4xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<4xui32>) -> tensor<4xf32>
    %1 = call @inner(%0) {mhlo.frontend_attributes = {pw_label = "0F"}} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.tanh %1 {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func private @inner(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
    %1 = stablehlo.cosine %0 {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
    %2 = stablehlo.exponential %1 {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}

// -----

// A counted loop over stages becomes a pw.for; one on a single slice does not.
// CHECK-LABEL: module @loops
// CHECK: pw.program @main(
// CHECK: pw.for 2 (%[[X:.*]] = %{{.*}} carried : !pw.array<4xf32, @s0, [{}]>) -> (!pw.array<4xf32, @s0, [{}]> carried) {
// CHECK-NEXT: %[[SINE:.*]] = pw.call @main.s0(%[[X]])
// CHECK-NEXT: %[[MOVED:.*]] = pw.reshard %[[SINE]]
// CHECK-NEXT: %[[COSINE:.*]] = pw.call @main.s1(%[[MOVED]])
// CHECK-NEXT: %[[BACK:.*]] = pw.reshard %[[COSINE]]
// CHECK-NEXT: pw.yield %[[BACK]]
// CHECK: pw.call @main.s1_0(
// CHECK: pw.return
// CHECK: func.func private @main.s0(
// CHECK-NEXT: stablehlo.sine
// CHECK: func.func private @main.s1_0(
// CHECK: stablehlo.while
module @loops {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %x = %arg0) : tensor<i32>, tensor<4xf32>
     cond {
      %n = stablehlo.constant dense<2> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = func.call @both(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %1 : tensor<i32>, tensor<4xf32>
    }
    %2:2 = stablehlo.while(%i = %zero, %x = %0#1) : tensor<i32>, tensor<4xf32>
     cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.tanh %x {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %1 : tensor<i32>, tensor<4xf32>
    }
    return %2#1 : tensor<4xf32>
  }
  func.func private @both(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
    %1 = stablehlo.cosine %0 {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// Checks may compare values of different slices.
// CHECK-LABEL: module @checks
// CHECK: pw.call @main.s0(
// CHECK: pw.call @main.s1(
// CHECK: pw.return
module @checks {
  func.func public @main(%arg0: tensor<4xf32>) {
    %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<4xf32>
    %1 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
    check.expect_eq %0, %1 : tensor<4xf32>
    return
  }
}
