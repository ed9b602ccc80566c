// RUN: pw-opt %s -split-input-file -pw-propagate-shardings -verify-diagnostics | FileCheck %s

// Forward and backward, through a chain of calls: rows from %x, the inner
// dimension from the columns of the first matrix.
#mm = affine_map<(m, n, k) -> (m, k)>
pw.slice @s mesh <"data" = 2, "model" = 4>
func.func private @product(%x: tensor<64x256xf32>, %w: tensor<256x256xf32>) -> tensor<64x256xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x256xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x256xf32>, tensor<256x256xf32>) outs(%zero : tensor<64x256xf32>) -> tensor<64x256xf32>
  %1 = arith.maximumf %0, %zero : tensor<64x256xf32>
  return %1 : tensor<64x256xf32>
}
// CHECK-LABEL: pw.program @chain
// CHECK-SAME: %x: !pw.array<64x256xf32, @s, [{"data"}, {}]>
// CHECK-SAME: %v: !pw.array<256x256xf32, @s, [{}, {"model"}]>
// CHECK-SAME: %w: !pw.array<256x256xf32, @s, [{"model"}, {}]>
// CHECK-SAME: -> !pw.array<64x256xf32, @s, [{"data"}, {}]>
// CHECK: pw.call @product(%x, %v) : {{.*}} -> !pw.array<64x256xf32, @s, [{"data"}, {"model"}]>
// CHECK: pw.call @product(%0, %w) : {{.*}} -> !pw.array<64x256xf32, @s, [{"data"}, {}]>
pw.program @chain(%x: !pw.array<64x256xf32, @s, [{"data"}, {}]>, %v: !pw.array<256x256xf32, @s, [{}, {"model"}]>, %w: !pw.array<256x256xf32, @s>) -> !pw.array<64x256xf32, @s> {
  %0 = pw.call @product(%x, %v) : (!pw.array<64x256xf32, @s, [{"data"}, {}]>, !pw.array<256x256xf32, @s, [{}, {"model"}]>) -> !pw.array<64x256xf32, @s>
  %1 = pw.call @product(%0, %w) : (!pw.array<64x256xf32, @s>, !pw.array<256x256xf32, @s>) -> !pw.array<64x256xf32, @s>
  pw.return %1 : !pw.array<64x256xf32, @s>
}

// -----

// What is carried and what it becomes are cut alike, and so are both sides of a
// reshard, by the axes that the other slice has too.
pw.slice @s mesh <"x" = 2>
pw.slice @t mesh <"x" = 4, "y" = 2>
func.func private @add(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: pw.program @carried
// CHECK-SAME: %x: !pw.array<8xf32, @s, [{"x"}]>
// CHECK-SAME: %y: !pw.array<8xf32, @s, [{"x"}]> {pw.carried = 0 : i64}
// CHECK-SAME: -> (!pw.array<8xf32, @s, [{"x"}]>, !pw.array<8xf32, @t, [{"x"}]>)
pw.program @carried(%x: !pw.array<8xf32, @s>, %y: !pw.array<8xf32, @s> {pw.carried = 0 : i64}) -> (!pw.array<8xf32, @s>, !pw.array<8xf32, @t, [{"x"}]>) {
  %0 = pw.call @add(%x, %y) : (!pw.array<8xf32, @s>, !pw.array<8xf32, @s>) -> !pw.array<8xf32, @s>
  %1 = pw.reshard %y : !pw.array<8xf32, @s> -> !pw.array<8xf32, @t, [{"x"}]>
  pw.return %0, %1 : !pw.array<8xf32, @s>, !pw.array<8xf32, @t, [{"x"}]>
}

// -----

// A constraint in the middle of a body; a dimension without `?` stays, an open one
// gets more behind its own, and none that would leave a device without elements.
pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @f(%a: tensor<8x6xf32>, %b: tensor<8x6xf32>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = arith.addf %a, %b : tensor<8x6xf32>
  %1 = pw.constrain %0 [{"x", "y"}, {}] : tensor<8x6xf32>
  %2 = arith.mulf %1, %c : tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}
func.func private @g(%a: tensor<6xf32>, %b: tensor<7xf32>) -> (tensor<6xf32>, tensor<7xf32>) {
  %0 = pw.constrain %a [{"x", "y"}] : tensor<6xf32>
  %1 = pw.constrain %b [{"x", "y"}] : tensor<7xf32>
  return %0, %1 : tensor<6xf32>, tensor<7xf32>
}
// CHECK-LABEL: pw.program @constrained
// CHECK-SAME: %a: !pw.array<8x6xf32, @s, [{"x"}, {}]>
// CHECK-SAME: %b: !pw.array<8x6xf32, @s, [{"x", "y"}, {}]>
// CHECK-SAME: %c: !pw.array<8x6xf32, @s, [{"x", "y"}, {}]>
// CHECK-SAME: %d: !pw.array<6xf32, @s, [{}]>
// CHECK-SAME: %e: !pw.array<7xf32, @s, [{"x", "y"}]>
pw.program @constrained(%a: !pw.array<8x6xf32, @s, [{"x"}, {}]>, %b: !pw.array<8x6xf32, @s, [{"x", ?}, {}]>, %c: !pw.array<8x6xf32, @s>, %d: !pw.array<6xf32, @s>, %e: !pw.array<7xf32, @s>) -> (!pw.array<8x6xf32, @s>, !pw.array<6xf32, @s>, !pw.array<7xf32, @s>) {
  %0 = pw.call @f(%a, %b, %c) : (!pw.array<8x6xf32, @s, [{"x"}, {}]>, !pw.array<8x6xf32, @s, [{"x", ?}, {}]>, !pw.array<8x6xf32, @s>) -> !pw.array<8x6xf32, @s>
  %1:2 = pw.call @g(%d, %e) : (!pw.array<6xf32, @s>, !pw.array<7xf32, @s>) -> (!pw.array<6xf32, @s>, !pw.array<7xf32, @s>)
  pw.return %0, %1#0, %1#1 : !pw.array<8x6xf32, @s>, !pw.array<6xf32, @s>, !pw.array<7xf32, @s>
}

// -----

// Where two sides disagree, the larger one is followed.
pw.slice @s mesh <"x" = 2>
func.func private @outer(%a: tensor<64xf32>, %b: tensor<4xf32>) -> tensor<64x4xf32> {
  %e = tensor.empty() : tensor<64x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<64xf32>, tensor<4xf32>) outs(%e : tensor<64x4xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %m = arith.mulf %p, %q : f32
    linalg.yield %m : f32
  } -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}
// CHECK-LABEL: pw.program @larger
// CHECK-SAME: -> !pw.array<64x4xf32, @s, [{"x"}, {}]>
pw.program @larger(%a: !pw.array<64xf32, @s, [{"x"}]>, %b: !pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<64x4xf32, @s> {
  %0 = pw.call @outer(%a, %b) : (!pw.array<64xf32, @s, [{"x"}]>, !pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<64x4xf32, @s>
  pw.return %0 : !pw.array<64x4xf32, @s>
}

// -----

// Loops and branches pass on what they carry.
pw.slice @s mesh <"x" = 2>
func.func private @loop(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<8x4xf32> {
    %1 = arith.mulf %a, %y : tensor<8x4xf32>
    scf.yield %1 : tensor<8x4xf32>
  }
  return %0 : tensor<8x4xf32>
}
// CHECK-LABEL: pw.program @loops
// CHECK-SAME: %y: !pw.array<8x4xf32, @s, [{"x"}, {}]>) -> !pw.array<8x4xf32, @s, [{"x"}, {}]>
pw.program @loops(%x: !pw.array<8x4xf32, @s, [{"x"}, {}]>, %y: !pw.array<8x4xf32, @s>) -> !pw.array<8x4xf32, @s> {
  %0 = pw.call @loop(%x, %y) : (!pw.array<8x4xf32, @s, [{"x"}, {}]>, !pw.array<8x4xf32, @s>) -> !pw.array<8x4xf32, @s>
  pw.return %0 : !pw.array<8x4xf32, @s>
}

// -----

// Nothing is written: nothing is cut, which is said once.
// expected-remark@+1 {{no sharding cuts the arrays on slice 's', so each of its 2 devices computes everything}}
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }
// CHECK-LABEL: pw.program @plain
// CHECK-SAME: (%x: !pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]>
pw.program @plain(%x: !pw.array<8xf32, @s>) -> !pw.array<8xf32, @s> {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s>) -> !pw.array<8xf32, @s>
  pw.return %0 : !pw.array<8xf32, @s>
}

// -----

// A loop of the program cuts what it carries alike, and what it takes and stacks like
// what an iteration has of it; the leading dimension is not cut.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.addf %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: pw.program @for
// CHECK-SAME: (%x: !pw.array<8xf32, @s, [{"x"}]>, %ys: !pw.array<2x8xf32, @s, [{}, {"x"}]>) -> (!pw.array<8xf32, @s, [{"x"}]>, !pw.array<2x8xf32, @s, [{}, {"x"}]>)
pw.program @for(%x: !pw.array<8xf32, @s, [{"x"}]>, %ys: !pw.array<2x8xf32, @s>)
    -> (!pw.array<8xf32, @s>, !pw.array<2x8xf32, @s>) {
  // CHECK: pw.reshard %x : !pw.array<8xf32, @s, [{"x"}]> -> !pw.array<8xf32, @s, [{"x"}]>
  %z = pw.reshard %x : !pw.array<8xf32, @s, [{"x"}]> -> !pw.array<8xf32, @s>
  // CHECK: pw.for 2 (%{{.*}} = %{{.*}} carried : !pw.array<8xf32, @s, [{"x"}]>, %{{.*}} = %ys stepped : !pw.array<2x8xf32, @s, [{}, {"x"}]> -> !pw.array<8xf32, @s, [{"x"}]>) -> (!pw.array<8xf32, @s, [{"x"}]> carried, !pw.array<2x8xf32, @s, [{}, {"x"}]> stepped)
  %0, %1 = pw.for 2 (%a = %z carried : !pw.array<8xf32, @s>, %y = %ys stepped : !pw.array<2x8xf32, @s> -> !pw.array<8xf32, @s>)
      -> (!pw.array<8xf32, @s> carried, !pw.array<2x8xf32, @s> stepped) {
    %b = pw.call @f(%a, %y) : (!pw.array<8xf32, @s>, !pw.array<8xf32, @s>) -> !pw.array<8xf32, @s>
    pw.yield %b, %y : !pw.array<8xf32, @s>, !pw.array<8xf32, @s>
  }
  pw.return %0, %1 : !pw.array<8xf32, @s>, !pw.array<2x8xf32, @s>
}
