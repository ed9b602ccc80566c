// Ten rows on one device, on four and on eight, where some have none: the values are
// the same. Padding divides nothing, is not looked up, and is added to nothing, also
// where it is infinite by then.

// DEFINE: %{most} = --input=x=random:1 --input=t=random:2 --input=u=random:3
// DEFINE: %{in} = %{most} --input=n=7 --input=j=1000
// RUN: pw-run %s --topology=1x1x1 --mesh=s:d=1 %{in} --output=y=@%t.y.npy --output=m=@%t.m.npy --output=g=@%t.g.npy --output=q=@%t.q.npy --output=e=@%t.e.npy --output=v=@%t.v.npy
// DEFINE: %{same} = --expected=y=@%t.y.npy --expected=m=@%t.m.npy --expected=g=@%t.g.npy --expected=q=@%t.q.npy --expected=e=@%t.e.npy --expected=v=@%t.v.npy
// RUN: pw-run %s --topology=1x2x2 %{in} %{same}
// RUN: pw-run %s --topology=1x2x2 --world=sim --seed=3 %{in} %{same}
// RUN: pw-run %s --topology=1x2x2 --processes %{in} %{same}
// RUN: pw-run %s --topology=1x1x8 --oversubscribe --mesh=s:d=8 %{in} %{same}

// An error of an element is one all the same.
// RUN: %python %S/Inputs/exits.py 5 pw-run %s --topology=1x2x2 %{most} --input=j=1000 --input=n=0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: uneven.mlir:[[#@LINE+14]]:{{.*}}integer division by zero
// RUN: %python %S/Inputs/exits.py 5 pw-run %s --topology=1x2x2 %{most} --input=j=1000 --input=n=11 2>&1 | FileCheck %s --check-prefix=WHERE
// WHERE: uneven.mlir:[[#@LINE+28]]:{{.*}}index out of bounds
// So is an index that is nobody's, though the last block of the table is as large.
// RUN: %python %S/Inputs/exits.py 5 pw-run %s --topology=1x2x2 %{most} --input=n=7 --input=j=1002 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: uneven.mlir:[[#@LINE+34]]:{{.*}}index out of bounds

pw.slice @s mesh <"d" = 4>

func.func private @rows(%x: tensor<10x6xf32>, %n: tensor<10x1xi32>, %t: tensor<11x6xf32>)
    -> (tensor<10x6xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<10x1xi32>, tensor<10x6xf32>) {
  %one = arith.constant dense<1.0> : tensor<10x6xf32>
  %y = arith.divf %one, %x : tensor<10x6xf32>
  %sixty = arith.constant dense<60> : tensor<10x1xi32>
  %q = arith.divsi %sixty, %n : tensor<10x1xi32>
  %zero = arith.constant dense<0.0> : tensor<6xf32>
  %sum = linalg.reduce { arith.addf } ins(%y : tensor<10x6xf32>) outs(%zero : tensor<6xf32>) dimensions = [0]
  %ten = arith.constant dense<10.0> : tensor<6xf32>
  %m = arith.divf %sum, %ten : tensor<6xf32>
  %start = arith.constant dense<0.0> : tensor<6x6xf32>
  %g = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %y : tensor<10x6xf32>, tensor<10x6xf32>) outs(%start : tensor<6x6xf32>) -> tensor<6x6xf32>
  %c0 = arith.constant 0 : index
  %empty = tensor.empty() : tensor<10x6xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<10x6xf32>) outs(%empty : tensor<10x6xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = linalg.index 0 : index
    %k = tensor.extract %n[%r, %c0] : tensor<10x1xi32>
    %i = arith.index_cast %k : i32 to index
    %w = tensor.extract %t[%i, %c0] : tensor<11x6xf32>
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<10x6xf32>
  return %y, %m, %g, %q, %e : tensor<10x6xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<10x1xi32>, tensor<10x6xf32>
}

// The table is larger than what is looked up, and stays where it is.
func.func private @find(%u: tensor<1001x8xf32>, %j: tensor<2x1xi32>) -> tensor<2x8xf32> {
  %v = tensor.gather %u[%j] gather_dims([0]) : (tensor<1001x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
  return %v : tensor<2x8xf32>
}

!x = !pw.array<10x6xf32, @s, [{"d"}, {}]>
!n = !pw.array<10x1xi32, @s, [{"d"}, {}]>
!t = !pw.array<11x6xf32, @s, [{}, {}]>
!m = !pw.array<6xf32, @s, [{}]>
!g = !pw.array<6x6xf32, @s, [{"d"}, {}]>
!u = !pw.array<1001x8xf32, @s, [{"d"}, {}]>
!j = !pw.array<2x1xi32, @s, [{}, {}]>
!v = !pw.array<2x8xf32, @s, [{}, {}]>
pw.program @p(%x: !x, %n: !n, %t: !t, %u: !u, %j: !j)
    -> (!x {pw.name = "y"}, !m {pw.name = "m"}, !g {pw.name = "g"}, !n {pw.name = "q"}, !x {pw.name = "e"}, !v {pw.name = "v"}) {
  %0:5 = pw.call @rows(%x, %n, %t) : (!x, !n, !t) -> (!x, !m, !g, !n, !x)
  %1 = pw.call @find(%u, %j) : (!u, !j) -> !v
  pw.return %0#0, %0#1, %0#2, %0#3, %0#4, %1 : !x, !m, !g, !n, !x, !v
}
