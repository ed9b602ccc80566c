// Arguments take results in the next step, and have a value for each step.
// RUN: pw-opt %s --pw-import-program="carry=0-1:0-1 stepped=x" | FileCheck %s
// RUN: pw-opt %s --pw-import-program="carry=state:[0] stepped=3" | FileCheck %s
// RUN: pw-opt %s --pw-import-program="carry=state:result[0] stepped=x" | FileCheck %s
// RUN: pw-opt %s --pw-import-program="carry=state['b']:[0]['b'],1:1 stepped=x" | FileCheck %s
// RUN: pw-opt %s --pw-import-stablehlo="carry=0-1:0-1 stepped=x" | FileCheck %s
// CHECK: pw.program @main
// CHECK-SAME: pw.carried = 0 : i64, pw.name = "state['b']"
// CHECK-SAME: pw.carried = 1 : i64, pw.name = "state['w']"
// CHECK-SAME: %states: !pw.array<4xf32, @devices, [{}]>, %x: !pw.array<2xf32, @devices, [{}]> {pw.stepped}
// CHECK-SAME: {pw.name = "result[0]['b']"}
// CHECK-SAME: {pw.name = "result[0]['w']"}
// CHECK-SAME: {pw.name = "result[1]"}
// CHECK: donate(%{{[^ ,]+}})

// Without options nothing is carried or stepped, and only what the text says is
// donated.
// RUN: pw-opt %s --pw-import-program | FileCheck %s --check-prefix=PLAIN
// RUN: pw-opt %s --pw-import-program="carry=none" | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: pw.carried
// PLAIN-NOT: pw.stepped
// PLAIN: donate(%{{[^ ,]+}})

// A name that no argument has is that of results; `result` means all of them.
// RUN: pw-opt %s --pw-import-program="stepped=[1]" | FileCheck %s --check-prefix=RESULT
// RESULT: {pw.name = "result[0]['w']"}
// RESULT-SAME: {pw.name = "result[1]", pw.stepped}
// RUN: pw-opt %s --pw-import-program="stepped=result" | FileCheck %s --check-prefix=ALL
// ALL-COUNT-3: pw.stepped}

func.func public @main(
    %arg0: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc("state['b']"),
    %arg1: tensor<4xf32> loc("state['w']"),
    %arg2: tensor<4xf32> loc("states"), %arg3: tensor<2xf32> loc("x"))
    -> (tensor<2xf32> {jax.result_info = "result[0]['b']"},
        tensor<4xf32> {jax.result_info = "result[0]['w']"},
        tensor<2xf32> {jax.result_info = "result[1]"}) {
  %0 = stablehlo.add %arg0, %arg3 : tensor<2xf32>
  %1 = stablehlo.add %arg1, %arg2 : tensor<4xf32>
  return %0, %1, %arg3 : tensor<2xf32>, tensor<4xf32>, tensor<2xf32>
}
