// Look-ups of rows of a table and the gradient of that, in global view: the same
// on one device, cut over data and model, in a simulation and in processes.

// DEFINE: %{in} = --input=t=random:1 --input=i=@%t.i.npy
// RUN: %python %S/Inputs/npy.py %t.i.npy '<i4' 4x6x1 3 1 9 9 0 2  4 4 4 4 4 4  5 6 7 8 9 0  1 1 2 3 5 8
// RUN: pw-run %s --topology=1x1x1 --mesh=s:data=1,model=1 %{in} --output=y=@%t.y.npy --output=g=@%t.g.npy --output=z=-
// DEFINE: %{same} = --expected=y=@%t.y.npy --expected=z=@%t.y.npy --expected=g=@%t.g.npy --rtol=0 --atol=0
// RUN: pw-run %s --topology=1x2x2 %{in} %{same}
// RUN: pw-run %s --topology=1x2x2 --world=sim --seed=5 %{in} %{same}
// RUN: pw-run %s --topology=1x2x2 --processes %{in} %{same}

// An index that is not there is an error at the look-up.
// RUN: %python %S/Inputs/npy.py %t.bad.npy '<i4' 4x6x1 3 1 9 9 0 2  4 4 4 4 4 4  5 6 7 8 9 0  1 1 2 3 5 10
// RUN: %python %S/Inputs/exits.py 5 pw-run %s --topology=1x2x2 --input=t=random:1 --input=i=@%t.bad.npy 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: lookup.mlir:[[#@LINE+6]]:{{.*}}index out of bounds

pw.slice @s mesh <"data" = 2, "model" = 2>

// Row i of the result is row %i[i] of the table, twice.
func.func private @embed(%t: tensor<10x8xf32>, %i: tensor<4x6x1xi32>) -> tensor<4x6x8xf32> {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<10x8xf32>, tensor<4x6x1xi32>) -> tensor<4x6x8xf32>
  %1 = arith.addf %0, %0 : tensor<4x6x8xf32>
  return %1 : tensor<4x6x8xf32>
}

// What comes back is added to the rows that were looked up, in the place of the
// table.
func.func private @embed_gradient(%i: tensor<4x6x1xi32>, %dy: tensor<4x6x8xf32>) -> tensor<10x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<10x8xf32>
  %ids = tensor.collapse_shape %i [[0, 1, 2]] : tensor<4x6x1xi32> into tensor<24xi32>
  %rows = tensor.collapse_shape %dy [[0, 1], [2]] : tensor<4x6x8xf32> into tensor<24x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 24 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%g = %zero) -> tensor<10x8xf32> {
    %id = tensor.extract %ids[%k] : tensor<24xi32>
    %row = arith.index_cast %id : i32 to index
    %old = tensor.extract_slice %g[%row, 0] [1, 8] [1, 1] : tensor<10x8xf32> to tensor<8xf32>
    %d = tensor.extract_slice %rows[%k, 0] [1, 8] [1, 1] : tensor<24x8xf32> to tensor<8xf32>
    %new = arith.addf %old, %d : tensor<8xf32>
    %next = tensor.insert_slice %new into %g[%row, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<10x8xf32>
    scf.yield %next : tensor<10x8xf32>
  }
  return %r : tensor<10x8xf32>
}

pw.program @p(%t: !pw.array<10x8xf32, @s, [{}, {"model"}]>, %i: !pw.array<4x6x1xi32, @s, [{"data"}, {}, {}]>)
    -> (!pw.array<4x6x8xf32, @s, [{"data"}, {}, {"model"}]> {pw.name = "y"}, !pw.array<10x8xf32, @s, [{}, {"model"}]> {pw.name = "g"},
        !pw.array<4x6x8xf32, @s, [{"data"}, {}, {}]> {pw.name = "z"}) {
  %y = pw.call @embed(%t, %i)
      : (!pw.array<10x8xf32, @s, [{}, {"model"}]>, !pw.array<4x6x1xi32, @s, [{"data"}, {}, {}]>)
      -> !pw.array<4x6x8xf32, @s, [{"data"}, {}, {"model"}]>
  %g = pw.call @embed_gradient(%i, %y)
      : (!pw.array<4x6x1xi32, @s, [{"data"}, {}, {}]>, !pw.array<4x6x8xf32, @s, [{"data"}, {}, {"model"}]>)
      -> !pw.array<10x8xf32, @s, [{}, {"model"}]>
  // The same from a table that is cut along the rows that are looked up.
  %rows = pw.reshard %t : !pw.array<10x8xf32, @s, [{}, {"model"}]> -> !pw.array<10x8xf32, @s, [{"model"}, {}]>
  %z = pw.call @embed(%rows, %i)
      : (!pw.array<10x8xf32, @s, [{"model"}, {}]>, !pw.array<4x6x1xi32, @s, [{"data"}, {}, {}]>)
      -> !pw.array<4x6x8xf32, @s, [{"data"}, {}, {}]>
  pw.return %y, %g, %z : !pw.array<4x6x8xf32, @s, [{"data"}, {}, {"model"}]>, !pw.array<10x8xf32, @s, [{}, {"model"}]>, !pw.array<4x6x8xf32, @s, [{"data"}, {}, {}]>
}
