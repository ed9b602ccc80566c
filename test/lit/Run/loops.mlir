// Loops give the bits of the same calls written one by one: nested loops, arrays that
// iterations take and stack from either end, carried and captured arrays, slices of
// several devices, padding, contributions and open dimensions.

// RUN: pw-run %s --program=layers --topology=1x1x5 --input=x=random:1 --input=w=random:2 --input=g=random:3 | FileCheck %s --check-prefix=LAYERS
// RUN: pw-run %s --program=layers --topology=2x1x5 --world=sim --input=x=random:1 --input=w=random:2 --input=g=random:3 --steps=3 | FileCheck %s --check-prefix=LAYERS
// RUN: pw-run %s --program=layers --topology=1x5x1 --processes --input=x=random:1 --input=w=random:2 --input=g=random:3 | FileCheck %s --check-prefix=LAYERS
// LAYERS: [SUCCESS] {{.*}}, 1 check
// RUN: pw-run %s --program=batches --topology=1x1x5 --input=x=random:4 --input=w=random:5 | FileCheck %s --check-prefix=BATCHES
// RUN: pw-run %s --program=batches --topology=2x1x4 --oversubscribe --world=sim --input=x=random:4 --input=w=random:5 | FileCheck %s --check-prefix=BATCHES
// BATCHES: [SUCCESS] {{.*}}, 1 check
// RUN: pw-run %s --program=numbers --topology=1x1x5 --steps=2 --input=a=0 --expected=b=4321

pw.slice @s mesh <"d" = 2, "m" = 2>
pw.slice @t mesh <"d" = 1>

//===----------------------------------------------------------------------===//
// A scan over layers, and back
//===----------------------------------------------------------------------===//

!act = !pw.array<6x5xf32, @s>
!acts = !pw.array<3x6x5xf32, @s>
!weight = !pw.array<5x5xf32, @s, [{?}, {"m", ?}]>
!weights = !pw.array<3x5x5xf32, @s, [{}, {?}, {"m", ?}]>

func.func private @forward(%x: tensor<6x5xf32>, %w: tensor<5x5xf32>) -> tensor<6x5xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %y = linalg.matmul ins(%x, %w : tensor<6x5xf32>, tensor<5x5xf32>) outs(%f : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}
func.func private @backward(%g: tensor<6x5xf32>, %x: tensor<6x5xf32>, %w: tensor<5x5xf32>)
    -> (tensor<6x5xf32>, tensor<5x5xf32>) {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %wte = tensor.empty() : tensor<5x5xf32>
  %wt = linalg.transpose ins(%w : tensor<5x5xf32>) outs(%wte : tensor<5x5xf32>) permutation = [1, 0]
  %dx = linalg.matmul ins(%g, %wt : tensor<6x5xf32>, tensor<5x5xf32>) outs(%f : tensor<6x5xf32>) -> tensor<6x5xf32>
  %xte = tensor.empty() : tensor<5x6xf32>
  %xt = linalg.transpose ins(%x : tensor<6x5xf32>) outs(%xte : tensor<5x6xf32>) permutation = [1, 0]
  %we = tensor.empty() : tensor<5x5xf32>
  %wf = linalg.fill ins(%c0 : f32) outs(%we : tensor<5x5xf32>) -> tensor<5x5xf32>
  %dw = linalg.matmul ins(%xt, %g : tensor<5x6xf32>, tensor<6x5xf32>) outs(%wf : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %dx, %dw : tensor<6x5xf32>, tensor<5x5xf32>
}
func.func private @split(%w: tensor<3x5x5xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) {
  %0 = tensor.extract_slice %w[0, 0, 0] [1, 5, 5] [1, 1, 1] : tensor<3x5x5xf32> to tensor<5x5xf32>
  %1 = tensor.extract_slice %w[1, 0, 0] [1, 5, 5] [1, 1, 1] : tensor<3x5x5xf32> to tensor<5x5xf32>
  %2 = tensor.extract_slice %w[2, 0, 0] [1, 5, 5] [1, 1, 1] : tensor<3x5x5xf32> to tensor<5x5xf32>
  return %0, %1, %2 : tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>
}
func.func private @stack(%0: tensor<5x5xf32>, %1: tensor<5x5xf32>, %2: tensor<5x5xf32>) -> tensor<3x5x5xf32> {
  %e = tensor.empty() : tensor<3x5x5xf32>
  %a = tensor.insert_slice %0 into %e[0, 0, 0] [1, 5, 5] [1, 1, 1] : tensor<5x5xf32> into tensor<3x5x5xf32>
  %b = tensor.insert_slice %1 into %a[1, 0, 0] [1, 5, 5] [1, 1, 1] : tensor<5x5xf32> into tensor<3x5x5xf32>
  %c = tensor.insert_slice %2 into %b[2, 0, 0] [1, 5, 5] [1, 1, 1] : tensor<5x5xf32> into tensor<3x5x5xf32>
  return %c : tensor<3x5x5xf32>
}

pw.program @layers(%x: !pw.array<6x5xf32, @s, [{"d"}, {}]>, %w: !weights, %g: !act)
    -> (!acts {pw.name = "xs"}, !weights {pw.name = "dw"},
        !weights {pw.name = "dw_expected", pw.expect = #pw.expect<eq, result 1>}) {
  %first = pw.reshard %x : !pw.array<6x5xf32, @s, [{"d"}, {}]> -> !act
  %y, %xs = pw.for 3 (%a = %first carried : !act, %v = %w stepped : !weights -> !weight)
      -> (!act carried, !acts stepped) {
    %b = pw.call @forward(%a, %v) label "0F" : (!act, !weight) -> !act
    pw.yield %b, %a : !act, !act
  }
  %dx, %dw = pw.for 3 (%d = %g carried : !act, %a = %xs stepped reversed : !acts -> !act,
                       %v = %w stepped reversed : !weights -> !weight)
      -> (!act carried, !weights stepped reversed) {
    %e, %dv = pw.call @backward(%d, %a, %v) donate(%d) : (!act, !act, !weight) -> (!act, !weight)
    pw.yield %e, %dv : !act, !weight
  }
  %w0, %w1, %w2 = pw.call @split(%w) : (!weights) -> (!weight, !weight, !weight)
  %x1 = pw.call @forward(%first, %w0) : (!act, !weight) -> !act
  %x2 = pw.call @forward(%x1, %w1) : (!act, !weight) -> !act
  %d2, %dw2 = pw.call @backward(%g, %x2, %w2) : (!act, !act, !weight) -> (!act, !weight)
  %d1, %dw1 = pw.call @backward(%d2, %x1, %w1) : (!act, !act, !weight) -> (!act, !weight)
  %d0, %dw0 = pw.call @backward(%d1, %first, %w0) : (!act, !act, !weight) -> (!act, !weight)
  %expected = pw.call @stack(%dw0, %dw1, %dw2) : (!weight, !weight, !weight) -> !weights
  pw.return %xs, %dw, %expected : !acts, !weights, !weights
}

//===----------------------------------------------------------------------===//
// Micro-batches over two slices, with contributions that are summed in the end
//===----------------------------------------------------------------------===//

!batch = !pw.array<7xf32, @s, [{"d"}]>
!batches = !pw.array<2x2x7xf32, @s, [{}, {}, {"d"}]>
!pairs = !pw.array<2x7xf32, @s, [{}, {"d"}]>
!bias = !pw.array<7xf32, @t, [{}]>
!back = !pw.array<7xf32, @t, [{}]>
!sum = !pw.array<7xf32, @s, [{}] partial add {"d"}>

func.func private @scale(%x: tensor<7xf32>) -> tensor<7xf32> {
  %c = arith.constant dense<3.0> : tensor<7xf32>
  %0 = arith.mulf %x, %c : tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func private @bias(%x: tensor<7xf32>, %w: tensor<7xf32>) -> tensor<7xf32> {
  %0 = arith.addf %x, %w : tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func private @add(%a: tensor<7xf32> {pw.accepts_partial}, %b: tensor<7xf32> {pw.accepts_partial})
    -> tensor<7xf32> attributes {pw.local_view, pw.pointwise} {
  %0 = arith.addf %a, %b : tensor<7xf32>
  return %0 : tensor<7xf32>
}
func.func private @halves(%x: tensor<2x2x7xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) {
  %0 = tensor.extract_slice %x[0, 0, 0] [1, 1, 7] [1, 1, 1] : tensor<2x2x7xf32> to tensor<7xf32>
  %1 = tensor.extract_slice %x[0, 1, 0] [1, 1, 7] [1, 1, 1] : tensor<2x2x7xf32> to tensor<7xf32>
  %2 = tensor.extract_slice %x[1, 0, 0] [1, 1, 7] [1, 1, 1] : tensor<2x2x7xf32> to tensor<7xf32>
  %3 = tensor.extract_slice %x[1, 1, 0] [1, 1, 7] [1, 1, 1] : tensor<2x2x7xf32> to tensor<7xf32>
  return %0, %1, %2, %3 : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}

pw.program @batches(%x: !batches, %w: !bias)
    -> (!bias {pw.name = "sum"}, !bias {pw.name = "sum_expected", pw.expect = #pw.expect<eq, result 0>}) {
  %start = pw.reshard %w : !bias -> !sum
  %p = pw.for 2 (%pair = %x stepped : !batches -> !pairs, %a = %start carried : !sum) -> (!sum carried) {
    %q = pw.for 2 label "pair" (%b = %pair stepped : !pairs -> !batch, %c = %a carried : !sum) -> (!sum carried) {
      %h = pw.call @scale(%b) : (!batch) -> !batch
      %hs = pw.reshard %h : !batch -> !bias
      %i = pw.call @bias(%hs, %w) : (!bias, !bias) -> !bias
      %is = pw.reshard %i : !bias -> !sum
      %d = pw.call @add(%c, %is) donate(%c) : (!sum, !sum) -> !sum
      pw.yield %d : !sum
    }
    pw.yield %q : !sum
  }
  %sum = pw.reshard %p : !sum -> !bias

  %b0, %b1, %b2, %b3 = pw.call @halves(%x) : (!batches) -> (!batch, !batch, !batch, !batch)
  %h0 = pw.call @scale(%b0) : (!batch) -> !batch
  %h1 = pw.call @scale(%b1) : (!batch) -> !batch
  %h2 = pw.call @scale(%b2) : (!batch) -> !batch
  %h3 = pw.call @scale(%b3) : (!batch) -> !batch
  %t0 = pw.reshard %h0 : !batch -> !bias
  %t1 = pw.reshard %h1 : !batch -> !bias
  %t2 = pw.reshard %h2 : !batch -> !bias
  %t3 = pw.reshard %h3 : !batch -> !bias
  %i0 = pw.call @bias(%t0, %w) : (!bias, !bias) -> !bias
  %i1 = pw.call @bias(%t1, %w) : (!bias, !bias) -> !bias
  %i2 = pw.call @bias(%t2, %w) : (!bias, !bias) -> !bias
  %i3 = pw.call @bias(%t3, %w) : (!bias, !bias) -> !bias
  %s1 = pw.call @bias(%w, %i0) : (!bias, !bias) -> !bias
  %s2 = pw.call @bias(%s1, %i1) : (!bias, !bias) -> !bias
  %s3 = pw.call @bias(%s2, %i2) : (!bias, !bias) -> !bias
  %s4 = pw.call @bias(%s3, %i3) : (!bias, !bias) -> !bias
  pw.return %sum, %s4 : !bias, !bias
}

//===----------------------------------------------------------------------===//
// Numbers of steps and iterations
//===----------------------------------------------------------------------===//

!n = !pw.array<i64, @s, []>
func.func private @digit(%a: tensor<i64>) -> tensor<i64> {
  %r = func.call @number() : () -> i64
  %t = tensor.from_elements %r : tensor<i64>
  %0 = arith.addi %a, %t : tensor<i64>
  return %0 : tensor<i64>
}
// Returns the number of the iteration plus 1, times 10 to the power of it, in step 1.
func.func private @number() -> i64 {
  %s = pw.step_index : index
  %i = pw.iteration_index : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1_i64 = arith.constant 1 : i64
  %c10_i64 = arith.constant 10 : i64
  %p = scf.for %k = %c0 to %i step %c1 iter_args(%q = %c1_i64) -> i64 {
    %m = arith.muli %q, %c10_i64 : i64
    scf.yield %m : i64
  }
  %n = arith.addi %i, %c1 : index
  %d = arith.index_cast %n : index to i64
  %v = arith.muli %p, %d : i64
  %si = arith.index_cast %s : index to i64
  %r = arith.muli %v, %si : i64
  return %r : i64
}
pw.program @numbers(%a: !n {pw.carried = 0 : i64}) -> (!n {pw.name = "b"}) {
  %r = pw.for 2 (%o = %a carried : !n) -> (!n carried) {
    // Two halves of the outer loop together add each number once.
    %i = pw.for 4 (%v = %o carried : !n) -> (!n carried) {
      %w = pw.call @digit(%v) donate(%v) : (!n) -> !n
      pw.yield %w : !n
    }
    %j = pw.call @halve(%i) : (!n) -> !n
    pw.yield %j : !n
  }
  pw.return %r : !n
}
// Subtracts in the second iteration what the first one added.
func.func private @halve(%a: tensor<i64>) -> tensor<i64> {
  %i = pw.iteration_index : index
  %c0 = arith.constant 0 : index
  %s = pw.step_index : index
  %isFirst = arith.cmpi eq, %i, %c0 : index
  %e = arith.constant 4321 : i64
  %zero = arith.constant 0 : i64
  %si = arith.index_cast %s : index to i64
  %es = arith.muli %e, %si : i64
  %by = arith.select %isFirst, %es, %zero : i64
  %t = tensor.from_elements %by : tensor<i64>
  %0 = arith.subi %a, %t : tensor<i64>
  return %0 : tensor<i64>
}
