// The number of the step, in bodies of both views, in parts of a body before and
// behind a collective, with many steps in flight: the same everywhere. A launch
// begins at 0.

// DEFINE: %{check} = --steps=5 --input=x=zeros --expected=y=@%t.npy --expected=z=@%t.npy --rtol=0 --atol=0
// RUN: %python %S/Inputs/npy.py %t.npy '<f4' 5x4 0 0 0 0  1 1 1 1  2 2 2 2  3 3 3 3  4 4 4 4
// RUN: pw-run %s --topology=1x1x4 --steps-in-flight=1 %{check}
// RUN: pw-run %s --topology=1x2x2 --steps-in-flight=4 %{check}
// RUN: pw-run %s --topology=1x2x2 --dispatch=sequential %{check}
// RUN: pw-run %s --topology=1x2x2 --world=sim --seed=9 %{check}
// RUN: pw-run %s --topology=1x2x2 --processes %{check}
// RUN: pw-run %s --topology=1x1x1 --oversubscribe %{check}

pw.slice @s mesh <"x" = 4>

func.func private @local(%x: tensor<1xf32>) -> tensor<1xf32> attributes {pw.local_view} {
  %n = pw.step_index : index
  %i = arith.index_cast %n : index to i32
  %f = arith.sitofp %i : i32 to f32
  %s = tensor.splat %f : tensor<1xf32>
  %m = pw.all_reduce %s max over ["x"] : tensor<1xf32>
  // All agree: the rest is what this shard has over the largest, 0.
  %t = tensor.splat %f : tensor<1xf32>
  %rest = arith.subf %t, %m : tensor<1xf32>
  %a = arith.addf %x, %m : tensor<1xf32>
  %b = arith.addf %a, %rest : tensor<1xf32>
  return %b : tensor<1xf32>
}

func.func private @global(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = pw.step_index : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    %s = arith.addf %v, %f : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

pw.program @p(%x: !pw.array<4xf32, @s, [{"x"}]>)
    -> (!pw.array<4xf32, @s, [{"x"}]> {pw.name = "y", pw.stepped}, !pw.array<4xf32, @s, [{"x"}]> {pw.name = "z", pw.stepped}) {
  %y = pw.call @local(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  %z = pw.call @global(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return %y, %z : !pw.array<4xf32, @s, [{"x"}]>, !pw.array<4xf32, @s, [{"x"}]>
}
