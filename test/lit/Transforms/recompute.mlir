// Calls of other cells read what a second call computes, before the first of them.

// RUN: pw-opt %s -split-input-file -pw-recompute 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Later passes leave both calls, in each iteration, and in the order of the cells.
// RUN: pw-opt %s -split-input-file -pw-recompute -pw-unroll-loops -o %t.unrolled 2>%t.again
// RUN: pw-opt %t.unrolled -split-input-file -pass-pipeline='builtin.module(pw-dedup-computations,pw.program(cse,pw-resolve-donation))' | FileCheck %s --check-prefix=LATER
// RUN: pw-opt %s -pw-recompute -split-input-file 2>%t.again | pw-opt -split-input-file | FileCheck %s

// REMARK: remark: '0F' runs again before '0I': 16 bytes are not kept on each device, 16 bytes of operands are kept instead, and each iteration takes about {{[1-9][0-9]*}} ns more
// REMARK: warning: '0F' has 'recompute', but no call of slice @s with another label reads its results

// One second call serves both halves. The call without a label goes with the first one, as
// does what is yielded; donations are dropped.
// CHECK-LABEL: pw.program @halves
// CHECK: %[[F:.*]]:2 = pw.call @f(%[[X:.*]]) label "0F" :
// CHECK-NEXT: %[[L:.*]] = pw.call @g(%[[F]]#0, %[[F]]#0) :
// CHECK-NEXT: %[[A:.*]]:2 = pw.call @f(%[[X]]) label "0F" cell "0I" :
// CHECK-NEXT: %[[I:.*]] = pw.call @g(%[[L]], %[[A]]#0) label "0I"
// CHECK-NEXT: %[[W:.*]] = pw.call @g(%[[I]], %[[A]]#0) label "0W"
// CHECK-NEXT: %[[B:.*]] = pw.call @g(%[[W]], %{{.*}}) label "0W"
// CHECK-NEXT: pw.yield %[[F]]#1, %[[B]]

// LATER-LABEL: pw.program @halves
// LATER-COUNT-2: pw.call @f({{.*}}) label "0F"
// LATER: label "0I"
// LATER-COUNT-2: label "0W"
// LATER-COUNT-2: pw.call @f({{.*}}) label "0F"
// LATER: label "0I"
// LATER-COUNT-2: label "0W"

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
!xs = !pw.array<2x4xf32, @s, [{}, {}]>
func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.addf %x, %x : tensor<4xf32>
  %1 = arith.mulf %x, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @halves(%xs: !xs, %z: !x) -> (!xs, !x) {
  %0, %1 = pw.for 2 (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!xs stepped, !x carried) {
    %r, %y = pw.call @f(%x) donate(%x) label "0F" recompute : (!x) -> (!x, !x)
    %l = pw.call @g(%r, %r) : (!x, !x) -> !x
    %i = pw.call @g(%l, %r) label "0I" : (!x, !x) -> !x
    %w = pw.call @g(%i, %r) label "0W" : (!x, !x) -> !x
    %b = pw.call @g(%w, %a) label "0W" : (!x, !x) -> !x
    pw.yield %y, %b : !x, !x
  }
  pw.return %0, %1 : !xs, !x
}

// -----

// CHECK-LABEL: pw.program @nobody
// CHECK-COUNT-1: pw.call @f
// CHECK-NOT: pw.call @f
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
pw.program @nobody(%x: !x) -> !x {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @f(%a) label "0F" recompute : (!x) -> !x
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}
