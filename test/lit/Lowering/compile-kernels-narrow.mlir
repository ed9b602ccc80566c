// Arrays of f16 and bf16, from their bytes to their bytes. Each sum is rounded once:
// 2048 + 1 + 1 is 2050 in f16, where 2048 + 1 alone would be 2048.
// RUN: pw-run %s --topology=1x1x2 --input=x=2048,1.5,-0.25,65504 \
// RUN:   --input=y=256,1.5,-0.25,3 --expected=p=2050,3.5,1.75,inf --expected=q=258,3.5,1.75,5

pw.slice @s mesh <"x" = 2>
func.func private @half(%x: tensor<2xf16>) -> tensor<2xf16> attributes {pw.local_view} {
  %one = arith.constant dense<1.0> : tensor<2xf16>
  %big = arith.constant dense<32.0> : tensor<2xf16>
  %0 = arith.addf %x, %one : tensor<2xf16>
  %1 = arith.addf %0, %one : tensor<2xf16>
  // Only what was large grows by more: 65506 + 32 is beyond f16.
  %large = arith.constant dense<60000.0> : tensor<2xf16>
  %is = arith.cmpf ogt, %1, %large : tensor<2xf16>
  %more = arith.addf %1, %big : tensor<2xf16>
  %2 = arith.select %is, %more, %1 : tensor<2xi1>, tensor<2xf16>
  return %2 : tensor<2xf16>
}
func.func private @brain(%x: tensor<2xbf16>) -> tensor<2xbf16> attributes {pw.local_view} {
  %one = arith.constant dense<1.0> : tensor<2xbf16>
  %0 = arith.addf %x, %one : tensor<2xbf16>
  %1 = arith.addf %0, %one : tensor<2xbf16>
  return %1 : tensor<2xbf16>
}
pw.program @main(%x: !pw.array<4xf16, @s, [{"x"}]>, %y: !pw.array<4xbf16, @s, [{"x"}]>)
    -> (!pw.array<4xf16, @s, [{"x"}]> {pw.name = "p"}, !pw.array<4xbf16, @s, [{"x"}]> {pw.name = "q"}) {
  %0 = pw.call @half(%x) : (!pw.array<4xf16, @s, [{"x"}]>) -> !pw.array<4xf16, @s, [{"x"}]>
  %1 = pw.call @brain(%y) : (!pw.array<4xbf16, @s, [{"x"}]>) -> !pw.array<4xbf16, @s, [{"x"}]>
  pw.return %0, %1 : !pw.array<4xf16, @s, [{"x"}]>, !pw.array<4xbf16, @s, [{"x"}]>
}
