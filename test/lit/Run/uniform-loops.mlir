// Collectives in loops and branches that all shards run alike: each round adds up
// what neighbours have, a ring by hand, and another sum at each second round.

// RUN: %python %S/Inputs/npy.py %t.x.npy '<f4' 4 1 10 100 1000
// DEFINE: %{check} = --input=x=@%t.x.npy --expected=y=1111 --expected=n=6666 --rtol=0 --atol=0
// RUN: pw-run %s --topology=1x1x4 %{check}
// RUN: pw-run %s --topology=1x2x2 --world=sim --seed=3 %{check}
// RUN: pw-run %s --topology=1x2x2 --processes %{check}

pw.slice @s mesh <"x" = 4>

func.func private @shifted(%x: tensor<1xf32>) -> tensor<1xf32> attributes {pw.local_view} {
  %0 = pw.permute %x shift 1 over ["x"] wrap : tensor<1xf32>
  return %0 : tensor<1xf32>
}

func.func private @ring(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) attributes {pw.local_view} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %none = arith.constant dense<0.0> : tensor<1xf32>
  %y:2 = scf.for %i = %c1 to %c4 step %c1 iter_args(%sum = %x, %moving = %x) -> (tensor<1xf32>, tensor<1xf32>) {
    %m = func.call @shifted(%moving) : (tensor<1xf32>) -> tensor<1xf32>
    %s = arith.addf %sum, %m : tensor<1xf32>
    scf.yield %s, %m : tensor<1xf32>, tensor<1xf32>
  }
  // Rounds (0, 1), (2, 1), (2, 2), (2, 3): where j is odd the sum is added, where it
  // is even there is twice as much.
  %n = scf.for %i = %c0 to %c4 step %c2 iter_args(%outer = %none) -> tensor<1xf32> {
    %end = arith.addi %i, %c2 : index
    %inner = scf.for %j = %c1 to %end step %c1 iter_args(%v = %outer) -> tensor<1xf32> {
      %bit = arith.remui %j, %c2 : index
      %odd = arith.cmpi eq, %bit, %c1 : index
      %w = scf.if %odd -> tensor<1xf32> {
        %a = pw.all_reduce %x add over ["x"] : tensor<1xf32>
        %b = arith.addf %v, %a : tensor<1xf32>
        scf.yield %b : tensor<1xf32>
      } else {
        %b = arith.addf %v, %v : tensor<1xf32>
        scf.yield %b : tensor<1xf32>
      }
      scf.yield %w : tensor<1xf32>
    }
    scf.yield %inner : tensor<1xf32>
  }
  // That is 1111, 2222, 4444, 5555. Once more, where a condition says so.
  %true = arith.constant true
  %last = scf.if %true -> tensor<1xf32> {
    %a = pw.all_reduce %x add over ["x"] : tensor<1xf32>
    %b = arith.addf %n, %a : tensor<1xf32>
    scf.yield %b : tensor<1xf32>
  } else {
    scf.yield %n : tensor<1xf32>
  }
  return %y#0, %last : tensor<1xf32>, tensor<1xf32>
}

pw.program @p(%x: !pw.array<4xf32, @s, [{"x"}]>) -> (!pw.array<4xf32, @s, [{"x"}]> {pw.name = "y"}, !pw.array<4xf32, @s, [{"x"}]> {pw.name = "n"}) {
  %0:2 = pw.call @ring(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> (!pw.array<4xf32, @s, [{"x"}]>, !pw.array<4xf32, @s, [{"x"}]>)
  pw.return %0#0, %0#1 : !pw.array<4xf32, @s, [{"x"}]>, !pw.array<4xf32, @s, [{"x"}]>
}
