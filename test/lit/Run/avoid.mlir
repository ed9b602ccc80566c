// A plan that was compiled for machines some of which are not to be had.

// DEFINE: %{check} = --input=x=1,2,3,4 --expected=y=2,4,6,8
// RUN: pw-run %s --topology=2x2x2 --compile-only --emit-plan=%t.plan
// RUN: pw-run %t.plan --topology=2x2x2 --avoid=host0 %{check} --explain-placement | FileCheck %s --check-prefix=HOST
// HOST: s {{ *}}d=2 {{ *}}island0 {{ *}}2-3 {{ *}}host1
// HOST: [SUCCESS]
// RUN: pw-run %t.plan --topology=2x2x2 --avoid=host0,island0/host1/device1 --world=sim %{check} --explain-placement | FileCheck %s --check-prefix=ISLAND
// ISLAND: s {{ *}}d=2 {{ *}}island1 {{ *}}0-1 {{ *}}host2
// ISLAND: [SUCCESS]
// RUN: pw-run %s --topology=2x2x2 --avoid=island0,host2 --avoid=island1/host3/device0 --oversubscribe --processes %{check} --explain-placement | FileCheck %s --check-prefix=ONE
// ONE: s {{ *}}d=2 {{ *}}island1 {{ *}}3 (2 shards) {{ *}}host3
// ONE: [SUCCESS]

// The plan that it becomes is one like any other.
// RUN: pw-run %t.plan --topology=2x2x2 --avoid=host0 --compile-only --emit-plan=%t.other.plan
// RUN: pw-run %t.other.plan --topology=2x2x2 --explain-placement --compile-only | FileCheck %s --check-prefix=OTHER
// OTHER: s {{ *}}d=2 {{ *}}island0 {{ *}}2-3 {{ *}}host1

// RUN: %python %S/Inputs/exits.py 4 pw-run %t.plan --topology=2x2x2 --avoid=island0,host3,island1/host2/device1 %{check} 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: --avoid: program 'p' is on 2 devices of island0, 2 of which must be avoided, and there are too few devices to replace them; devices that are allowed and that the program does not use: island0 0, island1 1; oversubscribe to share devices [PW2105]
// RUN: %python %S/Inputs/exits.py 2 pw-run %t.plan --topology=2x2x2 --avoid=host9 %{check} 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: --avoid: there is no island, host or device 'host9'; names have the form 'island0', 'host1' or 'island0/host1/device0', and the cluster has 2 islands x 2 hosts x 2 cpu devices (8 devices) [PW2104]

pw.slice @s mesh <"d" = 2>

func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> attributes {pw.local_view} {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

pw.program @p(%x: !pw.array<4xf32, @s, [{"d"}]>) -> (!pw.array<4xf32, @s, [{"d"}]> {pw.name = "y"}) {
  %y = pw.call @twice(%x) : (!pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]>
  pw.return %y : !pw.array<4xf32, @s, [{"d"}]>
}
