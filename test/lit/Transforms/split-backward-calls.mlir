// A backward function that calls another one is cut inside of that.

// RUN: pw-opt %s -pw-split-backward=schedule=zb-h1 2>&1 | FileCheck %s

// CHECK: '0B' is split into '0I' and '0W'
// CHECK-LABEL: func.func private @backward_I(
// CHECK: arith.mulf
// CHECK-NOT: arith.
// CHECK-LABEL: func.func private @backward_W(
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf

pw.slice @s mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!xs = !pw.array<2x8xf32, @s, [{}, {}]>
func.func private @forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @inner(%d: tensor<8xf32>, %w: tensor<8xf32>, %a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = arith.mulf %d, %w : tensor<8xf32>
  %1 = arith.mulf %d, %d : tensor<8xf32>
  %2 = arith.addf %1, %a : tensor<8xf32>
  return %0, %2 : tensor<8xf32>, tensor<8xf32>
}
func.func private @backward(%d: tensor<8xf32>, %w: tensor<8xf32>, %a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = func.call @inner(%d, %w, %a) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
pw.program @p(%xs: !xs, %w: !x, %z: !x) -> !x {
  %0 = pw.for 2 (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!x carried) {
    %d = pw.call @forward(%x) label "0F" : (!x) -> !x
    %e, %b = pw.call @backward(%d, %w, %a) label "0B" : (!x, !x, !x) -> (!x, !x)
    pw.yield %b : !x
  }
  pw.return %0 : !x
}
