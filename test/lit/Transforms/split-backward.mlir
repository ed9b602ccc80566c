// A backward call is split where the fewest bytes are kept between its halves.

// RUN: pw-opt %s -pw-split-backward=schedule=zb-h1 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// A schedule of whole calls, or none, changes nothing.
// RUN: pw-opt %s -o %t.whole
// RUN: pw-opt %s -pw-split-backward=schedule=1f1b | diff - %t.whole
// RUN: pw-opt %s -pw-split-backward | diff - %t.whole

// A file splits the stages of which it has halves, in some iteration.
// RUN: printf '0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1I1,1W1\n' > %t.order
// RUN: pw-opt %s -pw-split-backward=schedule=@%t.order 2>/dev/null | FileCheck %s --check-prefix=FILE
// FILE: label "0F"
// FILE: label "1F"
// FILE: label "1I"
// FILE: label "1W"
// FILE: label "0B"

// The second half reads a gradient of 32 bytes and a scalar of 4, not the array of 32 bytes
// that is made of the scalar. Constants are in both halves. The sum of products stays in
// the second half, although its result is smaller than its operands.
// REMARK: remark: '1B' is split into '1I' and '1W': 36 bytes cross between the halves on each device, and 32 bytes of operands are kept for the second one
// REMARK: remark: '0B' is split into '0I' and '0W': 36 bytes cross between the halves on each device, and 32 bytes of operands are kept for the second one

// CHECK-LABEL: pw.program @p
// CHECK: %[[X:.*]] = pw.reshard
// CHECK: %[[I:.*]]:3 = pw.call @backward_I(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) label "1I" : {{.*}} -> (!pw.array<8xf32, @s1, [{}]>, !pw.array<2xf32, @s1, [{"d"}]>, !pw.array<16xf32, @s1, [{"d"}]>)
// CHECK-NEXT: %[[W:.*]] = pw.call @backward_W(%[[X]], %[[A:.*]], %[[I]]#1, %[[I]]#2) donate(%[[A]]) label "1W"
// CHECK-NEXT: pw.reshard %[[I]]#0
// Nobody reads the gradient that the first stage returns.
// CHECK-NEXT: label "0I"
// CHECK-NEXT: %[[W0:.*]] = pw.call {{.*}} label "0W"
// CHECK-NEXT: pw.yield %[[W0]], %[[W]]

// CHECK-LABEL: func.func private @backward_I(
// CHECK-SAME: attributes {pw.local_view}
// CHECK: arith.select
// CHECK: linalg.reduce
// CHECK-NOT: linalg.dot
// CHECK: tensor.expand_shape
// CHECK-LABEL: func.func private @backward_W(
// CHECK-NOT: arith.select
// CHECK-NOT: linalg.reduce
// CHECK: tensor.collapse_shape
// CHECK: linalg.dot

pw.slice @s0 mesh <"d" = 2>
pw.slice @s1 mesh <"d" = 2>
!x0 = !pw.array<8xf32, @s0, [{}]>
!x1 = !pw.array<8xf32, @s1, [{}]>
!xs = !pw.array<2x8xf32, @s0, [{}, {}]>
func.func private @forward(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> attributes {pw.local_view} {
  %0 = arith.mulf %x, %w : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @backward(%d: tensor<8xf32>, %r: tensor<8xf32>, %w: tensor<8xf32>, %x: tensor<8xf32>, %a: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) attributes {pw.local_view} {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %above = arith.cmpf ogt, %r, %zeros : tensor<8xf32>
  %g = arith.select %above, %d, %zeros : tensor<8xi1>, tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%g : tensor<8xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %one = linalg.broadcast ins(%sum : tensor<f32>) outs(%zeros : tensor<8xf32>) dimensions = [0]
  %wide = arith.addf %w, %one : tensor<8xf32>
  %dx = arith.mulf %g, %wide : tensor<8xf32>
  %scaled = linalg.broadcast ins(%sum : tensor<f32>) outs(%zeros : tensor<8xf32>) dimensions = [0]
  %p = linalg.dot ins(%g, %x : tensor<8xf32>, tensor<8xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %spread = linalg.broadcast ins(%p : tensor<f32>) outs(%zeros : tensor<8xf32>) dimensions = [0]
  %q = arith.mulf %spread, %scaled : tensor<8xf32>
  %b = arith.addf %q, %a : tensor<8xf32>
  return %dx, %b : tensor<8xf32>, tensor<8xf32>
}
pw.program @p(%xs: !xs, %w0: !x0, %w1: !x1, %z0: !x0, %z1: !x1) -> (!x0, !x1) {
  %0, %1 = pw.for 2 (%x = %xs stepped : !xs -> !x0, %a0 = %z0 carried : !x0, %a1 = %z1 carried : !x1)
      -> (!x0 carried, !x1 carried) {
    %r0 = pw.call @forward(%x, %w0) label "0F" : (!x0, !x0) -> !x0
    %x1 = pw.reshard %r0 : !x0 -> !x1
    %r1 = pw.call @forward(%x1, %w1) label "1F" : (!x1, !x1) -> !x1
    %d1, %b1 = pw.call @backward(%r1, %r1, %w1, %x1, %a1) donate(%a1) label "1B" : (!x1, !x1, !x1, !x1, !x1) -> (!x1, !x1)
    %d0 = pw.reshard %d1 : !x1 -> !x0
    %d, %b0 = pw.call @backward(%d0, %r0, %w0, %x, %a0) donate(%a0) label "0B" : (!x0, !x0, !x0, !x0, !x0) -> (!x0, !x0)
    pw.yield %b0, %b1 : !x0, !x1
  }
  pw.return %0, %1 : !x0, !x1
}
