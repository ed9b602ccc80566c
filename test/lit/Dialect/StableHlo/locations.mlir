// Names of arguments stand in locations, which are kept.
// RUN: pw-opt %s -mlir-print-debuginfo > %t.once && pw-opt %t.once -mlir-print-debuginfo | diff %t.once - && FileCheck %s < %t.once

// CHECK: #[[STATE:.*]] = loc("state['w']")
#loc1 = loc("state['w']")
module @jit_f {
  // CHECK: func.func public @main(%arg0: tensor<4xf32> loc("state['w']"), %arg1: tensor<f32>
  func.func public @main(%arg0: tensor<4xf32> loc("state['w']"), %arg1: tensor<f32> loc(#loc1)) -> tensor<f32> {
    // CHECK: stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: reducer(%arg2: tensor<f32> loc({{.*}}), %arg3: tensor<f32> loc({{.*}})) {
    %0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
     reducer(%a: tensor<f32> loc("x"), %b: tensor<f32> loc("y"))  {
      %1 = stablehlo.subtract %b, %a : tensor<f32> loc("sub")
      stablehlo.return %1 : tensor<f32> loc(unknown)
    } loc(#loc2)
    %2 = stablehlo.while(%i = %0) : tensor<f32>
     cond {
      %3 = stablehlo.is_finite %i : (tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      stablehlo.return %i : tensor<f32>
    } loc("loop")
    return %2 : tensor<f32>
  } loc("main")
}
#loc2 = loc("jit(f)/reduce_sub"(#loc1))
