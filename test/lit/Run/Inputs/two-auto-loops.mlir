// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two loops that both ask for the fastest schedule. Each adds twice the sum of
// the rows.
pw.slice @s mesh <"d" = 1>
!x = !pw.array<1xf32, @s>
!xs = !pw.array<2x1xf32, @s>
func.func private @add(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
  %0 = arith.addf %x, %y : tensor<1xf32>
  return %0 : tensor<1xf32>
}
pw.program @p(%xs: !xs, %z: !x) -> (!x {pw.name = "y"}) {
  %0 = pw.for 2 schedule "auto" (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!x carried) {
    %1 = pw.call @add(%x, %x) label "0F" : (!x, !x) -> !x
    %2 = pw.call @add(%1, %a) label "0B" : (!x, !x) -> !x
    pw.yield %2 : !x
  }
  %3 = pw.for 2 schedule "auto" (%x = %xs stepped : !xs -> !x, %a = %0 carried : !x) -> (!x carried) {
    %4 = pw.call @add(%x, %x) label "0F" : (!x, !x) -> !x
    %5 = pw.call @add(%4, %a) label "0B" : (!x, !x) -> !x
    pw.yield %5 : !x
  }
  pw.return %3 : !x
}
