// RUN: pw-opt %s --split-input-file --pw-compile=topology=1x1x4 2>&1 | FileCheck %s
// What is donated is donated still when bodies were cut, reshards folded and calls
// merged.

// A reshard to the layout that is there already is folded, and the body is cut over
// the devices: its shards are written where those of the argument were, in place, though
// the other operand is cut in the body.

pw.slice @s mesh <"d" = 4>
func.func private @step(%w: tensor<16x8xf32>, %g: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = arith.subf %w, %g : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
!rows = !pw.array<16x8xf32, @s, [{"d"}, {}]>
!copies = !pw.array<16x8xf32, @s, [{}, {}]>
// CHECK-NOT: remark
// CHECK-LABEL: plan.program @cut
// CHECK: plan.segment @step{{.*}} (tensor<16x8xf32>, tensor<4x8xf32>, out tensor<4x8xf32>){{ *(locations.*)?$}}
// CHECK: plan.buffer @w on @s layout {{[0-9]+}} at [[W:[0-9]+]] bytes 128 {{.*}} credits 1
// CHECK: plan.buffer @step{{.*}} on @s layout {{[0-9]+}} at [[W]] bytes 128 {{.*}} credits 1
// CHECK: plan.alias @w -> @step
pw.program @cut(%w: !rows {pw.carried = 0 : i64}, %g: !copies) -> (!rows) {
  %same = pw.reshard %w : !rows -> !rows
  %0 = pw.call @step(%same, %g) donate(%same) : (!rows, !copies) -> !rows
  pw.return %0 : !rows
}

// -----

// Two arrays that are one when equal calls were merged: the first of their donations
// is served by a copy.

pw.slice @s mesh <"d" = 4>
func.func private @double(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.addf %x, %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.negf %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @square(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.mulf %x, %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
!rows = !pw.array<16xf32, @s, [{"d"}]>
// CHECK: remark: operand 0 of 'neg{{.*}}' is donated, but donated again later; a copy is made
// CHECK-LABEL: plan.program @merged
// CHECK: plan.send @double{{.*}}.send
// CHECK: plan.gang @neg
// CHECK: plan.alias @double{{.*}}.1 -> @neg
// CHECK: plan.gang @square
// CHECK: plan.alias @double{{.*}} -> @square
pw.program @merged(%x: !rows) -> (!rows, !rows) {
  %0 = pw.call @double(%x) : (!rows) -> !rows
  %1 = pw.call @double(%x) : (!rows) -> !rows
  %2 = pw.call @neg(%0) donate(%0) : (!rows) -> !rows
  %3 = pw.call @square(%1) donate(%1) : (!rows) -> !rows
  pw.return %2, %3 : !rows, !rows
}

// -----

// A result of another layout gets memory of its own, with a remark.

pw.slice @s mesh <"d" = 4>
func.func private @neg(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.negf %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// CHECK: remark: operand 0 of 'neg{{.*}}' is donated, but no result takes its memory: no result has shards of 'tensor<4xf32>'
// CHECK-LABEL: plan.program @layouts
// CHECK-NOT: plan.alias
pw.program @layouts(%x: !pw.array<16xf32, @s, [{"d"}]>) -> !pw.array<16xf32, @s, [{}]> {
  %0 = pw.call @neg(%x) donate(%x) : (!pw.array<16xf32, @s, [{"d"}]>) -> !pw.array<16xf32, @s, [{}]>
  pw.return %0 : !pw.array<16xf32, @s, [{}]>
}
