// What the three roundings compute. The flag is part of a kernel's hash, and of no use
// for a plan, whose code exists.

// DEFINE: %{flag} =
// DEFINE: %{run} = pw-run %s --topology=1x1x1 %{flag} \
// DEFINE:   --input=x=1.00048828125,0,0,0,1.000244140625 \
// DEFINE:   --input=y=-1,0,0,0,1.000244140625 --input=n=1.0078125
// RUN: rm -rf %t && mkdir %t
// RUN: %{run} --emit-plan-text=%t/each --emit-plan=%t/plan | FileCheck %s --check-prefix=EACH
// REDEFINE: %{flag} = --strict-rounding
// RUN: %{run} --emit-plan-text=%t/strict --emit-plan=%t/strict.plan | FileCheck %s --check-prefix=STRICT
// REDEFINE: %{flag} = --excess-precision
// RUN: %{run} --emit-plan-text=%t/excess | FileCheck %s --check-prefix=EXCESS

// The product of the last elements is 1 + 2^-11 + 2^-24, which no f32 is. Whether the
// product in a dot_general is rounded depends on the CPU.
// EACH: sum: f32 = 0{{$}}
// EACH: narrow: bf16 = 0{{$}}
// STRICT: sum: f32 = 0{{$}}
// STRICT: dot: f32 = 0{{$}}
// STRICT: narrow: bf16 = 0{{$}}
// EXCESS: sum: f32 = {{0|5.9604645e-08}}{{$}}
// EXCESS: narrow: bf16 = 6.1{{[0-9]*}}e-05

// RUN: FileCheck %s --check-prefix=PLAN --input-file=%t/each
// RUN: FileCheck %s --check-prefix=PLAN-STRICT --input-file=%t/strict
// RUN: FileCheck %s --check-prefix=PLAN-EXCESS --input-file=%t/excess
// PLAN: plan.kernel {{.*}} hash "{{[0-9a-f]+}}" {
// PLAN-STRICT: plan.kernel {{.*}} hash "{{[0-9a-f]+}}" rounding strict {
// PLAN-EXCESS: plan.kernel {{.*}} hash "{{[0-9a-f]+}}" rounding excess {

// RUN: pw-run %t/plan --compile-only --explain-kernels | FileCheck %s --check-prefix=EXPLAIN
// RUN: pw-run %t/strict.plan --compile-only --explain-kernels | FileCheck %s --check-prefix=EXPLAIN-STRICT
// EXPLAIN-NOT: rounding
// EXPLAIN: 1 kernel
// EXPLAIN-NOT: rounding
// EXPLAIN-STRICT: 1 kernel
// EXPLAIN-STRICT-NEXT: rounding: strict

// RUN: pw-opt %s --pw-import-stablehlo --pw-compile="topology=1x1x1 rounding=strict" | FileCheck %s --check-prefix=PLAN-STRICT
// RUN: not pw-opt %s --pw-compile="rounding=half" 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: for the --rounding option: Cannot find option named 'half'!

// DEFINE: %{bad} = not pw-run --topology=1x1x1 --compile-only
// RUN: %{bad} %s --strict-rounding --excess-precision 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: pw-run: error: {{.*}}--{{strict-rounding|excess-precision}} excludes --{{strict-rounding|excess-precision}}
// RUN: %{bad} %t/plan --strict-rounding 2>&1 | FileCheck %s --check-prefix=OF-PLAN
// OF-PLAN: pw-run: error: --strict-rounding: {{.*}}plan is a plan, whose code is compiled
// RUN: %{bad} %t/plan --excess-precision 2>&1 | FileCheck %s --check-prefix=OF-PLAN-TOO
// OF-PLAN-TOO: pw-run: error: --excess-precision: {{.*}}plan is a plan, whose code is compiled
// RUN: %{bad} %t/each --excess-precision 2>&1 | FileCheck %s --check-prefix=OF-TEXT
// OF-TEXT: is a plan, whose code is already compiled; a rounding is for programs

func.func @main(%arg0: tensor<5xf32> loc("x"), %arg1: tensor<5xf32> loc("y"), %arg2: tensor<bf16> loc("n"))
    -> (tensor<f32> {jax.result_info = "sum"}, tensor<f32> {jax.result_info = "dot"}, tensor<bf16> {jax.result_info = "narrow"}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %products = stablehlo.multiply %arg0, %arg1 : tensor<5xf32>
  %sum = stablehlo.reduce(%products init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
  %dot = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] : (tensor<5xf32>, tensor<5xf32>) -> tensor<f32>
  %less = stablehlo.constant dense<-1.015625> : tensor<bf16>
  %square = stablehlo.multiply %arg2, %arg2 : tensor<bf16>
  %narrow = stablehlo.add %square, %less : tensor<bf16>
  return %sum, %dot, %narrow : tensor<f32>, tensor<f32>, tensor<bf16>
}
