// RUN: pw-opt %s -pw-dedup-computations | FileCheck %s

pw.slice @s mesh <>
// Unused, private: goes. Public stays, whoever it equals.
// CHECK-NOT: @unused
func.func private @unused(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }

// Callers become equal when what they call does; the first in the module stays.
// CHECK: func.func private @outer0
// CHECK-NEXT: call @inner0
func.func private @outer0(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @inner0(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-NOT: @outer1
func.func private @outer1(%a: tensor<f32>) -> tensor<f32> {
  %b = func.call @inner1(%a) : (tensor<f32>) -> tensor<f32>
  return %b : tensor<f32>
}
// CHECK: func.func private @inner0
func.func private @inner0(%x: tensor<f32>) -> tensor<f32> {
  %0 = arith.addf %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-NOT: @inner1
func.func private @inner1(%y: tensor<f32>) -> tensor<f32> {
  %1 = arith.addf %y, %y : tensor<f32>
  return %1 : tensor<f32>
}
// CHECK: func.func @public
func.func @public(%x: tensor<f32>) -> tensor<f32> {
  %0 = arith.addf %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
// Another attribute, another constant, other operands: not equal.
// CHECK: func.func private @pointwise
func.func private @pointwise(%x: tensor<f32>) -> tensor<f32> attributes {pw.pointwise} {
  %0 = arith.addf %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: func.func private @sub0
func.func private @sub0(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = arith.subf %x, %y : tensor<f32>
  return %0 : tensor<f32>
}
// CHECK: func.func private @sub1
func.func private @sub1(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = arith.subf %y, %x : tensor<f32>
  return %0 : tensor<f32>
}
// Recursion is left alone.
// CHECK-NOT: @recursive
func.func private @recursive(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @recursive(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK: pw.program @p
// CHECK: %[[A:.*]] = pw.call @outer0(%x)
// CHECK: %[[B:.*]] = pw.call @outer0(%[[A]])
// CHECK: %[[C:.*]] = pw.call @inner0(%[[B]])
// CHECK: %[[D:.*]] = pw.call @pointwise(%[[C]])
// CHECK: %[[E:.*]] = pw.call @sub0(%[[D]], %x)
// CHECK: pw.call @sub1(%[[E]], %x)
pw.program @p(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []>) {
  %0 = pw.call @outer1(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  %1 = pw.call @outer0(%0) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  %2 = pw.call @public(%1) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  %3 = pw.call @pointwise(%2) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  %4 = pw.call @sub0(%3, %x) : (!pw.array<f32, @s, []>, !pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  %5 = pw.call @sub1(%4, %x) : (!pw.array<f32, @s, []>, !pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return %5 : !pw.array<f32, @s, []>
}
