// What was measured are costs of the plan; the rest is estimated, with a remark.
// The folder of a test may have a long name, and a diagnostic shortens long paths, so
// the files are named from inside of it.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: pw-opt %s -pw-fingerprint -o p.mlir
// RUN: sed -n 's/.*fingerprint = \("[0-9a-f]*"\).*/fingerprint: \1/p' p.mlir > p.profile
// RUN: echo 'version: 1 program: "p" movements { kind: FEED bytes: 16 ns: 70 } movements { kind: FETCH bytes: 32 ns: 4000 } movements { kind: FETCH bytes: 0 ns: 2000 }' >> p.profile
// RUN: pw-opt p.mlir -pw-lower-to-plan=profile=p.profile 2>&1 | FileCheck %s
// CHECK: remark: profile 'p.profile' has no cost for 1 of 1 computations, the first 'f'; they are estimated
// CHECK: plan.program @p {{.*}} fingerprint "{{[0-9a-f]+}}" in_flight 2
// CHECK: plan.feed @x.feed {{.*}} cost 70 at
// CHECK: plan.gang @f {{.*}} cost 1 at
// CHECK: plan.fetch @result0.fetch {{.*}} cost 3000 at

// A profile of another program, and a program that has no fingerprint.
// RUN: sed 's/addf/mulf/' %s | pw-opt -pw-fingerprint | not pw-opt -pw-lower-to-plan=profile=p.profile 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: profile 'p.profile': the profile is of program 'p' ({{[0-9a-f]+}}), expected program 'p' ({{[0-9a-f]+}})
// RUN: not pw-opt %s -pw-lower-to-plan=profile=p.profile 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'pw.program' op 'p' has no fingerprint, which profile 'p.profile' needs to identify it; run pw-fingerprint first
// RUN: not pw-opt p.mlir -pw-lower-to-plan=profile=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not pw-opt p.mlir -pw-insert-transfers=profile=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not pw-opt p.mlir -pw-explain-reshard=profile=none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: profile 'none': No such file or directory

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
