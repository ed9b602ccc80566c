// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-check-program

pw.slice @s mesh <>
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @g(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// expected-note@+1 {{function 'g' is defined here}}
func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @h(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @h(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{calls 'g', which is already being called; recursion cannot be compiled}}
  %0 = func.call @g(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
pw.program @recursion(%x: !pw.array<f32, @s, []>) {
  %0 = pw.call @f(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{'g' has no body, so there is nothing to compile [PW1104]}}
func.func private @g(tensor<f32>) -> tensor<f32>
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @g(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
pw.program @external(%x: !pw.array<f32, @s, []>) {
  %0 = pw.call @f(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{'g' has more than one block; use 'scf' for control flow [PW1104]}}
func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<f32>
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @g(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
pw.program @blocks(%x: !pw.array<f32, @s, []>) {
  %0 = pw.call @f(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{cannot be compiled; functions that programs call may use func, linalg, tensor, arith, math, scf, affine and cf.assert [PW1104]}}
  %0 = memref.alloc() : memref<f32>
  return %x : tensor<f32>
}
pw.program @dialect(%x: !pw.array<f32, @s, []>) {
  %0 = pw.call @f(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
