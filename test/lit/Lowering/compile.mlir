// RUN: pw-opt %s --pw-compile="topology=2x1x4" -o %t.1
// RUN: FileCheck %s < %t.1
// The same bytes every time, and text that can be read back.
// RUN: pw-opt %s --pw-compile="topology=2x1x4" -o %t.2
// RUN: cmp %t.1 %t.2
// RUN: pw-opt %t.1 -o %t.3
// RUN: cmp %t.1 %t.3
// RUN: pw-opt %s --pw-compile="topology=1x1x1 oversubscribe steps-in-flight=3" | FileCheck %s --check-prefix=SMALL
// RUN: not pw-opt %s --pw-compile="topology=1x1x1" 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not pw-opt %s --pw-compile="topology=nowhere" 2>&1 | FileCheck %s --check-prefix=TOPOLOGY

// From a program that does not say where it runs to a plan with code: three
// computations, each on its own two devices.

// CHECK-LABEL: plan.program @f source
// CHECK-SAME: in_flight 2
// CHECK-COUNT-3: plan.slice
// CHECK: plan.kernel @a hash "{{[0-9a-f]+}}" {
// CHECK-NEXT: plan.segment @a.run (tensor<4xf32>, out tensor<4xf32>)
// CHECK-NEXT: plan.object target "{{.*}}" cpu "{{.*}}" features [{{.*}}] code dense_resource<a.0> : tensor<{{[0-9]+}}xi8>
// CHECK-NOT: func.func
// CHECK: plan.gang @a on @sa kernel @a
// CHECK: plan.gang @b on @sb kernel @b
// CHECK: plan.gang @c on @sc kernel @c
// CHECK: plan.gang @a.1 on @sa kernel @a
// CHECK: a.0: "0x
// SMALL: plan.program @f
// SMALL-SAME: in_flight 3
// SMALL: plan.slice @sa mesh <"d" = 2> kind "cpu" island 0 strides [{{[01]}}] span 1
// SHORT: error: 'pw.slice' op 'sa' needs 2 'cpu' devices on one island
// TOPOLOGY: error: {{.*}}topology{{.*}}nowhere
pw.slice @sa mesh <"d" = 2>
pw.slice @sb mesh <"d" = 2>
pw.slice @sc mesh <"d" = 2>
func.func private @a(%v: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %0 = arith.mulf %v, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @b(%v: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %0 = arith.addf %v, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @c(%v: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %c = arith.constant dense<0.5> : tensor<4xf32>
  %0 = arith.mulf %v, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// The same as @a: one kernel serves both.
func.func private @a_again(%v: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %0 = arith.mulf %v, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @f(%v: !pw.array<8xf32, @sa, [{"d"}]>)
    -> (!pw.array<8xf32, @sb, [{"d"}]> {pw.name = "y"},
        !pw.array<8xf32, @sa, [{"d"}]> {pw.name = "z"}) {
  %x = pw.call @a(%v) : (!pw.array<8xf32, @sa, [{"d"}]>) -> !pw.array<8xf32, @sa, [{"d"}]>
  %xb = pw.reshard %x : !pw.array<8xf32, @sa, [{"d"}]> -> !pw.array<8xf32, @sb, [{"d"}]>
  %y = pw.call @b(%xb) : (!pw.array<8xf32, @sb, [{"d"}]>) -> !pw.array<8xf32, @sb, [{"d"}]>
  %xc = pw.reshard %x : !pw.array<8xf32, @sa, [{"d"}]> -> !pw.array<8xf32, @sc, [{"d"}]>
  %w = pw.call @c(%xc) : (!pw.array<8xf32, @sc, [{"d"}]>) -> !pw.array<8xf32, @sc, [{"d"}]>
  %wa = pw.reshard %w : !pw.array<8xf32, @sc, [{"d"}]> -> !pw.array<8xf32, @sa, [{"d"}]>
  %z = pw.call @a_again(%wa) : (!pw.array<8xf32, @sa, [{"d"}]>) -> !pw.array<8xf32, @sa, [{"d"}]>
  pw.return %y, %z : !pw.array<8xf32, @sb, [{"d"}]>, !pw.array<8xf32, @sa, [{"d"}]>
}
