// Names of functions may have what JAX adds to them.
// RUN: pw-opt %s --pw-import-program="assign=layer=s0,layer_1=s1:B slices=s1,s0" | FileCheck %s

// CHECK: pw.slice @s1 mesh <>
// CHECK: pw.slice @s0 mesh <>
// CHECK: pw.call @main.s0(
// CHECK: pw.call @main.s1.B({{.*}}) label "B"
// CHECK: pw.call @main.s0_0(
module @names {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @partir_named_computation_call_layer(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @partir_named_computation_call_layer_1(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = call @partir_named_computation_call_layer_2(%1) : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func private @partir_named_computation_call_layer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.sine %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @partir_named_computation_call_layer_1(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.cosine %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @partir_named_computation_call_layer_2(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
