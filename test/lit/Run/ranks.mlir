// What goes from one rank to all of its group, and between pairs of ranks; groups
// on one host, over hosts, and both.

// RUN: %python %S/Inputs/npy.py %t.x.npy '<f4' 8 1 2 3 4 5 6 7 8
// RUN: %python %S/Inputs/npy.py %t.b.npy '<f4' 8 5 6 7 8 5 6 7 8
// RUN: %python %S/Inputs/npy.py %t.c.npy '<f4' 8 2 2 2 2 6 6 6 6
// RUN: %python %S/Inputs/npy.py %t.p.npy '<f4' 8 4 1 0 1 0 0 0 8
// DEFINE: %{check} = --input=x=@%t.x.npy --expected=b=@%t.b.npy --expected=c=@%t.c.npy --expected=p=@%t.p.npy --steps=3 --rtol=0 --atol=0
// RUN: pw-run %s --topology=1x1x8 %{check}
// RUN: pw-run %s --topology=1x4x2 %{check}
// RUN: pw-run %s --topology=1x8x1 --world=sim --seed=4 %{check}
// RUN: pw-run %s --topology=1x2x4 --processes %{check}
// RUN: pw-run %s --topology=1x1x1 --oversubscribe %{check}

// They are in plans, as text and as a file.
// RUN: pw-run %s --topology=1x4x2 --compile-only --emit-plan-text=%t.plan.mlir --emit-plan=%t.plan
// RUN: FileCheck %s --check-prefix=PLAN < %t.plan.mlir
// PLAN: plan.collective broadcast {{.*}} over ["d"] root 1
// PLAN: plan.collective broadcast {{.*}} over ["m"] root 1
// PLAN: plan.collective permute {{.*}} over ["d", "m"] pairs [0, 1, 0, 3, 3, 0, 7, 7]
// RUN: pw-run %t.plan.mlir --topology=1x4x2 %{check}
// RUN: pw-run %t.plan --topology=1x4x2 %{check}
// And in reports and traces.
// RUN: pw-run %s --topology=1x4x2 --dry-run | FileCheck %s --check-prefix=DRY
// DRY: ici island0 {{ *}}44 
// RUN: pw-run %s --topology=1x4x2 --input=x=@%t.x.npy --trace=%t.json
// RUN: FileCheck %s --check-prefix=TRACE < %t.json
// TRACE: broadcast

pw.slice @s mesh <"d" = 2, "m" = 4>

func.func private @from(%x: tensor<1xf32>) -> tensor<1xf32> attributes {pw.local_view} {
  %0 = pw.broadcast %x from 1 over ["d"] : tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func private @pairs(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) attributes {pw.local_view} {
  %0 = pw.broadcast %x from 1 over ["m"] : tensor<1xf32>
  %1 = pw.permute %x pairs [[0, 1], [0, 3], [3, 0], [7, 7]] over ["d", "m"] : tensor<1xf32>
  return %0, %1 : tensor<1xf32>, tensor<1xf32>
}

pw.program @p(%x: !pw.array<8xf32, @s, [{"d", "m"}]>)
    -> (!pw.array<8xf32, @s, [{"d", "m"}]> {pw.name = "b"}, !pw.array<8xf32, @s, [{"d", "m"}]> {pw.name = "c"},
        !pw.array<8xf32, @s, [{"d", "m"}]> {pw.name = "p"}) {
  %b = pw.call @from(%x) : (!pw.array<8xf32, @s, [{"d", "m"}]>) -> !pw.array<8xf32, @s, [{"d", "m"}]>
  %c:2 = pw.call @pairs(%x) : (!pw.array<8xf32, @s, [{"d", "m"}]>) -> (!pw.array<8xf32, @s, [{"d", "m"}]>, !pw.array<8xf32, @s, [{"d", "m"}]>)
  pw.return %b, %c#0, %c#1 : !pw.array<8xf32, @s, [{"d", "m"}]>, !pw.array<8xf32, @s, [{"d", "m"}]>, !pw.array<8xf32, @s, [{"d", "m"}]>
}
