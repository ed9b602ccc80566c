// One annotation and one constraint say how all is cut; the values are the same on
// one device, on a grid, in simulation and in processes, and with nothing written.

// RUN: pw-run %s --program=p --topology=1x1x1 --steps=3 --input=x=ramp --input=w=random:1 --output=y=@%t.npy --output=w=@%t.w.npy
// RUN: pw-run %s --program=p --topology=1x2x2 --mesh=s:d=2,m=2 --steps=3 --input=x=ramp --input=w=random:1 --expected=y=@%t.npy --expected=w=@%t.w.npy --rtol=1e-5
// RUN: pw-run %s --program=p --topology=1x2x2 --mesh=s:d=2,m=2 --world=sim --steps=3 --input=x=ramp --input=w=random:1 --expected=y=@%t.npy --expected=w=@%t.w.npy --rtol=1e-5
// RUN: pw-run %s --program=p --topology=1x2x2 --mesh=s:d=4 --processes=2 --steps=3 --input=x=ramp --input=w=random:1 --expected=y=@%t.npy --expected=w=@%t.w.npy --rtol=1e-5
// RUN: pw-run %s --program=nothing --topology=1x1x2 --mesh=s:d=2 --steps=3 --input=x=ramp --input=w=random:1 --expected=y=@%t.npy --expected=w=@%t.w.npy 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: no sharding cuts the arrays on slice 's', so each of its 2 devices computes everything

// Who decided, and what else it would have cost.
// RUN: pw-run %s --program=p --topology=1x2x2 --mesh=s:d=2,m=2 --compile-only --explain-shardings 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: argument 'w' of program 'p' is '!pw.array<8x8xf32, @s, [{}, {"m"}]>'; "m" is from 'pw.constrain' at {{.*}}:{{[0-9]+}}:8, through 'pw.call' of 'layer'
// EXPLAIN: result 0 of 'pw.call' of 'layer' is '!pw.array<16x8xf32, @s, [{"d"}, {"m"}]>'
// EXPLAIN: 'linalg.matmul' of 'layer' is cut along d0 {"d"}, d1 {"m"}, {{.*}} ns; {{.*}} would be {{.*}} ns

// A plan is cut already.
// RUN: pw-run %s --program=p --topology=1x1x1 --compile-only --emit-plan=%t.plan
// RUN: %python %S/Inputs/exits.py 2 pw-run %t.plan --explain-shardings 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: --explain-shardings: {{.*}} is a plan, whose arrays are already partitioned

pw.slice @s mesh <"d" = 1, "m" = 1>

func.func private @layer(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<16x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<16x8xf32>) -> tensor<16x8xf32>
  %c = pw.constrain %h [{?}, {"m"}] : tensor<16x8xf32>
  %y = math.tanh %c : tensor<16x8xf32>
  %g0 = arith.constant dense<0.0> : tensor<8x8xf32>
  %g = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %y : tensor<16x8xf32>, tensor<16x8xf32>) outs(%g0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %rate = arith.constant dense<0.001> : tensor<8x8xf32>
  %d = arith.mulf %g, %rate : tensor<8x8xf32>
  %next = arith.subf %w, %d : tensor<8x8xf32>
  return %y, %next : tensor<16x8xf32>, tensor<8x8xf32>
}
!x = !pw.array<16x8xf32, @s, [{"d"}, {?}]>
!o = !pw.array<16x8xf32, @s>
!w = !pw.array<8x8xf32, @s>
pw.program @p(%x: !x, %w: !w {pw.carried = 1 : i64}) -> (!o {pw.name = "y"}, !w {pw.name = "w"}) {
  %0:2 = pw.call @layer(%x, %w) donate(%w) : (!x, !w) -> (!o, !w)
  pw.return %0#0, %0#1 : !o, !w
}

func.func private @plain(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<16x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = math.tanh %h : tensor<16x8xf32>
  %g0 = arith.constant dense<0.0> : tensor<8x8xf32>
  %g = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %y : tensor<16x8xf32>, tensor<16x8xf32>) outs(%g0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %rate = arith.constant dense<0.001> : tensor<8x8xf32>
  %d = arith.mulf %g, %rate : tensor<8x8xf32>
  %next = arith.subf %w, %d : tensor<8x8xf32>
  return %y, %next : tensor<16x8xf32>, tensor<8x8xf32>
}
pw.program @nothing(%x: !o, %w: !w {pw.carried = 1 : i64}) -> (!o {pw.name = "y"}, !w {pw.name = "w"}) {
  %0:2 = pw.call @plain(%x, %w) : (!o, !w) -> (!o, !w)
  pw.return %0#0, %0#1 : !o, !w
}
