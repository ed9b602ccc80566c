// Checks of a module are compared after the run, and are no results.
// REQUIRES: pw-run
// DEFINE: %{run} = pw-run %s --topology=1x1x1
// RUN: %{run} --input=x=1,2 --input=n=7 | FileCheck %s
// CHECK: result0: 2xf32 = [1, 2]
// CHECK-NEXT: [SUCCESS] 1 step, 4 checks{{$}}
// RUN: %{run} --input=x=1,2 --input=n=7 --output=check0=- | FileCheck %s --check-prefix=NAMED
// NAMED: check0: 2xf32 = [1, 2]
// NAMED-NEXT: [SUCCESS] 1 step, 4 checks{{$}}

// RUN: %python %S/Inputs/exits.py 1 %{run} --input=x=1.0000005,2.00005 --input=n=8 \
// RUN:   | FileCheck %s --check-prefix=FAIL
// FAIL: [FAILED] check0[0]: got 1.0000005, expected 1, 4 units in the last place apart, expected at most 3; 2 of 2 elements differ [PW5105]
// FAIL-NEXT: [FAILED] check2: got 8, expected 7; 1 of 1 element differs [PW5105]
// FAIL-NEXT: [FAILED] check3[0]: got 1.0000005, expected 1, {{.*}} apart; 2 of 2 elements differ [PW5105]
// FAIL-NOT: SUCCESS

// The plan carries the checks, as text and in its file.
// RUN: %{run} --compile-only --emit-plan=%t.plan --emit-plan-text=- | FileCheck %s --check-prefix=PLAN
// PLAN: plan.result @check0 fetch @check0.fetch expect close @check0.expected max_ulp 3
// RUN: %python %S/Inputs/exits.py 1 pw-run %t.plan --input=x=9,9 --input=n=7 \
// RUN:   | FileCheck %s --check-prefix=PLANFAIL
// PLANFAIL: [FAILED] check0[0]: got 9
// RUN: pw-run --explain=PW5105 | FileCheck %s --check-prefix=CODE
// CODE: A check of the program failed

// A module of checks alone has no results.
// RUN: sed -n 's,^// MODULE: ,,p' %s > %t.alone.mlir
// RUN: pw-run %t.alone.mlir --topology=1x1x1 | FileCheck %s --check-prefix=ALONE
// MODULE: func.func @main() {
// MODULE:   %0 = stablehlo.constant dense<1> : tensor<2xi32>
// MODULE:   check.expect_eq_const %0, dense<1> : tensor<2xi32>
// MODULE:   return
// MODULE: }
// ALONE: [SUCCESS] 1 step, 1 check{{$}}

func.func public @main(%arg0: tensor<2xf32> loc("x"), %arg1: tensor<i32> loc("n")) -> tensor<2xf32> {
  %0 = call @expected() : () -> tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%arg0, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  check.expect_almost_eq %arg0, %0 : tensor<2xf32>
  call @inner(%arg1) : (tensor<i32>) -> ()
  check.expect_eq %arg0, %0 : tensor<2xf32>
  return %arg0 : tensor<2xf32>
}
func.func private @expected() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @inner(%arg0: tensor<i32>) {
  check.expect_eq_const %arg0, dense<7> : tensor<i32>
  return
}
