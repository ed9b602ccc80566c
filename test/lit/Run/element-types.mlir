// Arrays of every integer type come from files and go to files. Bodies have signless
// tensors; the array says how its bits are printed and compared.

// RUN: rm -rf %t && mkdir %t
// DEFINE: %{npy} = %python %S/Inputs/npy.py
// RUN: %{npy} %t/h.npy '<i2' 4 -32768 -1 7 32767
// RUN: %{npy} %t/a.npy '|u1' 4 0 127 128 255
// RUN: %{npy} %t/b.npy '<u2' 4 0 32767 32768 65535
// RUN: %{npy} %t/c.npy '<u4' 4 0 2147483647 2147483648 4294967295
// RUN: %{npy} %t/d.npy '<u8' 4 0 9223372036854775807 9223372036854775808 18446744073709551615
// DEFINE: %{in} = --input=h=@%t/h.npy --input=a=@%t/a.npy --input=b=@%t/b.npy --input=c=@%t/c.npy --input=d=@%t/d.npy
// RUN: pw-run %s --program=halve --topology=1x1x2 %{in} --output=h=@%t/ho.npy --output=a=@%t/ao.npy \
// RUN:   --output=b=@%t/bo.npy --output=c=@%t/co.npy --output=d=@%t/do.npy
// RUN: %{npy} --show %t/ho.npy > %t/files
// RUN: %{npy} --show %t/ao.npy >> %t/files
// RUN: %{npy} --show %t/bo.npy >> %t/files
// RUN: %{npy} --show %t/co.npy >> %t/files
// RUN: %{npy} --show %t/do.npy >> %t/files
// RUN: FileCheck %s --check-prefix=FILES < %t/files
// FILES:      <i2 (4,) (-16384, 0, 3, 16383)
// FILES-NEXT: |u1 (4,) (0, 63, 64, 127)
// FILES-NEXT: <u2 (4,) (0, 16383, 16384, 32767)
// FILES-NEXT: <u4 (4,) (0, 1073741823, 1073741824, 2147483647)
// FILES-NEXT: <u8 (4,) (0, 4611686018427387903, 4611686018427387904, 9223372036854775807)

// The same on two hosts, in a simulation, in processes, and from a plan.
// DEFINE: %{out} = --expected=h=@%t/ho.npy --expected=a=@%t/ao.npy --expected=b=@%t/bo.npy --expected=c=@%t/co.npy --expected=d=@%t/do.npy
// RUN: pw-run %s --program=halve --topology=1x2x1 --processes %{in} %{out}
// RUN: pw-run %s --program=halve --topology=1x2x1 --world=sim %{in} %{out}
// RUN: pw-run %s --program=halve --topology=1x1x2 --compile-only --emit-plan=%t/halve.plan
// RUN: pw-run %t/halve.plan --topology=1x1x2 %{in} %{out}
// RUN: pw-run %s --program=halve --topology=1x1x2 --compile-only --emit-plan-text=- | FileCheck %s --check-prefix=PLAN
// PLAN-DAG: plan.layout {{[0-9]+}} tensor<4xi16>
// PLAN-DAG: plan.layout {{[0-9]+}} tensor<4xui8>
// PLAN-DAG: plan.layout {{[0-9]+}} tensor<4xui64>
// PLAN-DAG: plan.segment {{.*}}tensor<2xi64>

// As text.
// RUN: pw-run %s --program=halve --topology=1x1x2 --input=h=-2,-1,0,1 --input=a=200,201,202,203 --input=b=65534 \
// RUN:   --input=c=ramp --input=d=18446744073709551614 | FileCheck %s --check-prefix=TEXT
// TEXT: h: 4xi16 = [-1, 0, 0, 0]
// TEXT: a: 4xui8 = [100, 100, 101, 101]
// TEXT: b: 4xui16 = [32767, 32767, 32767, 32767]
// TEXT: c: 4xui32 = [0, 0, 1, 1]
// TEXT: d: 4xui64 = [9223372036854775807, 9223372036854775807, 9223372036854775807, 9223372036854775807]
// DEFINE: %{other} = --input=h=0 --input=b=0 --input=c=0 --input=d=0
// RUN: not pw-run %s --program=halve --topology=1x1x2 %{other} --input=a=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: input 'a': '-1' does not fit ui8
// RUN: not pw-run %s --program=halve --topology=1x1x2 %{other} --input=a=256 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: input 'a': '256' does not fit ui8
// RUN: %{npy} %t/signed.npy '|i1' 4 0 1 2 3
// RUN: not pw-run %s --program=halve --topology=1x1x2 %{other} --input=a=@%t/signed.npy 2>&1 | FileCheck %s --check-prefix=SIGN
// SIGN: expected 4xui8, got 4xi8
// RUN: not pw-run %s --program=halve --topology=1x1x2 %{in} --expected=c=2147483648 2>&1 | FileCheck %s --check-prefix=DIFF
// DIFF: [FAILED] c[0]: got 0, expected 2147483648; 4 of 4 elements differ

// Arrays in folders have the type of the array.
// RUN: pw-run %s --program=halve --topology=1x2x1 %{in} --save=c=%t/saved/
// RUN: FileCheck %s --check-prefix=FOLDER < %t/saved/index.json
// RUN: pw-run %s --program=halve --topology=1x1x2 --input=h=0 --input=a=0 --input=b=0 --input=c=%t/saved/ --input=d=0 \
// RUN:   --expected=c=0,536870911,536870912,1073741823
// FOLDER: "element": "ui32"

pw.slice @s mesh <"d" = 2>

!h = !pw.array<4xi16, @s, [{"d"}]>
!a = !pw.array<4xui8, @s, [{"d"}]>
!b = !pw.array<4xui16, @s, [{"d"}]>
!c = !pw.array<4xui32, @s, [{"d"}]>
!d = !pw.array<4xui64, @s, [{"d"}]>
func.func private @halves(%h: tensor<4xi16>, %a: tensor<4xi8>, %b: tensor<4xi16>, %c: tensor<4xi32>, %d: tensor<4xi64>)
    -> (tensor<4xi16>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>) {
  %h2 = arith.constant dense<2> : tensor<4xi16>
  %a2 = arith.constant dense<2> : tensor<4xi8>
  %c2 = arith.constant dense<2> : tensor<4xi32>
  %d2 = arith.constant dense<2> : tensor<4xi64>
  %0 = arith.divsi %h, %h2 : tensor<4xi16>
  %1 = arith.divui %a, %a2 : tensor<4xi8>
  %2 = arith.divui %b, %h2 : tensor<4xi16>
  %3 = arith.divui %c, %c2 : tensor<4xi32>
  %4 = arith.divui %d, %d2 : tensor<4xi64>
  return %0, %1, %2, %3, %4 : tensor<4xi16>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>
}
pw.program @halve(%h: !h, %a: !a, %b: !b, %c: !c, %d: !d)
    -> (!h {pw.name = "h"}, !a {pw.name = "a"}, !b {pw.name = "b"}, !c {pw.name = "c"}, !d {pw.name = "d"}) {
  %0:5 = pw.call @halves(%h, %a, %b, %c, %d) : (!h, !a, !b, !c, !d) -> (!h, !a, !b, !c, !d)
  pw.return %0#0, %0#1, %0#2, %0#3, %0#4 : !h, !a, !b, !c, !d
}
