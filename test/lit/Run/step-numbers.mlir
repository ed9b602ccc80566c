// Steps have the numbers that they have in one launch: with and without checkpoints,
// in every world, from whichever step a launch begins. Contributions keep their bits.

// RUN: rm -rf %t && mkdir %t
// DEFINE: %{exits} = %python %S/Inputs/exits.py
// DEFINE: %{run} = pw-run %s --program=sum --steps=1000 --input=a=0
// DEFINE: %{pieces} = --recover=retry --checkpoint-every=100
// RUN: %{run} --topology=1x1x4 --expected=b=499500
// RUN: %{run} --topology=1x1x4 %{pieces} --expected=b=499500
// RUN: %{run} --topology=1x2x2 %{pieces} --expected=b=499500 --world=sim
// RUN: %{run} --topology=1x2x2 %{pieces} --expected=b=499500 --processes
// RUN: %{run} --topology=1x4x2 --recover=rebind --checkpoint-every=7 --expected=b=499500
// RUN: %{run} --topology=1x2x2 --first-step=1000 --expected=b=1499500
// RUN: %{run} --topology=1x2x2 --first-step=1000 %{pieces} --expected=b=1499500
// RUN: %{run} --topology=1x2x2 --dispatch=sequential --first-step=1000 --expected=b=1499500

// Each step's result is that of its number.
// RUN: pw-run %s --program=number --topology=1x2x2 --steps=8 --input=a=-1 --output=b=- --recover=retry --checkpoint-every=3 --first-step=40 | FileCheck %s --check-prefix=EACH
// EACH: b: 8xi64 = [40, 41, 42, 43, 44, 45, 46, 47]

// An error counts from there.
// RUN: %{exits} 5 pw-run %s --program=stop --topology=1x2x2 --steps=9 --input=a=0 --first-step=40 --recover=retry --checkpoint-every=2 2>&1 | FileCheck %s --check-prefix=STOP
// STOP: pw-run: error: {{.*}}'{{expect_45.*}}' of program 'stop' failed at step 45 on shard 0

// A checkpoint is of a run that begins at its step.
// RUN: %{run} --topology=1x1x4 --checkpoint-every=600 --checkpoint-dir=%t/checkpoints --first-step=5 --expected=b=504500
// RUN: %{exits} 2 pw-run %s --program=sum --steps=2000 --input=a=0 --topology=1x1x4 --checkpoint-every=600 --checkpoint-dir=%t/checkpoints --resume 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: pw-run: error: '{{.*}}checkpoints/checkpoint-1000' is a checkpoint of a run that begins at step 5, expected a run that begins at step 0 [PW5301]
// RUN: pw-run %s --program=sum --steps=2000 --input=a=0 --topology=1x1x4 --checkpoint-every=600 --checkpoint-dir=%t/checkpoints --resume --first-step=5 --expected=b=2009000

// RUN: %{exits} 2 %{run} --topology=1x1x4 --first-step=-3 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: --first-step: Value -3 not in range 0 to 1099511627776
// RUN: %{exits} 5 %{run} --topology=1x1x4 --first-step=1099511627000 2>&1 | FileCheck %s --check-prefix=ABSURD
// ABSURD: pw-run: error: a launch of program 'sum' begins at step 1099511627000 and has 1000 steps, expected at most 1099511627776 together

// Traces have the numbers, too.
// RUN: pw-run %s --program=sum --topology=1x1x4 --steps=3 --first-step=70 --input=a=0 --trace=%t/trace.json
// RUN: FileCheck %s --check-prefix=TRACE < %t/trace.json
// TRACE-DAG: "firing":2,"step_index":72
// TRACE-DAG: sum, steps 70 to 72

// What is carried as contributions goes on from those.
// DEFINE: %{add} = pw-run %s --program=add --steps=40 --input=x=ramp --input=acc=zeros
// RUN: %{add} --topology=1x4x2 --output=acc=@%t/acc.npy
// DEFINE: %{same} = --expected=acc=@%t/acc.npy --rtol=0 --atol=0
// RUN: %{add} --topology=1x4x2 --recover=retry --checkpoint-every=7 %{same}
// RUN: %{add} --topology=1x4x2 --recover=rebind --checkpoint-every=9 --checkpoints-on-hosts %{same}
// RUN: %{add} --topology=1x4x2 --checkpoint-every=16 --checkpoint-dir=%t/add %{same}
// RUN: FileCheck %s --check-prefix=RANKS < %t/add/checkpoint-40/acc/index.json
// RANKS: "version": 2,
// RANKS: "shape": [4, 8],
// RANKS: "sharding": {{\[\["d"\], \[\]\]}},
// RANKS-NEXT: "contributions": {"reduction": "add", "sizes": [4]},
// RUN: pw-run %s --program=add --steps=20 --input=x=ramp --input=acc=zeros --topology=1x4x2 --save=acc=%t/half
// RUN: pw-run %s --program=add --steps=20 --first-step=20 --input=x=ramp --input=acc=%t/half/ --topology=1x1x4 %{same}
// With other ranks they are combined, and that is said.
// RUN: pw-run %s --program=add --mesh=s:d=2 --steps=20 --first-step=20 --input=x=ramp --input=acc=%t/half/ --topology=1x1x4 --expected=acc=@%t/acc.npy 2>&1 | FileCheck %s --check-prefix=COMBINED
// COMBINED: pw-run: argument 'acc' of program 'add': the contributions of 4 ranks are combined, because the program now has 2 ranks; the last bits of sums may differ
// COMBINED: [SUCCESS]

pw.slice @s mesh <"d" = 4>

func.func private @sum_up(%a: tensor<8xi64>) -> tensor<8xi64> {
  %n = pw.step_index : index
  %i = arith.index_cast %n : index to i64
  %s = tensor.splat %i : tensor<8xi64>
  %r = arith.addi %a, %s : tensor<8xi64>
  return %r : tensor<8xi64>
}
func.func private @expect_45(%a: tensor<8xi64>) -> tensor<8xi64> {
  %n = pw.step_index : index
  %c45 = arith.constant 45 : index
  %good = arith.cmpi ne, %n, %c45 : index
  cf.assert %good, "expected another step"
  %i = arith.index_cast %n : index to i64
  %s = tensor.splat %i : tensor<8xi64>
  return %s : tensor<8xi64>
}
!n = !pw.array<8xi64, @s, [{"d"}]>
pw.program @sum(%a: !n {pw.carried = 0 : i64}) -> (!n {pw.name = "b"}) {
  %0 = pw.call @sum_up(%a) : (!n) -> !n
  pw.return %0 : !n
}
pw.program @stop(%a: !n {pw.carried = 0 : i64}) -> (!n {pw.name = "b"}) {
  %0 = pw.call @expect_45(%a) : (!n) -> !n
  pw.return %0 : !n
}

func.func private @element(%a: tensor<i64>) -> tensor<i64> {
  %n = pw.step_index : index
  %i = arith.index_cast %n : index to i64
  %s = tensor.splat %i : tensor<i64>
  return %s : tensor<i64>
}
!e = !pw.array<i64, @s, []>
pw.program @number(%a: !e {pw.carried = 0 : i64}) -> (!e, !e {pw.stepped, pw.name = "b"}) {
  %0 = pw.call @element(%a) : (!e) -> !e
  pw.return %0, %0 : !e, !e
}

// Each row of x is multiplied by something that the step's number says.
func.func private @add_up(%acc: tensor<8xf32>, %x: tensor<4x8xf32>) -> tensor<8xf32> {
  %n = pw.step_index : index
  %i = arith.index_cast %n : index to i32
  %f = arith.sitofp %i : i32 to f32
  %c = arith.constant 0.137 : f32
  %g = arith.addf %f, %c : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %g : f32
    %q = math.sin %p : f32
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  %r = linalg.reduce ins(%y : tensor<4x8xf32>) outs(%acc : tensor<8xf32>) dimensions = [0]
    (%in: f32, %out: f32) {
      %t = arith.addf %in, %out : f32
      linalg.yield %t : f32
    }
  return %r : tensor<8xf32>
}
!acc = !pw.array<8xf32, @s, [{}] partial add {"d"}>
!x = !pw.array<4x8xf32, @s, [{"d"}, {}]>
pw.program @add(%x: !x, %acc: !acc {pw.carried = 0 : i64}) -> (!acc {pw.name = "acc"}) {
  %0 = pw.call @add_up(%acc, %x) donate(%acc) : (!acc, !x) -> !acc
  pw.return %0 : !acc
}
