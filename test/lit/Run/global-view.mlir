// One text in global view runs on one device, on two, and on a grid, cut as its
// types say; the values are the same.

// RUN: pw-run %s --topology=1x1x1 --input=x=ramp --input=w=ramp --output=y=@%t.npy --output=n=@%t.n.npy
// RUN: pw-run %s --topology=1x1x2 --mesh=s:d=2 --input=x=ramp --input=w=ramp --expected=y=@%t.npy --expected=n=@%t.n.npy
// RUN: pw-run %s --topology=1x2x3 --mesh=s:d=2,m=3 --input=x=ramp --input=w=ramp --expected=y=@%t.npy --expected=n=@%t.n.npy
// Axes that cut nothing into equal blocks.
// RUN: pw-run %s --topology=1x1x8 --oversubscribe --mesh=s:d=5 --mesh=s:m=7 --input=x=ramp --input=w=ramp --expected=y=@%t.npy --expected=n=@%t.n.npy
// And in processes.
// RUN: pw-run %s --topology=1x2x3 --mesh=s:d=2,m=3 --processes=2 --input=x=ramp --input=w=ramp --expected=y=@%t.npy --expected=n=@%t.n.npy

// A plan has its meshes already, as text and as a file.
// RUN: pw-run %s --topology=1x1x1 --compile-only --emit-plan-text=%t.plan.mlir --emit-plan=%t.plan
// RUN: %python %S/Inputs/exits.py 2 pw-run %t.plan.mlir --mesh=s:d=2 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: %python %S/Inputs/exits.py 2 pw-run %t.plan --mesh=s:d=2 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: is a plan, whose meshes are fixed
// RUN: %python %S/Inputs/exits.py 3 pw-run %s --mesh=q:d=2 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: mesh 'q:d=2' is for slice 'q', which is not declared

pw.slice @s mesh <"d" = 1, "m" = 1>

func.func private @layer(%x: tensor<12x6xf32>, %w: tensor<6x9xf32>) -> (tensor<12x9xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x9xf32>) -> tensor<12x9xf32>
  %h = linalg.matmul ins(%x, %w : tensor<12x6xf32>, tensor<6x9xf32>) outs(%f : tensor<12x9xf32>) -> tensor<12x9xf32>
  %scale = arith.constant dense<0.001> : tensor<12x9xf32>
  %s = arith.mulf %h, %scale : tensor<12x9xf32>
  %y = math.tanh %s : tensor<12x9xf32>
  %n0 = arith.constant dense<0.0> : tensor<f32>
  %n = linalg.reduce ins(%y : tensor<12x9xf32>) outs(%n0 : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }
  return %y, %n : tensor<12x9xf32>, tensor<f32>
}

pw.program @p(%x: !pw.array<12x6xf32, @s, [{"d"}, {}]>, %w: !pw.array<6x9xf32, @s, [{}, {"m"}]>)
    -> (!pw.array<12x9xf32, @s, [{"d"}, {"m"}]> {pw.name = "y"}, !pw.array<f32, @s, []> {pw.name = "n"}) {
  %0:2 = pw.call @layer(%x, %w)
      : (!pw.array<12x6xf32, @s, [{"d"}, {}]>, !pw.array<6x9xf32, @s, [{}, {"m"}]>)
      -> (!pw.array<12x9xf32, @s, [{"d"}, {"m"}]>, !pw.array<f32, @s, []>)
  pw.return %0#0, %0#1 : !pw.array<12x9xf32, @s, [{"d"}, {"m"}]>, !pw.array<f32, @s, []>
}
