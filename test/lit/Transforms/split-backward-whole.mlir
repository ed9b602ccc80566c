// A backward call whose results nobody needs in the same iteration is a second half as a
// whole, and its stage has no cells of the first one.

// RUN: pw-opt %s -pw-split-backward=schedule=zb-h1 2>&1 | FileCheck %s
// RUN: pw-opt %s -pw-split-backward=schedule=zb-h1 -pw-unroll-loops="schedule=zb-h1 emit-order=%t.order" -o /dev/null
// RUN: FileCheck %s --check-prefix=ORDER --match-full-lines --input-file=%t.order

// CHECK: remark: '0B' becomes '0W' as a whole: other slices and calls need none of its results
// CHECK: pw.call @f(%{{.*}}) label "0F"
// CHECK: pw.call @g({{.*}}) label "0W"
// ORDER: 0F0,0W0,0F1,0W1

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
!xs = !pw.array<2x4xf32, @s, [{}, {}]>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func private @g(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @p(%xs: !xs, %z: !x) -> !x {
  %0 = pw.for 2 (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!x carried) {
    %1 = pw.call @f(%x) label "0F" : (!x) -> !x
    %2 = pw.call @g(%1, %a) label "0B" : (!x, !x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}
