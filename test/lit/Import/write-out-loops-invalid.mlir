// RUN: pw-opt %s --pw-write-out-loops=max-ops=100 -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c30 = stablehlo.constant dense<30> : tensor<i32>
  // expected-error@+1 {{'stablehlo.while' op communicates in each of its 30 iterations of 4 operations; expected at most 100 operations in all (max-ops) [PW1104]}}
  %0:2 = stablehlo.while(%i = %c0, %x = %arg0) : tensor<i32>, tensor<8xf32> cond {
    %p = stablehlo.compare LT, %i, %c30, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
      sdy.return %arg1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<10.0> : tensor<f32>
  // expected-error@+1 {{'stablehlo.while' op communicates in its body, but the number of its iterations is not a constant; expected a counter that grows by 1 to a constant [PW1104]}}
  %0 = stablehlo.while(%x = %arg0) : tensor<f32> cond {
    %p = stablehlo.compare LT, %x, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = sdy.manual_computation(%x) in_shardings=[<@mesh, []>] out_shardings=[<@mesh, []>] manual_axes={"x"} (%arg1: tensor<f32>) {
      %1 = stablehlo.add %arg1, %arg1 : tensor<f32>
      sdy.return %1 : tensor<f32>
    } : (tensor<f32>) -> tensor<f32>
    stablehlo.return %y : tensor<f32>
  }
  return %0 : tensor<f32>
}
