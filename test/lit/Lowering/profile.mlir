// What was measured are costs of the plan; the rest is estimated, with a remark.
// RUN: pw-opt %s -pw-fingerprint -o %t.mlir
// RUN: sed -n 's/.*fingerprint = \("[0-9a-f]*"\).*/fingerprint: \1/p' %t.mlir > %t.profile
// RUN: echo 'version: 1 program: "p" movements { kind: FEED bytes: 16 ns: 70 } movements { kind: FETCH bytes: 32 ns: 4000 } movements { kind: FETCH bytes: 0 ns: 2000 }' >> %t.profile
// RUN: pw-opt %t.mlir -pw-lower-to-plan=profile=%t.profile 2>&1 | FileCheck %s
// CHECK: remark: profile '{{.*}}.profile' has no cost of 1 of 1 computations, the first 'f'; they are estimated
// CHECK: plan.program @p {{.*}} fingerprint "{{[0-9a-f]+}}" in_flight 2
// CHECK: plan.feed @x.feed {{.*}} cost 70 at
// CHECK: plan.gang @f {{.*}} cost 1 at
// CHECK: plan.fetch @result0.fetch {{.*}} cost 3000 at

// One that the profile is not of, and one that nobody can tell.
// RUN: sed 's/addf/mulf/' %s | pw-opt -pw-fingerprint | not pw-opt -pw-lower-to-plan=profile=%t.profile 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: profile '{{.*}}.profile': is of program 'p' ({{[0-9a-f]+}}), this is 'p' ({{[0-9a-f]+}})
// RUN: not pw-opt %s -pw-lower-to-plan=profile=%t.profile 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'pw.program' op 'p' has no fingerprint, by which profile '{{.*}}.profile' knows it; run pw-fingerprint first
// RUN: not pw-opt %t.mlir -pw-lower-to-plan=profile=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not pw-opt %t.mlir -pw-insert-transfers=profile=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not pw-opt %t.mlir -pw-explain-reshard=profile=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: profile '{{.*}}.none': No such file or directory

pw.slice @s mesh <"d" = 2>
pw.bind @s to island 0 devices base 0 strides [1]
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view, pw.pointwise} {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
pw.program @p(%x: !pw.array<8xf32, @s, [{"d"}]>) -> !pw.array<8xf32, @s, [{"d"}]> {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{"d"}]>) -> !pw.array<8xf32, @s, [{"d"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"d"}]>
}
