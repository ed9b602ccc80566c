// Results with checks: round trip as text and through a plan file, and faults.
// RUN: pw-opt %s --split-input-file --verify-diagnostics > %t.once
// RUN: pw-opt %t.once --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed '/^\/\/ -----/q' %s > %t.mlir
// RUN: pw-translate --plan-to-file %t.mlir -o %t.plan
// RUN: pw-translate --file-to-plan %t.plan | FileCheck %s

// CHECK: plan.result @a fetch @a expect eq @want
// CHECK-NEXT: plan.result @b fetch @b expect close @want min_ulp 1 max_ulp 3
// CHECK-NEXT: plan.result @c fetch @c expect almost_eq @want tolerance 1.000000e-03
// CHECK-NEXT: plan.result @want fetch @want{{$}}
plan.program @checks in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xf32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @a on @s @x -> result @a
  plan.fetch @b on @s @x -> result @b
  plan.fetch @c on @s @x -> result @c
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @a data same
  plan.edge @x -> @b data same
  plan.edge @x -> @c data same
  plan.edge @x -> @want data same
  plan.edge @a -> @x credit same tokens 1
  plan.edge @b -> @x credit same tokens 1
  plan.edge @c -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  plan.result @a fetch @a expect eq @want
  plan.result @b fetch @b expect close @want min_ulp 1 max_ulp 3
  plan.result @c fetch @c expect almost_eq @want tolerance 1.0e-3
  plan.result @want fetch @want
}

// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xi32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @got on @s @x -> result @got
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @got data same
  plan.edge @x -> @want data same
  plan.edge @got -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  // expected-error@+1 {{'plan.result' op refers to result 'none', which is not in the plan}}
  plan.result @got fetch @got expect eq @none
  plan.result @want fetch @want
}
// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xi32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @got on @s @x -> result @got
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @got data same
  plan.edge @x -> @want data same
  plan.edge @got -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  // expected-error@+1 {{'plan.result' op has a tolerance, but expects no value}}
  plan.result @got fetch @got max_ulp 3
  plan.result @want fetch @want
}
// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xi32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @got on @s @x -> result @got
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @got data same
  plan.edge @x -> @want data same
  plan.edge @got -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  // expected-error@+1 {{plan rule 8 (interface): result 'got' expects result 'want', but a check other than eq is for floats}}
  plan.result @got fetch @got expect close @want max_ulp 3
  // expected-note@+1 {{result 'want' is here}}
  plan.result @want fetch @want
}
// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xf32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @got on @s @x -> result @got
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @got data same
  plan.edge @x -> @want data same
  plan.edge @got -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  // expected-error@+1 {{plan rule 8 (interface): result 'got' expects result 'want' within 4 to 3 units in the last place}}
  plan.result @got fetch @got expect close @want min_ulp 4 max_ulp 3
  // expected-note@+1 {{result 'want' is here}}
  plan.result @want fetch @want
}
// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xf32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @got on @s @x -> result @got
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @got data same
  plan.edge @x -> @want data same
  plan.edge @got -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  // expected-error@+1 {{plan rule 8 (interface): result 'got' expects result 'want' within 0 to 3 units in the last place}}
  plan.result @got fetch @got expect eq @want max_ulp 3
  // expected-note@+1 {{result 'want' is here}}
  plan.result @want fetch @want
}
// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xf32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @got on @s @x -> result @got
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @got data same
  plan.edge @x -> @want data same
  plan.edge @got -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  // expected-error@+1 {{plan rule 8 (interface): result 'got' expects result 'want' within a tolerance of -1}}
  plan.result @got fetch @got expect almost_eq @want tolerance -1.0
  // expected-note@+1 {{result 'want' is here}}
  plan.result @want fetch @want
}
// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xf32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @got on @s @x -> result @got
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @got data same
  plan.edge @x -> @want data same
  plan.edge @got -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  // expected-error@+1 {{plan rule 8 (interface): result 'got' expects result 'want' within a tolerance of 1}}
  plan.result @got fetch @got expect eq @want tolerance 1.0
  // expected-note@+1 {{result 'want' is here}}
  plan.result @want fetch @want
}
// -----
plan.program @p in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.layout 0 tensor<4xf32> [{}]
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 128 credits 1
  plan.feed @x on @s argument @x -> @x
  plan.fetch @got on @s @x -> result @got
  plan.fetch @want on @s @x -> result @want
  plan.edge @x -> @got data same
  plan.edge @x -> @want data same
  plan.edge @got -> @x credit same tokens 1
  plan.edge @want -> @x credit same tokens 1
  plan.argument @x feed @x
  // expected-error@+1 {{plan rule 8 (interface): result 'got' expects result 'want', but only one of the two is stepped}}
  plan.result @got fetch @got stepped expect eq @want
  // expected-note@+1 {{result 'want' is here}}
  plan.result @want fetch @want
}
