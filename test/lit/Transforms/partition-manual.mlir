// Regions that are written for one shard along manual axes are cut over the other
// axes.
// RUN: pw-opt %s -pw-propagate-shardings -pw-partition -split-input-file -verify-diagnostics | FileCheck %s

// The columns of the product are cut over "y" inside, too, and shards communicate
// in groups along "x".
pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @f(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %0 = pw.manual(%x, %w) over ["x"] in [[{"x"}, {?}], [{?}, {?}]] out [[{?}, {?}]] (%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4x8xf32>
    %1 = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = pw.all_reduce %1 add over ["x"] : tensor<4x8xf32>
    pw.yield %2 : tensor<4x8xf32>
  } : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK-LABEL: pw.program @columns
// CHECK-SAME: %x: !pw.array<8x16xf32, @s, [{"x"}, {}]>, %w: !pw.array<16x8xf32, @s, [{}, {"y"}]>) -> !pw.array<4x8xf32, @s, [{}, {"y"}]>
// CHECK: func.func private @f_sharded(%[[X:.*]]: tensor<4x16xf32>, %[[W:.*]]: tensor<16x4xf32>) -> tensor<4x4xf32> attributes {pw.local_view}
// CHECK: %[[P:.*]] = linalg.matmul ins(%[[X]], %[[W]]
// CHECK: %[[R:.*]] = pw.all_reduce %[[P]] add over ["x"] : tensor<4x4xf32>
// CHECK-NOT: pw.
// CHECK: return %[[R]]
pw.program @columns(%x: !pw.array<8x16xf32, @s>, %w: !pw.array<16x8xf32, @s, [{}, {"y"}]>) -> !pw.array<4x8xf32, @s> {
  %0 = pw.call @f(%x, %w) : (!pw.array<8x16xf32, @s>, !pw.array<16x8xf32, @s, [{}, {"y"}]>) -> !pw.array<4x8xf32, @s>
  pw.return %0 : !pw.array<4x8xf32, @s>
}

// -----

// The sum over "y" that the cut needs is among shards along "y" only. An operand
// that is elsewhere is resharded before the region.
pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @f(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %0 = pw.manual(%x, %w) over ["x"] in [[{"x"}, {?}], [{}, {?}]] out [[{"x"}, {}]] (%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4x8xf32>
    %1 = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
    pw.yield %1 : tensor<4x8xf32>
  } : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// CHECK-LABEL: pw.program @sums
// CHECK: func.func private @f_sharded(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK: pw.all_gather %[[W]] dim 0 over ["x"] : tensor<8x8xf32> -> tensor<16x8xf32>
// CHECK: linalg.matmul
// CHECK-SAME: tensor<4x8xf32>, tensor<8x8xf32>
// CHECK: pw.all_reduce %{{.*}} add over ["y"] : tensor<4x8xf32>
pw.program @sums(%x: !pw.array<8x16xf32, @s, [{"x"}, {"y"}]>, %w: !pw.array<16x8xf32, @s, [{"x"}, {}]>) -> !pw.array<8x8xf32, @s, [{"x"}, {}]> {
  %0 = pw.call @f(%x, %w) : (!pw.array<8x16xf32, @s, [{"x"}, {"y"}]>, !pw.array<16x8xf32, @s, [{"x"}, {}]>) -> !pw.array<8x8xf32, @s, [{"x"}, {}]>
  pw.return %0 : !pw.array<8x8xf32, @s, [{"x"}, {}]>
}

// -----

// A dimension that "x" cuts into blocks of 5 is not cut over "y" as well: blocks
// of 3 and 2 would not be those of a dimension of 10. Columns may have padding.
pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @f(%x: tensor<10x5xf32>) -> tensor<10x5xf32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x", "y"}, {}]] out [[{"x"}, {"y"}]] (%a: tensor<5x5xf32>) {
    %1 = pw.permute %a shift 1 over ["x"] wrap : tensor<5x5xf32>
    pw.yield %1 : tensor<5x5xf32>
  } : (tensor<10x5xf32>) -> tensor<10x5xf32>
  return %0 : tensor<10x5xf32>
}
// CHECK-LABEL: pw.program @uneven
// CHECK: func.func private @f_sharded(%[[X:.*]]: tensor<5x5xf32>) -> tensor<5x3xf32>
// CHECK: pw.permute %{{.*}} shift 1 over ["x"] wrap : tensor<5x
pw.program @uneven(%x: !pw.array<10x5xf32, @s, [{"x"}, {}]>) -> !pw.array<10x5xf32, @s, [{"x"}, {"y"}]> {
  %0 = pw.call @f(%x) : (!pw.array<10x5xf32, @s, [{"x"}, {}]>) -> !pw.array<10x5xf32, @s, [{"x"}, {"y"}]>
  pw.return %0 : !pw.array<10x5xf32, @s, [{"x"}, {"y"}]>
}

// -----

// The result wants rows cut over "y" inside: an operand with such blocks comes whole,
// and is cut in the region.
pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @f(%x: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x", ?}, {}]] out [[{"y"}, {}]] (%a: tensor<3x4xf32>) {
    %1 = pw.all_reduce %a add over ["x"] : tensor<3x4xf32>
    pw.yield %1 : tensor<3x4xf32>
  } : (tensor<6x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
// CHECK-LABEL: pw.program @wanted
// CHECK: func.func private @f_sharded(%[[X:.*]]: tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK: tensor.pad %[[X]] low[0, 0] high[1, 0]
// CHECK: pw.all_reduce %{{.*}} add over ["x"] : tensor<2x4xf32>
pw.program @wanted(%x: !pw.array<6x4xf32, @s, [{"x"}, {}]>) -> !pw.array<3x4xf32, @s, [{"y"}, {}]> {
  %0 = pw.call @f(%x) : (!pw.array<6x4xf32, @s, [{"x"}, {}]>) -> !pw.array<3x4xf32, @s, [{"y"}, {}]>
  pw.return %0 : !pw.array<3x4xf32, @s, [{"y"}, {}]>
}

// -----

// A loop that communicates as the text says is kept, as far as it can be written
// out: here 100 times.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %r = scf.for %i = %c0 to %c100 step %c1 iter_args(%v = %x) -> tensor<8xf32> {
    %0 = pw.manual(%v) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
      %1 = pw.all_reduce %a max over ["x"] : tensor<4xf32>
      pw.yield %1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// CHECK-LABEL: pw.program @loop
// CHECK: func.func private @f_sharded(%[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK: scf.for %{{.*}} iter_args(%[[V:.*]] = %[[X]]) -> (tensor<4xf32>)
// CHECK-NEXT: pw.all_reduce %[[V]] max over ["x"] : tensor<4xf32>
// CHECK-NEXT: scf.yield
pw.program @loop(%x: !pw.array<8xf32, @s, [{"x"}]>) -> !pw.array<8xf32, @s, [{"x"}]> {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{"x"}]>) -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}

// -----

// Both branches are computed where the condition depends on data.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %is = tensor.extract %p[] : tensor<i1>
  // expected-remark@+1 {{all branches of 'scf.if' are computed: shards communicate inside it}}
  %r = scf.if %is -> tensor<8xf32> {
    %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
      %1 = pw.all_reduce %a max over ["x"] : tensor<4xf32>
      pw.yield %1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  } else {
    %0 = arith.negf %x : tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// CHECK-LABEL: pw.program @branch
// CHECK: func.func private @f_sharded(%[[X:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<i1>) -> tensor<4xf32>
// CHECK: %[[IS:.*]] = tensor.extract %[[P]]
// CHECK: %[[R:.*]] = pw.all_reduce %[[X]] max over ["x"]
// CHECK: %[[N:.*]] = arith.negf %[[X]]
// CHECK: arith.select %[[IS]], %[[R]], %[[N]] : tensor<4xf32>
pw.program @branch(%x: !pw.array<8xf32, @s, [{"x"}]>, %p: !pw.array<i1, @s, []>) -> !pw.array<8xf32, @s, [{"x"}]> {
  %0 = pw.call @f(%x, %p) : (!pw.array<8xf32, @s, [{"x"}]>, !pw.array<i1, @s, []>) -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}

// -----

// A region that does not communicate may be in any loop.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<i32>) -> tensor<i32> {
  %r = scf.while (%v = %x) : (tensor<i32>) -> tensor<i32> {
    %e = tensor.extract %v[] : tensor<i32>
    %c = arith.constant 100 : i32
    %is = arith.cmpi slt, %e, %c : i32
    scf.condition(%is) %v : tensor<i32>
  } do {
  ^bb0(%v: tensor<i32>):
    %0 = pw.manual(%v) over ["x"] in [[]] out [[]] (%a: tensor<i32>) {
      %1 = arith.addi %a, %a : tensor<i32>
      pw.yield %1 : tensor<i32>
    } : (tensor<i32>) -> tensor<i32>
    scf.yield %0 : tensor<i32>
  }
  return %r : tensor<i32>
}
// CHECK-LABEL: pw.program @while
// CHECK: func.func private @f_sharded
// CHECK: scf.while
// CHECK: ^bb0(%[[V:.*]]: tensor<i32>):
// CHECK-NEXT: arith.addi %[[V]], %[[V]]
pw.program @while(%x: !pw.array<i32, @s, []>) -> !pw.array<i32, @s, []> {
  %0 = pw.call @f(%x) : (!pw.array<i32, @s, []>) -> !pw.array<i32, @s, []>
  pw.return %0 : !pw.array<i32, @s, []>
}

// -----

// Contributions along a manual axis are added up by whoever reads them.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{}] partial add {"x"}] (%a: tensor<4xf32>) {
    pw.yield %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: pw.program @partial
// CHECK: func.func private @f_sharded(%[[X:.*]]: tensor<4xf32>) -> tensor<2xf32>
// CHECK: pw.reduce_scatter %[[X]] add dim 0 over ["x"] : tensor<4xf32> -> tensor<2xf32>
pw.program @partial(%x: !pw.array<8xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]> {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<4xf32, @s, [{"x"}]>
}
