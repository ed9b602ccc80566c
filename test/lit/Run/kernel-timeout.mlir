// A kernel that never returns ends the run, when there is a limit, and the
// process does not wait for it. Other workers go on until then.

// RUN: %python %S/Inputs/exits.py 5 pw-run %s --program=p --input=x=1 \
// RUN:   --topology=1x1x2 --workers=2 --kernel-timeout=1s 2>&1 \
// RUN:   | FileCheck %s
// RUN: %python %S/Inputs/exits.py 5 pw-run %s --program=p --input=x=1 \
// RUN:   --topology=1x1x1 --workers=1 --kernel-timeout=1s --stats 2>&1 \
// RUN:   | FileCheck %s
// RUN: %python %S/Inputs/exits.py 5 pw-run %s --program=p --input=x=1 \
// RUN:   --topology=1x2x1 --processes --kernel-timeout=1s 2>&1 \
// RUN:   | FileCheck %s
// CHECK: kernel-timeout.mlir:[[#@LINE+18]]:8: 'k' of program 'p' has not returned for 1s at step 0 on shard 0 (island0/host0/device0)

pw.slice @s mesh <"d" = 1>

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %t = arith.constant true
  %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%t) %a : tensor<4xf32>
  } do {
  ^bb0(%b: tensor<4xf32>):
    %c = arith.addf %b, %b : tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

pw.program @p(%x: !pw.array<4xf32, @s, [{}]>)
    -> (!pw.array<4xf32, @s, [{}]> {pw.name = "y"}) {
  %y = pw.call @k(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %y : !pw.array<4xf32, @s, [{}]>
}
