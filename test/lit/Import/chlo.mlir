// RUN: pw-opt %s --pw-lower-chlo --pw-lower-stablehlo -split-input-file | FileCheck %s

// Functions that math has stay operations on tensors.
// CHECK-LABEL: func.func @math
func.func @math(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: math.acos {{.*}} : tensor<4xf32>
  %0 = chlo.acos %a : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.atanh
  %1 = chlo.atanh %0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.erf
  %2 = chlo.erf %1 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.erfc
  %3 = chlo.erfc %2 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.tan
  %4 = chlo.tan %3 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: arith.mulf
  %5 = chlo.square %4 : tensor<4xf32> -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// -----

// Each operation on 16-bit floats computes in f32 and rounds.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK: arith.extf {{.*}} : tensor<4xbf16> to tensor<4xf32>
  // CHECK-NEXT: math.asinh
  // CHECK-NEXT: arith.truncf {{.*}} : tensor<4xf32> to tensor<4xbf16>
  %0 = chlo.asinh %a : tensor<4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// The hyperbolic functions of f32 are sums of exponentials; those of f64 are not.
// CHECK-LABEL: func.func @hyperbolic
func.func @hyperbolic(%a: tensor<4xf32>, %b: tensor<4xf64>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<4xf64>) {
  // CHECK: math.exp {{.*}} : tensor<4xf32>
  // CHECK-NOT: math.cosh
  %0 = chlo.cosh %a : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.expm1 {{.*}} : tensor<4xf32>
  // CHECK-NOT: math.sinh
  %1 = chlo.sinh %a : tensor<4xf32> -> tensor<4xf32>
  // CHECK: math.cosh {{.*}} : tensor<4xf64>
  %2 = chlo.cosh %b : tensor<4xf64> -> tensor<4xf64>
  // CHECK: math.sinh {{.*}} : tensor<4xf64>
  %3 = chlo.sinh %b : tensor<4xf64> -> tensor<4xf64>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<4xf64>
}

// -----

// A formula is one operation whose block computes in f64.
// CHECK-LABEL: func.func @formula
func.func @formula(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
  // CHECK: ^bb0(%[[X:.*]]: f16, %{{.*}}: f16):
  // CHECK: arith.extf %[[X]] : f16 to f64
  // CHECK: %[[F32:.*]] = arith.truncf {{.*}} : f64 to f32
  // CHECK-NEXT: arith.truncf %[[F32]] : f32 to f16
  // CHECK-NEXT: linalg.yield
  // CHECK-NOT: linalg.generic
  %0 = chlo.digamma %a : tensor<2x4xf16> -> tensor<2x4xf16>
  return %0 : tensor<2x4xf16>
}

// -----

// The logarithm in the inverse error function of f32 is one of f32.
// CHECK-LABEL: func.func @erf_inv
func.func @erf_inv(%a: tensor<f32>) -> tensor<f32> {
  // CHECK: math.log {{.*}} : f32
  %0 = chlo.erf_inv %a : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @two_operands
func.func @two_operands(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3xf32>, tensor<3xf32>)
  // CHECK: math.powf
  %0 = chlo.zeta %a, %b : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  // CHECK: linalg.generic
  %1 = chlo.polygamma %a, %0 : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  // CHECK: arith.bitcast {{.*}} : tensor<3xf32> to tensor<3xi32>
  %2 = chlo.next_after %0, %1 : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @infinities
func.func @infinities(%a: tensor<3xf16>) -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>) {
  // CHECK: math.absf
  // CHECK: arith.cmpf oeq, {{.*}} : tensor<3xf32>
  %0 = chlo.is_inf %a : tensor<3xf16> -> tensor<3xi1>
  // CHECK: arith.cmpf oeq
  %1 = chlo.is_pos_inf %a : tensor<3xf16> -> tensor<3xi1>
  // CHECK: arith.cmpf oeq
  %2 = chlo.is_neg_inf %a : tensor<3xf16> -> tensor<3xi1>
  return %0, %1, %2 : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>
}
