// Contributions that come into a function and leave it.

// RUN: pw-opt %s -split-input-file -pw-partition | FileCheck %s

pw.slice @s mesh <"d" = 2>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
!acc = !pw.array<16x8xf32, @s, [{}, {}] partial add {"d"}>
!x = !pw.array<64x16xf32, @s, [{"d"}, {}]>
!dy = !pw.array<64x8xf32, @s, [{"d"}, {}]>
!whole = !pw.array<16x8xf32, @s, [{}, {}]>

// A gradient is added to what a shard has; so is what it is added to in place.
func.func private @add(%acc: tensor<16x8xf32>, %x: tensor<64x16xf32>, %dy: tensor<64x8xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %g = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%x, %dy : tensor<64x16xf32>, tensor<64x8xf32>)
      outs(%zero : tensor<16x8xf32>) -> tensor<16x8xf32>
  %sum = arith.addf %acc, %g : tensor<16x8xf32>
  %more = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%x, %dy : tensor<64x16xf32>, tensor<64x8xf32>)
      outs(%sum : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %more : tensor<16x8xf32>
}
// CHECK: func.func private @add_sharded(%[[ACC:.*]]: tensor<16x8xf32> {pw.accepts_partial}, %[[X:.*]]: tensor<32x16xf32>, %[[DY:.*]]: tensor<32x8xf32>) -> tensor<16x8xf32>
// CHECK-NOT: pw.all
// CHECK: %[[G:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[DY]] :
// CHECK: %[[S:.*]] = arith.addf %[[ACC]], %[[G]]
// CHECK: %[[M:.*]] = linalg.matmul {{.*}} outs(%[[S]] :
// CHECK-NEXT: return %[[M]]

// What is whole counts once, without communication.
func.func private @add_whole(%acc: tensor<16x8xf32>, %w: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %one = arith.constant dense<1.0> : tensor<16x8xf32>
  %a = arith.addf %acc, %w : tensor<16x8xf32>
  %b = arith.addf %a, %one : tensor<16x8xf32>
  return %b : tensor<16x8xf32>
}
// CHECK: func.func private @add_whole_sharded(%[[ACC:.*]]: tensor<16x8xf32> {pw.accepts_partial}, %[[W:.*]]: tensor<16x8xf32>)
// CHECK-NOT: pw.all
// CHECK: %[[C:.*]] = arith.select %{{.*}}, %[[W]], %
// CHECK: %[[A:.*]] = arith.addf %[[ACC]], %[[C]]
// CHECK: %[[ONE:.*]] = arith.select
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[ONE]]
// CHECK-NEXT: return %[[B]]

// Whoever needs the sum gets it: here a square.
func.func private @square(%acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %a = arith.mulf %acc, %acc : tensor<16x8xf32>
  return %a : tensor<16x8xf32>
}
// CHECK: func.func private @square_sharded
// CHECK: %[[R:.*]] = pw.all_reduce %{{.*}} add over ["d"]
// CHECK: arith.mulf %[[R]], %[[R]]
pw.program @sums(%acc: !acc, %x: !x, %dy: !dy, %w: !whole) -> (!acc, !acc, !acc) {
  %0 = pw.call @add(%acc, %x, %dy) : (!acc, !x, !dy) -> !acc
  %1 = pw.call @add_whole(%acc, %w) : (!acc, !whole) -> !acc
  %2 = pw.call @square(%acc) : (!acc) -> !acc
  pw.return %0, %1, %2 : !acc, !acc, !acc
}

// -----

// Other kinds, and other ones than asked for.
pw.slice @s mesh <"d" = 2>
!x = !pw.array<8x4xf32, @s, [{"d"}, {}]>
!max = !pw.array<4xf32, @s, [{}] partial max {"d"}>
!add = !pw.array<4xf32, @s, [{}] partial add {"d"}>
func.func private @most(%max: tensor<4xf32>, %x: tensor<8x4xf32>) -> tensor<4xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<8x4xf32>) outs(%low : tensor<4xf32>) dimensions = [0]
  %next = arith.maximumf %max, %m : tensor<4xf32>
  return %next : tensor<4xf32>
}
// CHECK: func.func private @most_sharded(%[[MAX:.*]]: tensor<4xf32> {pw.accepts_partial}, %[[X:.*]]: tensor<4x4xf32>)
// CHECK-NOT: pw.all
// CHECK: %[[M:.*]] = linalg.reduce { arith.maximumf } ins(%[[X]]
// CHECK: %[[NEXT:.*]] = arith.maximumf %[[MAX]], %[[M]]
// CHECK-NEXT: return %[[NEXT]]
// CHECK: func.func private @most_sharded_0(%[[ADD:.*]]: tensor<4xf32> {pw.accepts_partial}
// CHECK: pw.all_reduce %[[ADD]] add over ["d"]
pw.program @kinds(%max: !max, %add: !add, %x: !x) -> (!max, !max) {
  %0 = pw.call @most(%max, %x) : (!max, !x) -> !max
  %1 = pw.call @most(%add, %x) : (!add, !x) -> !max
  pw.return %0, %1 : !max, !max
}

// -----

// Contributions of unsigned numbers leave a function whose tensors have no sign.
pw.slice @s mesh <"d" = 2>
!x = !pw.array<8x4xui32, @s, [{"d"}, {}]>
!most = !pw.array<4xui32, @s, [{}] partial umax {"d"}>
func.func private @most(%max: tensor<4xi32>, %x: tensor<8x4xi32>) -> tensor<4xi32> {
  %low = arith.constant dense<0> : tensor<4xi32>
  %m = linalg.reduce { arith.maxui } ins(%x : tensor<8x4xi32>) outs(%low : tensor<4xi32>) dimensions = [0]
  %next = arith.maxui %max, %m : tensor<4xi32>
  return %next : tensor<4xi32>
}
// CHECK: func.func private @most_sharded(%[[MAX:.*]]: tensor<4xi32> {pw.accepts_partial}, %[[X:.*]]: tensor<4x4xi32>)
// CHECK-NOT: pw.all
// CHECK: %[[M:.*]] = linalg.reduce { arith.maxui } ins(%[[X]]
// CHECK: %[[NEXT:.*]] = arith.maxui %[[MAX]], %[[M]]
// CHECK-NEXT: return %[[NEXT]]
pw.program @unsigned(%max: !most, %x: !x) -> !most {
  %0 = pw.call @most(%max, %x) : (!most, !x) -> !most
  pw.return %0 : !most
}

// -----

// f16 is f32 inside where contributions are asked for, and rounded at the end.
pw.slice @s mesh <"d" = 2>
!x = !pw.array<8x4xf16, @s, [{"d"}, {}]>
!add = !pw.array<4xf16, @s, [{}] partial add {"d"}>
func.func private @half(%acc: tensor<4xf16>, %x: tensor<8x4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %zero = arith.constant dense<0.0> : tensor<4xf16>
  %g = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf16>) outs(%zero : tensor<4xf16>) dimensions = [0]
  %next = arith.addf %acc, %g : tensor<4xf16>
  %into = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf16>) outs(%acc : tensor<4xf16>) dimensions = [0]
  return %next, %into : tensor<4xf16>, tensor<4xf16>
}
// CHECK: func.func private @half_sharded(%[[ACC:.*]]: tensor<4xf16> {pw.accepts_partial}
// CHECK: %[[WIDE:.*]] = arith.extf %[[ACC]]
// CHECK-NOT: pw.all
// CHECK: %[[NEXT:.*]] = arith.addf %[[WIDE]], %{{.*}} : tensor<4xf32>
// CHECK: linalg.generic {{.*}} outs(%[[WIDE]] : tensor<4xf32>)
// CHECK: arith.truncf %[[NEXT]] : tensor<4xf32> to tensor<4xf16>
pw.program @halves(%acc: !add, %x: !x) -> (!add, !add) {
  %0:2 = pw.call @half(%acc, %x) : (!add, !x) -> (!add, !add)
  pw.return %0#0, %0#1 : !add, !add
}

// -----

// A slice of contributions, at a place that is computed.
pw.slice @s mesh <"d" = 2>
!acc = !pw.array<4x4xf32, @s, [{}, {}] partial max {"d"}>
!i = !pw.array<1xi32, @s, [{}]>
func.func private @row(%acc: tensor<4x4xf32>, %i: tensor<1xi32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.extract %i[%zero] : tensor<1xi32>
  %at = arith.index_cast %n : i32 to index
  %row = tensor.extract_slice %acc[%at, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
  return %row : tensor<4xf32>
}
// CHECK: func.func private @row_sharded(%[[ACC:.*]]: tensor<4x4xf32> {pw.accepts_partial}
// CHECK: %[[AT:.*]] = arith.index_cast
// CHECK-NEXT: %[[ROW:.*]] = tensor.extract_slice %[[ACC]][%[[AT]], 0]
// CHECK-NEXT: return %[[ROW]]
!row = !pw.array<4xf32, @s, [{}] partial max {"d"}>
pw.program @rows(%acc: !acc, %i: !i) -> !row {
  %0 = pw.call @row(%acc, %i) : (!acc, !i) -> !row
  pw.return %0 : !row
}
