// RUN: pw-opt %s --split-input-file --pw-lower-to-plan | FileCheck %s
// Who shares memory with whom, and the edges that it takes. That the edges are
// enough is checked by the verifier of the plan.

// Between gangs queue order is enough: 0 and 2 have the same bytes, and no
// edge is there for it.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @chain
// CHECK-DAG: plan.buffer @neg on @s layout 0 at [[A:[0-9]+]] bytes 16
// CHECK-DAG: plan.buffer @neg.1 on @s layout 0 at [[B:[0-9]+]] bytes 16
// CHECK-DAG: plan.buffer @neg.2 on @s layout 0 at [[A]] bytes 16
// CHECK-NOT: reuse
pw.program @chain(%x: !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]> {
  %0 = pw.call @neg(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.call @neg(%0) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %2 = pw.call @neg(%1) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %3 = pw.call @neg(%2) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %3 : !pw.array<4xf32, @s, [{}]>
}

// -----

// A send is not in the queue: the next writer waits for it, and in a later step the
// first one for the last.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @sends
// CHECK-DAG: plan.buffer @neg on @s layout 0 at [[A:[0-9]+]] bytes 16
// CHECK-DAG: plan.buffer @neg.1.1 on @s layout 0 at [[A]] bytes 16
// CHECK-DAG: plan.edge @neg.send -> @neg.1 reuse same{{$}}
// CHECK-DAG: plan.edge @result1.fetch -> @neg reuse same tokens 2
pw.program @sends(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @neg(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.transfer %0 : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf32, @t, [{}]>
  %2 = pw.call @neg(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %1, %2 : !pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @s, [{}]>
}

// -----

// A donated operand gives its memory to the result, one received or fed too: its
// sender, or its feed, then waits for whoever reads the result.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @donated
// CHECK: plan.buffer @x on @s layout 0 at [[X:[0-9]+]] bytes 16
// CHECK: plan.buffer @neg on @s layout 0 at [[X]] bytes 16
// CHECK: plan.buffer @neg.1 on @t layout 0 at [[R:[0-9]+]] bytes 16
// CHECK: plan.buffer @neg.1.1 on @t layout 0 at [[R]] bytes 16
// CHECK: plan.buffer @neg.2 on @t layout 0 at [[R]] bytes 16
// CHECK: plan.gang @neg on @s
// CHECK: plan.alias @x -> @neg
// CHECK: plan.gang @neg.1 on @t
// CHECK: plan.alias @neg.1 -> @neg.1.1
// CHECK: plan.gang @neg.2 on @t
// CHECK: plan.alias @neg.1.1 -> @neg.2
// CHECK-DAG: plan.edge @neg.send -> @x.feed reuse same tokens 2
// CHECK-DAG: plan.edge @result0.fetch -> @neg.send reuse pieces tokens 2
pw.program @donated(%x: !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @t, [{}]> {
  %0 = pw.call @neg(%x) donate(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.transfer %0 : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf32, @t, [{}]>
  %2 = pw.call @neg(%1) donate(%1) : (!pw.array<4xf32, @t, [{}]>) -> !pw.array<4xf32, @t, [{}]>
  %3 = pw.call @neg(%2) donate(%2) : (!pw.array<4xf32, @t, [{}]>) -> !pw.array<4xf32, @t, [{}]>
  pw.return %3 : !pw.array<4xf32, @t, [{}]>
}

// -----

// No result has the type of the first donated operand; the second one is still
// sent, so what overwrites it waits; the third one is used again, for which the pass
// that resolves donations would have copied it.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @sum(%a: tensor<4xf32>) -> tensor<f32> {
  %0 = arith.constant dense<0.0> : tensor<f32>
  %1 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%0 : tensor<f32>) dimensions = [0]
  return %1 : tensor<f32>
}
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @cannot
// CHECK: plan.gang @sum
// CHECK-NOT: plan.alias
// CHECK: plan.gang @neg on
// CHECK: plan.alias @y -> @neg
// CHECK: plan.gang @neg.1 on
// CHECK-NOT: plan.alias
// CHECK-DAG: plan.edge @y.send -> @neg reuse same{{$}}
pw.program @cannot(%x: !pw.array<4xf32, @s, [{}]>, %y: !pw.array<4xf32, @s, [{}]>, %z: !pw.array<4xf32, @s, [{}]>)
    -> (!pw.array<f32, @s, []>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @sum(%x) donate(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<f32, @s, []>
  %1 = pw.transfer %y : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf32, @t, [{}]>
  %2 = pw.call @neg(%y) donate(%y) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %3 = pw.call @neg(%z) donate(%z) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %0, %2, %1, %3, %z : !pw.array<f32, @s, []>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>, !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>
}

// -----

// What one slice receives from another in turn takes three places here: a gang counts
// as 1 us, a message each way on the island takes 2 us, and so a send runs beside two
// gangs that use what came before. It waits for the gang before these two. In a later
// step the first send waits for the last reader.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
!s = !pw.array<4xf32, @s, [{}]>
!t = !pw.array<4xf32, @t, [{}]>
// CHECK-LABEL: plan.program @received
// CHECK-DAG: plan.buffer @x.1 on @t layout 0 at [[A:[0-9]+]] bytes 16
// CHECK-DAG: plan.buffer @y.1 on @t layout 0 at [[B:[0-9]+]] bytes 16
// CHECK-DAG: plan.buffer @z.1 on @t layout 0 at [[C:[0-9]+]] bytes 16
// CHECK-DAG: plan.buffer @w.1 on @t layout 0 at [[A]] bytes 16
// CHECK-DAG: plan.edge @neg -> @w.send reuse pieces{{$}}
// CHECK-DAG: plan.edge @neg.3 -> @x.send reuse pieces tokens 2
// CHECK-NOT: plan.edge @neg.1 -> @w.send
pw.program @received(%x: !s, %y: !s, %z: !s, %w: !s) -> () {
  %0 = pw.transfer %x : !s -> !t
  %1 = pw.call @neg(%0) : (!t) -> !t
  %2 = pw.transfer %y : !s -> !t
  %3 = pw.call @neg(%2) : (!t) -> !t
  %4 = pw.transfer %z : !s -> !t
  %5 = pw.call @neg(%4) : (!t) -> !t
  %6 = pw.transfer %w : !s -> !t
  %7 = pw.call @neg(%6) : (!t) -> !t
  pw.return
}

// -----

// The first islands of both slices are the same, but each slice spans two islands, so
// a transfer may cross the data center network. A message takes longer there than the
// gangs before it, and each received value has a place of its own.

pw.slice @s mesh <"x"=2> spans 2 islands
pw.slice @t mesh <"x"=2> spans 2 islands with [@s]
pw.bind @s to island 0 devices base 0 strides [0] also islands [1] bases [0]
pw.bind @t to island 0 devices base 1 strides [0] also islands [1] bases [1]
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
!s = !pw.array<8xf32, @s, [{"x"}]>
!t = !pw.array<8xf32, @t, [{"x"}]>
// CHECK-LABEL: plan.program @across
// CHECK: plan.buffer @x.1 on @t layout {{[0-9]+}} at [[A:[0-9]+]] bytes 16
// CHECK-NOT: plan.buffer @{{[yzw]}}.1 on @t layout {{[0-9]+}} at [[A]] bytes 16
// CHECK: plan.gang
pw.program @across(%x: !s, %y: !s, %z: !s, %w: !s) -> () {
  %0 = pw.transfer %x : !s -> !t
  %1 = pw.call @neg(%0) : (!t) -> !t
  %2 = pw.transfer %y : !s -> !t
  %3 = pw.call @neg(%2) : (!t) -> !t
  %4 = pw.transfer %z : !s -> !t
  %5 = pw.call @neg(%4) : (!t) -> !t
  %6 = pw.transfer %w : !s -> !t
  %7 = pw.call @neg(%6) : (!t) -> !t
  pw.return
}
