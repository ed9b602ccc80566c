// Contributions that add up over the steps of a launch without communication, as
// gradients of micro-batches do, and are combined once, in the end: each shard's are
// a row of an array that is carried.

// DEFINE: %{in} = --program=accumulate --steps=3 --input=x=ramp --input=parts=zeros
// RUN: pw-run %s %{in} --topology=1x1x4 --output=parts=@%t.npy
// RUN: %python %S/Inputs/npy.py --show %t.npy | FileCheck %s --check-prefix=PARTS
// PARTS: <f4 (4, 2) (102.0, 108.0, 126.0, 132.0, 150.0, 156.0, 174.0, 180.0)
// RUN: pw-run %s %{in} --topology=1x2x2 --world=sim --expected=parts=@%t.npy --rtol=0 --atol=0
// RUN: pw-run %s %{in} --topology=1x2x2 --processes --expected=parts=@%t.npy --rtol=0 --atol=0
// RUN: pw-run %s --program=finish --topology=1x2x2 --input=parts=@%t.npy --expected=sum=552,576 --rtol=0 --atol=0
// No step of the launch communicates.
// RUN: pw-run %s --program=accumulate --topology=1x1x4 --compile-only --emit-plan-text=- | FileCheck %s --check-prefix=PLAN
// PLAN-NOT: plan.collective

pw.slice @s mesh <"data" = 4>

func.func private @add(%parts: tensor<1x2xf32>, %x: tensor<2x2xf32>) -> tensor<1x2xf32> attributes {pw.local_view} {
  %own = tensor.collapse_shape %parts [[0, 1]] : tensor<1x2xf32> into tensor<2xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<2x2xf32>) outs(%own : tensor<2xf32>) dimensions = [0]
  %next = tensor.expand_shape %sum [[0, 1]] output_shape [1, 2] : tensor<2xf32> into tensor<1x2xf32>
  return %next : tensor<1x2xf32>
}
pw.program @accumulate(%x: !pw.array<8x2xf32, @s, [{"data"}, {}]> {pw.stepped},
                       %parts: !pw.array<4x2xf32, @s, [{"data"}, {}]> {pw.carried = 0 : i64})
    -> (!pw.array<4x2xf32, @s, [{"data"}, {}]> {pw.name = "parts"}) {
  %0 = pw.call @add(%parts, %x) donate(%parts)
      : (!pw.array<4x2xf32, @s, [{"data"}, {}]>, !pw.array<8x2xf32, @s, [{"data"}, {}]>) -> !pw.array<4x2xf32, @s, [{"data"}, {}]>
  pw.return %0 : !pw.array<4x2xf32, @s, [{"data"}, {}]>
}

// In global view: the rows are added up over the axis that they are cut by.
func.func private @combine(%parts: tensor<4x2xf32>) -> tensor<2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %sum = linalg.reduce { arith.addf } ins(%parts : tensor<4x2xf32>) outs(%zero : tensor<2xf32>) dimensions = [0]
  return %sum : tensor<2xf32>
}
pw.program @finish(%parts: !pw.array<4x2xf32, @s, [{"data"}, {}]>) -> (!pw.array<2xf32, @s, [{}]> {pw.name = "sum"}) {
  %0 = pw.call @combine(%parts) : (!pw.array<4x2xf32, @s, [{"data"}, {}]>) -> !pw.array<2xf32, @s, [{}]>
  pw.return %0 : !pw.array<2xf32, @s, [{}]>
}
