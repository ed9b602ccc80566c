// RUN: pw-opt %s --pw-lower-stablehlo --canonicalize | FileCheck %s

// A pivot that is not positive is NaN, and so is what follows it.
// CHECK-LABEL: func.func @cholesky
// CHECK: linalg.fill
// CHECK: scf.for %[[BATCH:.*]] = %c0 to %c2
// CHECK: scf.for %[[J:.*]] = %c0 to %c3
// CHECK: tensor.extract %arg0[%[[BATCH]], %[[J]], %[[J]]]
// CHECK: %[[SQUARE:.*]] = scf.for %{{.*}} = %c0 to %[[J]]
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt, %[[SQUARE]]
// CHECK: %[[CHECKED:.*]] = arith.select %[[POSITIVE]], %[[SQUARE]]
// CHECK: %[[PIVOT:.*]] = math.sqrt %[[CHECKED]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c3
// CHECK: tensor.extract %arg0[%[[BATCH]], %[[I]], %[[J]]]
// CHECK: arith.divf %{{.*}}, %[[PIVOT]]
func.func @cholesky(%a: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x3x3xf32>
  return %0 : tensor<2x3x3xf32>
}

// An upper factor is read and written transposed. f16 is rounded at the end.
// CHECK-LABEL: func.func @upper
// CHECK: %[[WIDE:.*]] = arith.extf %arg0 : tensor<3x3xf16> to tensor<3x3xf32>
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} to %c3 {{.*}} -> (tensor<3x3xf32>)
// CHECK: tensor.extract %[[WIDE]][%[[J]], %[[I]]]
// CHECK: arith.truncf {{.*}} : tensor<3x3xf32> to tensor<3x3xf16>
func.func @upper(%a: tensor<3x3xf16>) -> tensor<3x3xf16> {
  %0 = stablehlo.cholesky %a : tensor<3x3xf16>
  return %0 : tensor<3x3xf16>
}

// The rows of an upper system are solved from the last one on.
// CHECK-LABEL: func.func @solve_upper
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c3
// CHECK: %[[ROW:.*]] = arith.subi %c2, %[[STEP]]
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c3
// CHECK: tensor.extract %arg0[%[[ROW]], %[[K]]]
// CHECK: tensor.extract %arg0[%[[ROW]], %[[ROW]]]
// CHECK: arith.divf
func.func @solve_upper(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// A lower matrix on the right, transposed, is a lower system of rows of b.
// CHECK-LABEL: func.func @solve_right
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c3
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c2
// CHECK: scf.for %[[K:.*]] = %c0 to %[[ROW]]
// CHECK: tensor.extract %arg0[%[[ROW]], %[[K]]]
// CHECK: tensor.extract %{{.*}}[%[[COLUMN]], %[[K]]]
// CHECK-NOT: arith.divf
// CHECK: return
func.func @solve_right(%a: tensor<3x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
