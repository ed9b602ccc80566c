// A program goes where there is room for it, whatever it was compiled for.

// RUN: split-file %s %t
// DEFINE: %{check} = --input=x=1,2,3,4 --expected=y=2,4,6,8 --explain-placement
// RUN: pw-run %t/p.mlir --topology=@%t/small.textproto --compile-only --emit-plan=%t/p.plan
// RUN: %python %S/Inputs/exits.py 4 pw-run %t/p.plan --topology=@%t/small.textproto --input=x=1,2,3,4 2>&1 | FileCheck %t/p.mlir --check-prefix=SMALL
// RUN: pw-run %t/p.plan --topology=@%t/small.textproto --anywhere %{check} | FileCheck %t/p.mlir --check-prefix=THERE
// RUN: pw-run %t/p.mlir --topology=@%t/small.textproto --anywhere %{check} --world=sim | FileCheck %t/p.mlir --check-prefix=THERE
// RUN: pw-run %t/p.plan --topology=@%t/small.textproto --anywhere %{check} --processes | FileCheck %t/p.mlir --check-prefix=THERE

// Nobody can give it what the cluster does not have.
// RUN: pw-run %t/p.mlir --topology=2x1x1 --oversubscribe --compile-only --emit-plan=%t/one.plan
// RUN: %python %S/Inputs/exits.py 4 pw-run %t/one.plan --topology=@%t/none.textproto --anywhere --input=x=1,2,3,4 2>&1 | FileCheck %t/p.mlir --check-prefix=NONE
// RUN: %python %S/Inputs/exits.py 2 pw-run %t/p.plan --anywhere --avoid=host0 2>&1 | FileCheck %t/p.mlir --check-prefix=BOTH

//--- p.mlir
// SMALL: error: program 'p' needs {{[0-9]+}} bytes on island0/host0/device0
// SMALL-SAME: where 0 of 64 bytes are used
// THERE: s {{ *}}d=2 {{ *}}island0 {{ *}}0-1 {{ *}}host0
// THERE: loaded
// THERE: s {{ *}}d=2 {{ *}}island1 {{ *}}0-1 {{ *}}host1
// THERE: [SUCCESS]
// NONE: error: program 'p' needs 1 device, {{[0-9]+}} bytes of it; the cluster has too few devices even if every client releases all of its memory
// BOTH: error: {{.*}}--avoid
pw.slice @s mesh <"d" = 2>

func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> attributes {pw.local_view} {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

pw.program @p(%x: !pw.array<4xf32, @s, [{"d"}]>) -> (!pw.array<4xf32, @s, [{"d"}]> {pw.name = "y"}) {
  %y = pw.call @twice(%x) : (!pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]>
  pw.return %y : !pw.array<4xf32, @s, [{"d"}]>
}

//--- small.textproto
islands { hosts { devices { memory_bytes: 64 } devices { memory_bytes: 64 } } }
islands { hosts { devices {} devices {} } }

//--- none.textproto
islands { hosts { devices { memory_bytes: 64 } } }
