// Functions, named computations and named tensors run where the options say.
// RUN: pw-opt %s --split-input-file --pw-import-program="assign=layer1=s0:F,layer1(1)=s0:B,layer2=s1:F,f=s2,z=s0 slices=s0:0,s1:1,s2:0" | FileCheck %s

// CHECK-LABEL: module @computations
// CHECK: pw.slice @s0 mesh <>
// CHECK: pw.slice @s1 mesh <> apart_from [@s0]
// CHECK-NOT: pw.slice
// CHECK: pw.program @main(%x: !pw.array<4xf32, @s0, [{}]>, %z: !pw.array<4xf32, @s0, [{}]>)
// CHECK: pw.call @main.s0.1F({{.*}}) label "1F"
// CHECK: pw.call @main.s1.1F({{.*}}) label "1F"
// CHECK: pw.call @main.s0.1B({{.*}}) label "1B"
module @computations {
  func.func public @main(%arg0: tensor<4xf32> loc("x"), %arg1: tensor<4xf32> loc("z")) -> tensor<4xf32> {
    %0 = mpmd.named_tensor %arg1 name="z" : tensor<4xf32>
    %1 = mpmd.call @step(%arg0, %0) {call_counter = 1 : ui32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @step(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = mpmd.named_computation<"layer1"> (%arg0) (%a: tensor<4xf32>) {
      %3 = stablehlo.sine %a : tensor<4xf32>
      mpmd.return %3 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %1 = mpmd.named_computation<"layer2"> (%0, %arg1) (%a: tensor<4xf32>, %b: tensor<4xf32>) {
      %3 = stablehlo.add %a, %b : tensor<4xf32>
      mpmd.return %3 : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = mpmd.named_computation<"layer1"(1)> (%1) (%a: tensor<4xf32>) {
      %3 = stablehlo.cosine %a : tensor<4xf32>
      mpmd.return %3 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
  func.func private @uses(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
