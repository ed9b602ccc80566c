// RUN: pw-opt %s --pw-lower-chlo -split-input-file -verify-diagnostics | FileCheck %s

// Composites are inlined, also those in decompositions. Functions that have no other
// uses disappear.
// CHECK-LABEL: func.func @nested
func.func @nested(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
  // CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %[[SUM]], %arg0
  // CHECK-NEXT: return %[[PRODUCT]], %arg0
  %0:2 = stablehlo.composite "my.outer" %a {decomposition = @outer} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-NOT: func.func
func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @outer(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.composite "my.inner" %a {decomposition = @inner} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.multiply %0, %a : tensor<4xf32>
  return %1, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// A composite with the name of an operation becomes that operation.
// CHECK-LABEL: func.func @known
func.func @known(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xi32>) {
  // CHECK: chlo.erf
  %0 = stablehlo.composite "chlo.erf" %a {decomposition = @erf} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.sort
  %1:2 = stablehlo.composite "chlo.top_k" %a {composite_attributes = {k = 2 : i64}, decomposition = @top_k} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0, %1#0, %1#1 : tensor<4xf32>, tensor<2xf32>, tensor<2xi32>
}
func.func private @erf(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func private @top_k(%a: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %values, %indices = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return %values, %indices : tensor<2xf32>, tensor<2xi32>
}

// -----

func.func @circle(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected decomposition @circle not to contain itself}}
  %0 = stablehlo.composite "my.circle" %a {decomposition = @circle} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @empty(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected decomposition @declared to be a function with one block}}
  %0 = stablehlo.composite "my.empty" %a {decomposition = @declared} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
