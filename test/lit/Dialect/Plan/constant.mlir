// Arguments with values: round trip as text and through a plan file, and faults.
// RUN: pw-opt %s --split-input-file --verify-diagnostics > %t.once
// RUN: pw-opt %t.once --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed '/^\/\/ -----/q' %s > %t.mlir
// RUN: pw-translate --plan-to-file %t.mlir -o %t.plan
// RUN: pw-translate --file-to-plan %t.plan | FileCheck %s
// RUN: pw-translate --file-to-plan %t.plan -o %t.again
// RUN: pw-translate --plan-to-file %t.again -o %t.again.plan
// RUN: cmp %t.plan %t.again.plan

// CHECK: plan.argument @x feed @x constant dense_resource<x.0> : tensor<4xi8>
plan.program @constants in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<1xf32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 4 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @y on @s @x -> result @y
  plan.edge @x -> @y data same
  plan.edge @y -> @x credit same tokens 1
  plan.argument @x feed @x constant dense_resource<x.0> : tensor<4xi8>
  plan.result @y fetch @y
}
{-#
  dialect_resources: {
    builtin: {
      x.0: "0x040000000000803F"
    }
  }
#-}

// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<1xf32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 4 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @y on @s @x -> result @y
  plan.edge @x -> @y data same
  plan.edge @y -> @x credit same tokens 1
  // expected-error@+1 {{'plan.argument' op expected bytes, tensor<...xi8>, as constant, got 'tensor<1xf32>'}}
  plan.argument @x feed @x constant dense<1.0> : tensor<1xf32>
  plan.result @y fetch @y
}
