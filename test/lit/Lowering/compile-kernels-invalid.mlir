// What code generation refuses, said at the operation.
// RUN: pw-opt %s --pw-compile="topology=1x1x1" -split-input-file -verify-diagnostics

pw.slice @s mesh <>
func.func private @half(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has elements of f8E5M2, expected f16, bf16, f32, f64, i1, i8, i16, i32 or i64}}
  %0 = arith.truncf %x : tensor<4xf32> to tensor<4xf8E5M2>
  %1 = arith.extf %0 : tensor<4xf8E5M2> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
pw.program @main(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @half(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %0 : !pw.array<4xf32, @s, [{}]>
}

// -----

// The size of an array may not depend on data.
pw.slice @s mesh <>
func.func private @grow(%n: tensor<i64>) -> tensor<f32> {
  %k = tensor.extract %n[] : tensor<i64>
  %i = arith.index_cast %k : i64 to index
  %z = arith.constant 0.0 : f32
  // expected-error @below {{has tensor<?xf32>, whose shape is not known at compile time}}
  %s = tensor.splat %z[%i] : tensor<?xf32>
  %c0 = arith.constant 0 : index
  %v = tensor.extract %s[%c0] : tensor<?xf32>
  %r = tensor.from_elements %v : tensor<f32>
  return %r : tensor<f32>
}
pw.program @main(%n: !pw.array<i64, @s, []>) -> (!pw.array<f32, @s, []>) {
  %0 = pw.call @grow(%n) : (!pw.array<i64, @s, []>) -> !pw.array<f32, @s, []>
  pw.return %0 : !pw.array<f32, @s, []>
}

// -----

pw.slice @s mesh <>
func.func private @parallel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'scf.forall' op is not supported in a kernel}}
  %0 = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
    scf.forall.in_parallel {
    }
  }
  return %0 : tensor<4xf32>
}
pw.program @main(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @parallel(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %0 : !pw.array<4xf32, @s, [{}]>
}

// -----

pw.slice @s mesh <>
func.func private @outside(%x: tensor<4xf32>, %at: tensor<i64>) -> tensor<2xf32> {
  %k = tensor.extract %at[] : tensor<i64>
  %i = arith.index_cast %k : i64 to index
  // expected-error @below {{takes 4 elements with stride 2 from dimension 0, which has 4}}
  %0 = tensor.extract_slice %x[%i] [4] [2] : tensor<4xf32> to tensor<4xf32>
  %1 = tensor.extract_slice %0[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %1 : tensor<2xf32>
}
pw.program @main(%x: !pw.array<4xf32, @s, [{}]>, %n: !pw.array<i64, @s, []>) -> (!pw.array<2xf32, @s, [{}]>) {
  %0 = pw.call @outside(%x, %n) : (!pw.array<4xf32, @s, [{}]>, !pw.array<i64, @s, []>) -> !pw.array<2xf32, @s, [{}]>
  pw.return %0 : !pw.array<2xf32, @s, [{}]>
}

// -----

// All kernels that are refused are reported, whichever is compiled first.
pw.slice @s mesh <>
func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has elements of f8E5M2}}
  %0 = arith.truncf %x : tensor<4xf32> to tensor<4xf8E5M2>
  %1 = arith.extf %0 : tensor<4xf8E5M2> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @fine(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @two(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has elements of f8E4M3}}
  %0 = arith.truncf %x : tensor<4xf32> to tensor<4xf8E4M3>
  %1 = arith.extf %0 : tensor<4xf8E4M3> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
pw.program @main(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @two(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.call @fine(%0) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %2 = pw.call @one(%1) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %2 : !pw.array<4xf32, @s, [{}]>
}
