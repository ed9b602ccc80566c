// Regions that are written for one shard along some axes give the results of the
// same computation on whole arrays: over other axes of any size, in loops, in
// branches, and inside of each other.
// DEFINE: %{run} = pw-run %s --program=p
// RUN: %{run} --topology=1x1x4 --input=seed=1 | FileCheck %s
// RUN: %{run} --topology=1x1x4 --input=seed=-1 | FileCheck %s
// RUN: %{run} --topology=1x1x2 --mesh=s:y=1 --input=seed=1 | FileCheck %s
// RUN: %{run} --topology=1x2x4 --mesh=s:z=2 --input=seed=2 | FileCheck %s
// RUN: %{run} --topology=1x2x3 --mesh=s:y=3 --input=seed=-2 | FileCheck %s
// RUN: %{run} --topology=1x1x4 --world=sim --input=seed=1 | FileCheck %s
// CHECK: sum: i32 = {{.*}}
// CHECK: [SUCCESS] 1 step, 7 checks

pw.slice @s mesh <"x" = 2, "y" = 2, "z" = 1>

#rows = affine_map<(i, j) -> (i, j)>
func.func private @data(%seed: tensor<i32>) -> tensor<8x6xi32> {
  %s = tensor.extract %seed[] : tensor<i32>
  %e = tensor.empty() : tensor<8x6xi32>
  %x = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x6xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %six = arith.constant 6 : index
    %k = arith.muli %i, %six : index
    %n = arith.addi %k, %j : index
    %v = arith.index_cast %n : index to i32
    %w = arith.muli %v, %s : i32
    linalg.yield %w : i32
  } -> tensor<8x6xi32>
  return %x : tensor<8x6xi32>
}
func.func private @swapped(%x: tensor<8x6xi32>) -> tensor<8x6xi32> {
  %low = tensor.extract_slice %x[0, 0] [4, 6] [1, 1] : tensor<8x6xi32> to tensor<4x6xi32>
  %high = tensor.extract_slice %x[4, 0] [4, 6] [1, 1] : tensor<8x6xi32> to tensor<4x6xi32>
  %0 = tensor.concat dim(0) %high, %low : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<8x6xi32>
  return %0 : tensor<8x6xi32>
}
func.func private @product(%a: tensor<4x6xi32>, %w: tensor<6x8xi32>) -> tensor<4x8xi32> {
  %zero = arith.constant dense<0> : tensor<4x8xi32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x6xi32>, tensor<6x8xi32>) outs(%zero : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
func.func private @transposed(%x: tensor<8x6xi32>) -> tensor<6x8xi32> {
  %e = tensor.empty() : tensor<6x8xi32>
  %0 = linalg.transpose ins(%x : tensor<8x6xi32>) outs(%e : tensor<6x8xi32>) permutation = [1, 0]
  return %0 : tensor<6x8xi32>
}

// On whole arrays.
func.func private @whole(%seed: tensor<i32>) -> (tensor<4x8xi32>, tensor<8x6xi32>, tensor<8x6xi32>, tensor<8x6xi32>, tensor<8xi32>, tensor<8x6xi32>, tensor<8x6xi32>) {
  %x = func.call @data(%seed) : (tensor<i32>) -> tensor<8x6xi32>
  %w = func.call @transposed(%x) : (tensor<8x6xi32>) -> tensor<6x8xi32>
  %low = tensor.extract_slice %x[0, 0] [4, 6] [1, 1] : tensor<8x6xi32> to tensor<4x6xi32>
  %high = tensor.extract_slice %x[4, 0] [4, 6] [1, 1] : tensor<8x6xi32> to tensor<4x6xi32>
  %p = func.call @product(%low, %w) : (tensor<4x6xi32>, tensor<6x8xi32>) -> tensor<4x8xi32>
  %q = func.call @product(%high, %w) : (tensor<4x6xi32>, tensor<6x8xi32>) -> tensor<4x8xi32>
  %sum = arith.addi %p, %q : tensor<4x8xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %loop = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<8x6xi32> {
    %other = func.call @swapped(%v) : (tensor<8x6xi32>) -> tensor<8x6xi32>
    %two = arith.constant dense<2> : tensor<8x6xi32>
    %twice = arith.muli %v, %two : tensor<8x6xi32>
    %next = arith.addi %twice, %other : tensor<8x6xi32>
    scf.yield %next : tensor<8x6xi32>
  }
  %s = tensor.extract %seed[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %is = arith.cmpi sgt, %s, %zero : i32
  %swapped = func.call @swapped(%x) : (tensor<8x6xi32>) -> tensor<8x6xi32>
  %branch = arith.select %is, %swapped, %x : tensor<8x6xi32>
  %three = arith.constant dense<3> : tensor<8x6xi32>
  %thrice = arith.muli %x, %three : tensor<8x6xi32>
  %index = arith.index_cast %s : i32 to index
  %is1 = arith.cmpi eq, %index, %c1 : index
  %c2 = arith.constant 2 : index
  %is2 = arith.cmpi eq, %index, %c2 : index
  %else = arith.select %is2, %thrice, %x : tensor<8x6xi32>
  %switch = arith.select %is1, %swapped, %else : tensor<8x6xi32>
  %numbers = arith.constant dense<[0, 0, 0, 0, 1, 1, 1, 1]> : tensor<8xi32>
  %padded = arith.addi %swapped, %three : tensor<8x6xi32>
  return %sum, %loop, %branch, %switch, %numbers, %padded, %thrice
      : tensor<4x8xi32>, tensor<8x6xi32>, tensor<8x6xi32>, tensor<8x6xi32>, tensor<8xi32>, tensor<8x6xi32>, tensor<8x6xi32>
}

// The same on parts along "x".
func.func private @parts(%seed: tensor<i32>) -> (tensor<4x8xi32>, tensor<8x6xi32>, tensor<8x6xi32>, tensor<8x6xi32>, tensor<8xi32>, tensor<8x6xi32>, tensor<8x6xi32>) {
  %x0 = func.call @data(%seed) : (tensor<i32>) -> tensor<8x6xi32>
  %x = pw.constrain %x0 [{"x"}, {?}] : tensor<8x6xi32>
  %w0 = func.call @transposed(%x) : (tensor<8x6xi32>) -> tensor<6x8xi32>
  %w = pw.constrain %w0 [{}, {"y"}] : tensor<6x8xi32>
  %sum = pw.manual(%x, %w) over ["x"] in [[{"x"}, {}], [{?}, {?}]] out [[{?}, {?}]] (%a: tensor<4x6xi32>, %b: tensor<6x8xi32>) {
    %p = func.call @product(%a, %b) : (tensor<4x6xi32>, tensor<6x8xi32>) -> tensor<4x8xi32>
    %r = pw.all_reduce %p add over ["x"] : tensor<4x8xi32>
    pw.yield %r : tensor<4x8xi32>
  } : (tensor<8x6xi32>, tensor<6x8xi32>) -> tensor<4x8xi32>

  // In a loop: what it carries is cut over two axes.
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %start = pw.constrain %x [{"x"}, {"y"}] : tensor<8x6xi32>
  %loop = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %start) -> tensor<8x6xi32> {
    %two = arith.constant dense<2> : tensor<8x6xi32>
    %twice = arith.muli %v, %two : tensor<8x6xi32>
    %other = pw.manual(%v) over ["x"] in [[{"x"}, {?}]] out [[{"x"}, {?}]] (%a: tensor<4x6xi32>) {
      %r = pw.permute %a shift 1 over ["x"] wrap : tensor<4x6xi32>
      pw.yield %r : tensor<4x6xi32>
    } : (tensor<8x6xi32>) -> tensor<8x6xi32>
    %next = arith.addi %twice, %other : tensor<8x6xi32>
    scf.yield %next : tensor<8x6xi32>
  }

  // In branches that depend on data.
  %s = tensor.extract %seed[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %is = arith.cmpi sgt, %s, %zero : i32
  %branch = scf.if %is -> tensor<8x6xi32> {
    %other = pw.manual(%x) over ["x"] in [[{"x"}, {?}]] out [[{"x"}, {?}]] (%a: tensor<4x6xi32>) {
      %r = pw.permute %a shift 1 over ["x"] wrap : tensor<4x6xi32>
      pw.yield %r : tensor<4x6xi32>
    } : (tensor<8x6xi32>) -> tensor<8x6xi32>
    scf.yield %other : tensor<8x6xi32>
  } else {
    scf.yield %x : tensor<8x6xi32>
  }
  %index = arith.index_cast %s : i32 to index
  %switch = scf.index_switch %index -> tensor<8x6xi32>
  case 1 {
    %other = pw.manual(%x) over ["x"] in [[{"x"}, {?}]] out [[{"x"}, {?}]] (%a: tensor<4x6xi32>) {
      %r = pw.permute %a shift 1 over ["x"] wrap : tensor<4x6xi32>
      pw.yield %r : tensor<4x6xi32>
    } : (tensor<8x6xi32>) -> tensor<8x6xi32>
    scf.yield %other : tensor<8x6xi32>
  }
  case 2 {
    %three = arith.constant dense<3> : tensor<8x6xi32>
    %thrice = arith.muli %x, %three : tensor<8x6xi32>
    scf.yield %thrice : tensor<8x6xi32>
  }
  default {
    scf.yield %x : tensor<8x6xi32>
  }

  // Inside of each other: the inner region has one shard's index on each axis.
  %numbers = pw.manual() over ["x"] in [] out [[{"x"}]] () {
    %n = pw.manual() over ["y", "z"] in [] out [[]] () {
      %i = pw.shard_index "x" : index
      %j = pw.shard_index "y" : index
      %ten = arith.constant 10 : index
      %k = arith.muli %i, %ten : index
      %both = arith.addi %k, %j : index
      %only = arith.divui %both, %ten : index
      %v = arith.index_cast %only : index to i32
      %t = tensor.from_elements %v : tensor<i32>
      pw.yield %t : tensor<i32>
    } : () -> tensor<i32>
    %e = tensor.empty() : tensor<4xi32>
    %b = linalg.broadcast ins(%n : tensor<i32>) outs(%e : tensor<4xi32>) dimensions = [0]
    pw.yield %b : tensor<4xi32>
  } : () -> tensor<8xi32>

  // Blocks over other axes that are not equal, in a dimension of their own.
  %padded = pw.manual(%x) over ["x"] in [[{"x"}, {"y", "z"}]] out [[{"x"}, {"z"}]] (%a: tensor<4x6xi32>) {
    %other = pw.permute %a shift -1 over ["x"] wrap : tensor<4x6xi32>
    %three = arith.constant dense<3> : tensor<4x6xi32>
    %r = arith.addi %other, %three : tensor<4x6xi32>
    pw.yield %r : tensor<4x6xi32>
  } : (tensor<8x6xi32>) -> tensor<8x6xi32>

  // Shards with different values: each multiplies by its share.
  %shared = pw.manual(%x) over ["x"] in [[{?}, {?}]] out [[{?}, {?}]] (%a: tensor<8x6xi32>) {
    %i = pw.shard_index "x" : index
    %v = arith.index_cast %i : index to i32
    %one = arith.constant 1 : i32
    %share = arith.addi %v, %one : i32
    %e = tensor.empty() : tensor<8x6xi32>
    %f = linalg.fill ins(%share : i32) outs(%e : tensor<8x6xi32>) -> tensor<8x6xi32>
    %m = arith.muli %a, %f : tensor<8x6xi32>
    %r = pw.all_reduce %m add over ["x"] : tensor<8x6xi32>
    pw.yield %r : tensor<8x6xi32>
  } : (tensor<8x6xi32>) -> tensor<8x6xi32>
  return %sum, %loop, %branch, %switch, %numbers, %padded, %shared
      : tensor<4x8xi32>, tensor<8x6xi32>, tensor<8x6xi32>, tensor<8x6xi32>, tensor<8xi32>, tensor<8x6xi32>, tensor<8x6xi32>
}

func.func private @total(%x: tensor<8x6xi32>) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %0 = linalg.reduce { arith.addi } ins(%x : tensor<8x6xi32>) outs(%zero : tensor<i32>) dimensions = [0, 1]
  return %0 : tensor<i32>
}

!seed = !pw.array<i32, @s, []>
!p = !pw.array<4x8xi32, @s, [{}, {}]>
!x = !pw.array<8x6xi32, @s, [{}, {}]>
!n = !pw.array<8xi32, @s, [{}]>
pw.program @p(%seed: !seed)
    -> (!seed {pw.name = "sum"},
        !p {pw.name = "w0"}, !x {pw.name = "w1"}, !x {pw.name = "w2"}, !x {pw.name = "w3"}, !n {pw.name = "w4"}, !x {pw.name = "w5"}, !x {pw.name = "w6"},
        !p {pw.name = "p0", pw.expect = #pw.expect<eq, result 1>}, !x {pw.name = "p1", pw.expect = #pw.expect<eq, result 2>},
        !x {pw.name = "p2", pw.expect = #pw.expect<eq, result 3>}, !x {pw.name = "p3", pw.expect = #pw.expect<eq, result 4>},
        !n {pw.name = "p4", pw.expect = #pw.expect<eq, result 5>}, !x {pw.name = "p5", pw.expect = #pw.expect<eq, result 6>},
        !x {pw.name = "p6", pw.expect = #pw.expect<eq, result 7>}) {
  %w:7 = pw.call @whole(%seed) : (!seed) -> (!p, !x, !x, !x, !n, !x, !x)
  %p:7 = pw.call @parts(%seed) : (!seed) -> (!p, !x, !x, !x, !n, !x, !x)
  %t = pw.call @total(%p#1) : (!x) -> !seed
  pw.return %t, %w#0, %w#1, %w#2, %w#3, %w#4, %w#5, %w#6, %p#0, %p#1, %p#2, %p#3, %p#4, %p#5, %p#6
      : !seed, !p, !x, !x, !x, !n, !x, !x, !p, !x, !x, !x, !n, !x, !x
}
