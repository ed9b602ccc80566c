// One text in global view runs on one device, on two, and on a grid, cut as its
// types say; the values are the same.

// RUN: sed 's/MESH/"d" = 1, "m" = 1/' %s > %t.1.mlir
// RUN: pw-run %t.1.mlir --topology=1x1x1 --input=x=ramp --input=w=ramp --output=y=@%t.npy --output=n=@%t.n.npy
// RUN: sed 's/MESH/"d" = 2, "m" = 1/' %s > %t.2.mlir
// RUN: pw-run %t.2.mlir --topology=1x1x2 --input=x=ramp --input=w=ramp --expected=y=@%t.npy --expected=n=@%t.n.npy
// RUN: sed 's/MESH/"d" = 2, "m" = 3/' %s > %t.6.mlir
// RUN: pw-run %t.6.mlir --topology=1x2x3 --input=x=ramp --input=w=ramp --expected=y=@%t.npy --expected=n=@%t.n.npy
// Axes that cut nothing into equal blocks.
// RUN: sed 's/MESH/"d" = 5, "m" = 7/' %s > %t.35.mlir
// RUN: pw-run %t.35.mlir --topology=1x1x8 --oversubscribe --input=x=ramp --input=w=ramp --expected=y=@%t.npy --expected=n=@%t.n.npy
// And in processes.
// RUN: pw-run %t.6.mlir --topology=1x2x3 --processes=2 --input=x=ramp --input=w=ramp --expected=y=@%t.npy --expected=n=@%t.n.npy

pw.slice @s mesh <MESH>

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
