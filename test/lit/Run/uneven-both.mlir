// Rows and columns are cut into blocks that are not equal, so that a shard may
// have padding in both, in one or in none: nobody divides by any of it, in an
// operation on arrays and in a body, nor adds it up, on either side of the sum.

// RUN: %python %S/Inputs/npy.py %t.x.npy '<i4' 5x7 1 2 3 4 5 6 7  8 9 10 11 12 13 14  15 16 17 18 19 20 21  22 23 24 25 26 27 28  29 30 31 32 33 34 35
// DEFINE: %{in} = --input=x=@%t.x.npy
// RUN: pw-run %s --topology=1x1x1 --mesh=s:r=1,c=1 %{in} --output=q=@%t.q.npy --output=m=@%t.m.npy --output=n=@%t.n.npy --output=k=@%t.k.npy
// DEFINE: %{same} = --expected=q=@%t.q.npy --expected=m=@%t.m.npy --expected=n=@%t.n.npy --expected=k=@%t.k.npy
// RUN: pw-run %s --topology=1x2x2 %{in} %{same}
// RUN: pw-run %s --topology=1x2x3 --mesh=s:r=2,c=3 %{in} %{same}
// RUN: pw-run %s --topology=1x2x3 --mesh=s:r=3,c=2 %{in} %{same}

pw.slice @s mesh <"r" = 2, "c" = 2>
func.func private @f(%x: tensor<5x7xi32>) -> (tensor<5x7xi32>, tensor<5x7xi32>, tensor<i32>, tensor<5xi32>) {
  %sixty = arith.constant dense<60> : tensor<5x7xi32>
  %q = arith.divsi %sixty, %x : tensor<5x7xi32>
  %e = tensor.empty() : tensor<5x7xi32>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x7xi32>) outs(%e : tensor<5x7xi32>) {
  ^bb0(%v: i32, %o: i32):
    %c = arith.constant 100 : i32
    %r = arith.remui %c, %v : i32
    linalg.yield %r : i32
  } -> tensor<5x7xi32>
  %one = arith.constant dense<1> : tensor<5x7xi32>
  %y = arith.addi %q, %one : tensor<5x7xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %n = linalg.reduce { arith.addi } ins(%y : tensor<5x7xi32>) outs(%zero : tensor<i32>) dimensions = [0, 1]
  %start = arith.constant dense<7> : tensor<5xi32>
  %k = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<5x7xi32>) outs(%start : tensor<5xi32>) {
  ^bb0(%v: i32, %sum: i32):
    %t = arith.addi %v, %sum : i32
    linalg.yield %t : i32
  } -> tensor<5xi32>
  return %q, %m, %n, %k : tensor<5x7xi32>, tensor<5x7xi32>, tensor<i32>, tensor<5xi32>
}
!x = !pw.array<5x7xi32, @s, [{"r"}, {"c"}]>
!n = !pw.array<i32, @s, []>
!k = !pw.array<5xi32, @s, [{"r"}]>
pw.program @p(%x: !x) -> (!x {pw.name = "q"}, !x {pw.name = "m"}, !n {pw.name = "n"}, !k {pw.name = "k"}) {
  %0:4 = pw.call @f(%x) : (!x) -> (!x, !x, !n, !k)
  pw.return %0#0, %0#1, %0#2, %0#3 : !x, !x, !n, !k
}
