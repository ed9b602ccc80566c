// RUN: pw-opt %s -pw-fingerprint | FileCheck %s

// It is the same without places, comments and line breaks, and whatever it was
// before; meshes that a user overrides come later.
// RUN: pw-opt %s -pw-fingerprint | grep -o 'fingerprint = "[0-9a-f]*"' > %t.first
// RUN: grep -v '^//' %s | tr '\n' ' ' | pw-opt -pw-fingerprint | grep -o 'fingerprint = "[0-9a-f]*"' > %t.line
// RUN: cmp %t.first %t.line
// RUN: pw-opt %s '-pass-pipeline=builtin.module(pw-fingerprint,pw-override-mesh{mesh=s:d=4},pw-fingerprint)' | grep -o 'fingerprint = "[0-9a-f]*"' > %t.large
// RUN: not cmp %t.first %t.large
// RUN: pw-opt %s -pw-fingerprint | pw-opt -pw-fingerprint --mlir-print-op-generic --mlir-print-debuginfo | grep -o 'fingerprint = "[0-9a-f]*"' > %t.twice
// RUN: cmp %t.first %t.twice

// Who compiles the programs one by one sees the same: others do not count.
// RUN: pw-run %s --program=first --topology=1x1x2 --compile-only --emit-plan-text=- \
// RUN:   | sed -n 's/.*fingerprint \("[0-9a-f]*"\).*/fingerprint = \1/p' > %t.plan
// RUN: head -1 %t.first | cmp - %t.plan
// RUN: pw-run %s --program=first --topology=1x1x2 --mesh=s:d=1 --steps-in-flight=1 --compile-only --emit-plan-text=- \
// RUN:   | sed -n 's/.*fingerprint \("[0-9a-f]*"\).*/fingerprint = \1/p' | cmp - %t.plan

// All that a program may use counts, and so do bytes of resources.
// RUN: sed "s/dense<1.0>/dense<2.0>/" %s | pw-opt -pw-fingerprint | grep -o 'fingerprint = "[0-9a-f]*"' > %t.body
// RUN: not cmp %t.first %t.body
// RUN: sed 's/0x040000000100003F/0x040000000100004F/' %s | pw-opt -pw-fingerprint | grep -o 'fingerprint = "[0-9a-f]*"' > %t.bytes
// RUN: not cmp %t.first %t.bytes

pw.slice @s mesh <"d" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %r = arith.constant dense_resource<bytes> : tensor<4xi8>
  %y = arith.addf %x, %c : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK: pw.program @first({{.*}}) -> {{.*}} attributes {fingerprint = "[[FIRST:[0-9a-f]+]]"} {
pw.program @first(%x: !pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]> {
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]>
  pw.return %0 : !pw.array<4xf32, @s, [{"d"}]>
}
// CHECK-NOT: [[FIRST]]
// CHECK: pw.program @second({{.*}}) -> {{.*}} attributes {fingerprint = "{{[0-9a-f]+}}"} {
pw.program @second(%x: !pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]>
    attributes {fingerprint = "of old"} {
  pw.return %x : !pw.array<4xf32, @s, [{"d"}]>
}

{-#
  dialect_resources: {
    builtin: {
      bytes: "0x040000000100003F"
    }
  }
#-}
