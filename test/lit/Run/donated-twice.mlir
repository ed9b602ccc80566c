// A value may be donated twice, and used after that: all but the last get a copy, and
// are told so.

// RUN: pw-run %s --program=twice --topology=1x1x2 --steps=3 --input=x=1,2,3,4 --input=y=1,1,1,1 --expected=x=8,16,24,32 --expected=y=12,24,36,48 --expected=sum=5,9,13,17 --rtol=0 --atol=0 2>&1 | FileCheck %s
// CHECK: donated-twice.mlir:[[#@LINE+19]]:8: remark: operand 0 of 'double{{.*}}' is donated, but donated again later; a copy is made
// CHECK: donated-twice.mlir:[[#@LINE+20]]:8: note: the later donation is here
// Contributions too.
// RUN: pw-run %s --program=contributions --topology=1x1x2 --steps=2 --input=x=1,2,3,4 --expected=x=4,8,12,16 --expected=y=4,8,12,16 --rtol=0 --atol=0 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: remark: operand 0 of 'double{{.*}}' is donated, but used later; a copy is made
// Two carried arguments change places.
// RUN: pw-run %s --program=swap --topology=1x1x2 --steps=2 --input=x=1,2,3,4 --input=y=5,6,7,8 --expected=x=5,6,7,8 --expected=y=1,2,3,4 --rtol=0 --atol=0

pw.slice @s mesh <"d" = 2>
!a = !pw.array<4xf32, @s, [{"d"}]>
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @twice(%x: !a {pw.carried = 0 : i64}, %y: !a) -> (!a {pw.name = "x"}, !a {pw.name = "sum"}, !a {pw.name = "y"}) {
  %0 = pw.call @double(%x) donate(%x) : (!a) -> !a
  %1 = pw.call @add(%x, %y) : (!a, !a) -> !a
  %2 = pw.call @add(%x, %0) donate(%x) : (!a, !a) -> !a
  pw.return %0, %1, %2 : !a, !a, !a
}

!p = !pw.array<4xf32, @s, [{}] partial add {"d"}>
pw.program @contributions(%x: !p {pw.carried = 0 : i64}) -> (!p {pw.name = "x"}, !p {pw.name = "y"}) {
  %0 = pw.call @double(%x) donate(%x) : (!p) -> !p
  %1 = pw.call @add(%x, %x) : (!p, !p) -> !p
  pw.return %0, %1 : !p, !p
}
pw.program @swap(%x: !p {pw.carried = 1 : i64}, %y: !p {pw.carried = 0 : i64}) -> (!p {pw.name = "x"}, !p {pw.name = "y"}) {
  pw.return %x, %y : !p, !p
}
