// Reductions of the bits of integers, and of unsigned integers: as operations of a body
// that is cut, as partial arrays between functions, and as collectives.

// DEFINE: %{in} = --input=x="[[1,250],[3,7],[5,128],[255,64]]" --input=y="[[1,-250],[3,7],[-5,128],[255,64]]"
// DEFINE: %{out} = --expected=umax=255,250 --expected=umin=1,7 --expected=and=1,0 --expected=or=-1,-57 --expected=xor=-250,-63
// RUN: pw-run %s --program=cut --topology=1x1x4 %{in} %{out}
// RUN: pw-run %s --program=cut --topology=1x1x4 --mesh=s:d=1,e=1 %{in} %{out}
// RUN: pw-run %s --program=cut --topology=1x1x4 --mesh=s:d=3,e=1 %{in} %{out}
// RUN: pw-run %s --program=cut --topology=1x4x1 --world=sim %{in} %{out}
// RUN: pw-run %s --program=cut --topology=1x2x2 --processes %{in} %{out}
// RUN: pw-run %s --program=cut --topology=1x1x4 --compile-only --emit-plan-text=- | FileCheck %s --check-prefix=PLAN
// PLAN-DAG: reduce umax
// PLAN-DAG: reduce umin
// PLAN-DAG: reduce and
// PLAN-DAG: reduce or
// PLAN-DAG: reduce xor

// RUN: pw-run %s --program=local --topology=1x2x2 %{in} --output=all=- --output=part=- | FileCheck %s --check-prefix=LOCAL
// LOCAL: all: 4x2xui8 = {{\[\[}}255, 250], [255, 250], [255, 250], [255, 250{{\]\]}}
// LOCAL: part: 4x1xi16 = {{\[\[}}-250], [-250], [-63], [-63{{\]\]}}

pw.slice @s mesh <"d" = 2, "e" = 2>

!x = !pw.array<4x2xui8, @s, [{"d", "e"}, {}]>
!y = !pw.array<4x2xi16, @s, [{"d", "e"}, {}]>
func.func private @bits(%x: tensor<4x2xi8>, %y: tensor<4x2xi16>)
    -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi16>, tensor<2xi16>, tensor<2xi16>) {
  %least = arith.constant dense<0> : tensor<2xi8>
  %most = arith.constant dense<-1> : tensor<2xi8>
  %none = arith.constant dense<0> : tensor<2xi16>
  %all = arith.constant dense<-1> : tensor<2xi16>
  %0 = linalg.reduce { arith.maxui } ins(%x : tensor<4x2xi8>) outs(%least : tensor<2xi8>) dimensions = [0]
  %1 = linalg.reduce { arith.minui } ins(%x : tensor<4x2xi8>) outs(%most : tensor<2xi8>) dimensions = [0]
  %2 = linalg.reduce { arith.andi } ins(%y : tensor<4x2xi16>) outs(%all : tensor<2xi16>) dimensions = [0]
  %3 = linalg.reduce { arith.ori } ins(%y : tensor<4x2xi16>) outs(%none : tensor<2xi16>) dimensions = [0]
  %4 = linalg.reduce { arith.xori } ins(%y : tensor<4x2xi16>) outs(%none : tensor<2xi16>) dimensions = [0]
  return %0, %1, %2, %3, %4 : tensor<2xi8>, tensor<2xi8>, tensor<2xi16>, tensor<2xi16>, tensor<2xi16>
}
// The first and the last result leave the function as contributions.
pw.program @cut(%x: !x, %y: !y)
    -> (!pw.array<2xui8, @s, [{}]> {pw.name = "umax"}, !pw.array<2xui8, @s, [{}]> {pw.name = "umin"},
        !pw.array<2xi16, @s, [{}]> {pw.name = "and"}, !pw.array<2xi16, @s, [{}]> {pw.name = "or"},
        !pw.array<2xi16, @s, [{}]> {pw.name = "xor"}) {
  %0:5 = pw.call @bits(%x, %y) : (!x, !y)
      -> (!pw.array<2xui8, @s, [{}] partial umax {"d", "e"}>, !pw.array<2xui8, @s, [{}]>, !pw.array<2xi16, @s, [{}]>,
          !pw.array<2xi16, @s, [{}]>, !pw.array<2xi16, @s, [{}] partial xor {"d", "e"}>)
  %1 = pw.reshard %0#0 : !pw.array<2xui8, @s, [{}] partial umax {"d", "e"}> -> !pw.array<2xui8, @s, [{}]>
  %2 = pw.reshard %0#4 : !pw.array<2xi16, @s, [{}] partial xor {"d", "e"}> -> !pw.array<2xi16, @s, [{}]>
  pw.return %1, %0#1, %0#2, %0#3, %2 : !pw.array<2xui8, @s, [{}]>, !pw.array<2xui8, @s, [{}]>,
      !pw.array<2xi16, @s, [{}]>, !pw.array<2xi16, @s, [{}]>, !pw.array<2xi16, @s, [{}]>
}

func.func private @collectives(%x: tensor<1x2xi8>, %y: tensor<1x2xi16>) -> (tensor<1x2xi8>, tensor<1x1xi16>)
    attributes {pw.local_view} {
  %0 = pw.all_reduce %x umax over ["d", "e"] : tensor<1x2xi8>
  %1 = pw.all_reduce %y xor over ["e"] : tensor<1x2xi16>
  %2 = pw.reduce_scatter %1 xor dim 1 over ["d"] : tensor<1x2xi16> -> tensor<1x1xi16>
  return %0, %2 : tensor<1x2xi8>, tensor<1x1xi16>
}
pw.program @local(%x: !pw.array<4x2xui8, @s, [{"d", "e"}, {}]>, %y: !pw.array<4x2xi16, @s, [{"d", "e"}, {}]>)
    -> (!pw.array<4x2xui8, @s, [{"d", "e"}, {}]> {pw.name = "all"}, !pw.array<4x1xi16, @s, [{"d", "e"}, {}]> {pw.name = "part"}) {
  %0:2 = pw.call @collectives(%x, %y) : (!pw.array<4x2xui8, @s, [{"d", "e"}, {}]>, !pw.array<4x2xi16, @s, [{"d", "e"}, {}]>)
      -> (!pw.array<4x2xui8, @s, [{"d", "e"}, {}]>, !pw.array<4x1xi16, @s, [{"d", "e"}, {}]>)
  pw.return %0#0, %0#1 : !pw.array<4x2xui8, @s, [{"d", "e"}, {}]>, !pw.array<4x1xi16, @s, [{"d", "e"}, {}]>
}
