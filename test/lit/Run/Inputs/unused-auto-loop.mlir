// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A loop that asks for the fastest schedule, but nothing uses its result.
pw.slice @s mesh <>
!x = !pw.array<64xf32, @s, [{}]>
!xs = !pw.array<4x64xf32, @s, [{}, {}]>
func.func private @f(%x: tensor<64xf32>, %a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %x, %a : tensor<64xf32>
  return %0 : tensor<64xf32>
}
pw.program @p(%xs: !xs, %z: !x) -> (!x {pw.name = "y"}) {
  %y = pw.call @f(%z, %z) : (!x, !x) -> !x
  %sum = pw.for 4 schedule "auto" (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!x carried) {
    %b = pw.call @f(%x, %a) label "0F" : (!x, !x) -> !x
    pw.yield %b : !x
  }
  pw.return %y : !x
}
