// RUN: pw-opt %s --split-input-file --pw-lower-to-plan -verify-diagnostics | FileCheck %s
// RUN: pw-opt %s --split-input-file --pw-lower-to-plan=steps-in-flight=1 2>/dev/null | FileCheck %s --check-prefix=ONE
// What a step leaves for the next one: where it lies, and why it is copied where it is.

// Of two arguments each is updated in place, one unasked, although both results have
// the type of either; the steps between do not matter.

pw.slice @s mesh <>
pw.bind @s to island 0 devices base 0 strides []
func.func private @both(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.negf %a : tensor<4xf32>
  %1 = arith.negf %b : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @two
// CHECK: plan.buffer @a on @s layout 0 at [[A:[0-9]+]] bytes 16
// CHECK: plan.buffer @b on @s layout 0 at [[B:[0-9]+]] bytes 16
// CHECK: plan.buffer @neg on @s layout 0 at [[A]] bytes 16
// CHECK: plan.buffer @both.out0 on @s layout 0 at [[B]] bytes 16
// CHECK: plan.buffer @both.out1 on @s layout 0 at [[A]] bytes 16
// CHECK: plan.alias @a -> @neg
// CHECK-DAG: plan.alias @neg -> @both.out1
// CHECK-DAG: plan.alias @b -> @both.out0
pw.program @two(%a: !pw.array<4xf32, @s, [{}]> {pw.carried = 1 : i64}, %b: !pw.array<4xf32, @s, [{}]> {pw.carried = 0 : i64})
    -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @neg(%a) donate(%a) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1:2 = pw.call @both(%b, %0) donate(%0) : (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>)
  pw.return %1#0, %1#1 : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>
}

// -----

// The next value is not written by who read the argument last; it lies there all the
// same. A fetch and a send of the argument are done before.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @later
// CHECK: plan.buffer @a on @s layout 0 at [[A:[0-9]+]] bytes 16 {{.*}} credits 1
// CHECK: plan.buffer @neg.1 on @s layout 0 at [[A]] bytes 16 {{.*}} credits 1
// CHECK-NOT: plan.alias
// CHECK-DAG: plan.edge @a.send -> @neg.1 reuse same{{$}}
pw.program @later(%a: !pw.array<4xf32, @s, [{}]> {pw.carried = 0 : i64})
    -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>) {
  %0 = pw.call @neg(%a) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.transfer %a : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf32, @t, [{}]>
  %2 = pw.call @neg(%0) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %2, %1 : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>
}

// -----

// What is still sent when the next step begins is copied, unless steps do not overlap.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @sent
// CHECK: plan.buffer @a on @s {{.*}} credits 2
// CHECK-NOT: plan.alias
// ONE-LABEL: plan.program @sent
// ONE: plan.alias @a -> @neg
// ONE-DAG: plan.edge @neg.send -> @a.feed reuse same tokens 1
// expected-remark@+1 {{argument 'a' is copied from step to step, 16 bytes on each shard: its next value is sent to another slice, while the next step begins}}
pw.program @sent(%a: !pw.array<4xf32, @s, [{}]> {pw.carried = 0 : i64})
    -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>) {
  // expected-remark@+1 {{operand 0 of 'neg' is donated, but no result takes its memory: results of its type are written before the last read of the operand, are kept for the next step, or use the memory of another operand}}
  %0 = pw.call @neg(%a) donate(%a) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.transfer %0 : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf32, @t, [{}]>
  pw.return %0, %1 : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>
}

// -----

// An argument that takes another one reads it where it is. With one slot each, the
// feeds would have to wait for each other: the value is kept in between.

pw.slice @s mesh <>
pw.bind @s to island 0 devices base 0 strides []
// CHECK-LABEL: plan.program @swapped
// CHECK-DAG: plan.feed @a.feed on @s argument @a -> @a carried @b
// CHECK-DAG: plan.feed @b.feed on @s argument @b -> @b carried @a
// CHECK-NOT: plan.send
// CHECK-DAG: plan.edge @a.feed -> @b.feed data same tokens 1
// CHECK-DAG: plan.edge @b.feed -> @a.feed credit same tokens 1
// ONE-LABEL: plan.program @swapped
// ONE: plan.send @b.send
// ONE: plan.send @a.send
// expected-remark@+2 {{argument 'a' is copied from step to step, 16 bytes on each shard: another argument also takes it, or its next value, from the previous step}}
// expected-remark@+1 {{argument 'b' is copied from step to step, 16 bytes on each shard: another argument also takes it, or its next value, from the previous step}}
pw.program @swapped(%a: !pw.array<4xf32, @s, [{}]> {pw.carried = 0 : i64}, %b: !pw.array<4xf32, @s, [{}]> {pw.carried = 1 : i64})
    -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) {
  pw.return %b, %a : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>
}

// -----

// One value goes on into two arguments; another one is written while its argument is
// read; a third comes from elsewhere; a fourth is an input.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @sum(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @left
// CHECK-NOT: plan.alias
// expected-remark@+5 {{argument 'a' is copied from step to step, 16 bytes on each shard: another argument also takes it, or its next value, from the previous step}}
// expected-remark@+4 {{argument 'b' is copied from step to step, 16 bytes on each shard: another argument also takes it, or its next value, from the previous step}}
// expected-remark@+3 {{argument 'c' is copied from step to step, 16 bytes on each shard: it is still read when its next value is written}}
// expected-remark@+2 {{argument 'd' is copied from step to step, 16 bytes on each shard: its next value is the result of a movement}}
// expected-remark@+1 {{argument 'e' is copied from step to step, 16 bytes on each shard: its next value is another argument}}
pw.program @left(%a: !pw.array<4xf32, @s, [{}]> {pw.carried = 0 : i64}, %b: !pw.array<4xf32, @s, [{}]> {pw.carried = 1 : i64}, %c: !pw.array<4xf32, @s, [{}]> {pw.carried = 2 : i64}, %d: !pw.array<4xf32, @t, [{}]> {pw.carried = 3 : i64}, %e: !pw.array<4xf32, @t, [{}]> {pw.carried = 4 : i64}, %x: !pw.array<4xf32, @t, [{}]> {pw.stepped})
    -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>) {
  %0 = pw.call @sum(%a, %b) : (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.call @neg(%c) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %2 = pw.call @sum(%c, %1) : (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %3 = pw.transfer %2 : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf32, @t, [{}]>
  %4 = pw.call @sum(%d, %e) : (!pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @t, [{}]>) -> !pw.array<4xf32, @t, [{}]>
  pw.return %0, %0, %1, %3, %x, %2, %4 : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>
}

// -----

// A donation that no result can use is said.

pw.slice @s mesh <>
pw.bind @s to island 0 devices base 0 strides []
func.func private @sum(%a: tensor<4xf32>) -> tensor<f32> {
  %0 = arith.constant dense<0.0> : tensor<f32>
  %1 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%0 : tensor<f32>) dimensions = [0]
  return %1 : tensor<f32>
}
// CHECK-LABEL: plan.program @smaller
// CHECK-NOT: plan.alias
pw.program @smaller(%a: !pw.array<4xf32, @s, [{}]>) -> !pw.array<f32, @s, []> {
  // expected-remark@+1 {{operand 0 of 'sum' is donated, but no result takes its memory: no result has shards of 'tensor<4xf32>'}}
  %0 = pw.call @sum(%a) donate(%a) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<f32, @s, []>
  pw.return %0 : !pw.array<f32, @s, []>
}
