// Results of many iterations are stacked in groups, and in groups of groups.

// RUN: pw-run %s --topology=1x1x2 --input=xs=ramp --expected=ys=ramp --expected=zs=ramp | FileCheck %s
// RUN: pw-opt %s --pw-unroll-loops | FileCheck %s --check-prefix=TEXT
// CHECK: [SUCCESS] 1 step, 2 results as expected

// TEXT-LABEL: func.func private @pw_stack
// TEXT: tensor.empty() : tensor<12x3xf32>
// TEXT-COUNT-12: tensor.insert_slice {{.*}} : tensor<3xf32> into tensor<12x3xf32>
// TEXT: tensor.insert_slice {{.*}}[0, 0] [12, 3] [1, 1] : tensor<12x3xf32> into tensor<13x3xf32>
// TEXT: tensor.insert_slice {{.*}} : tensor<1x3xf32> into tensor<13x3xf32>
// TEXT: tensor.insert_slice {{.*}}[143, 0] [7, 3] [1, 1] : tensor<7x3xf32> into tensor<150x3xf32>

pw.slice @s mesh <"d" = 1>
!x = !pw.array<3xf32, @s, [{}]>
!xs = !pw.array<150x3xf32, @s, [{}, {}]>
func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant dense<0.0> : tensor<3xf32>
  %0 = arith.addf %x, %c0 : tensor<3xf32>
  return %0 : tensor<3xf32>
}
pw.program @p(%xs: !xs) -> (!xs {pw.name = "ys"}, !xs {pw.name = "zs"}) {
  %ys, %zs = pw.for 150 (%x = %xs stepped : !xs -> !x, %z = %xs stepped reversed : !xs -> !x)
      -> (!xs stepped, !xs stepped reversed) {
    %0 = pw.call @f(%x) : (!x) -> !x
    %1 = pw.call @f(%z) : (!x) -> !x
    pw.yield %0, %1 : !x, !x
  }
  pw.return %ys, %zs : !xs, !xs
}
