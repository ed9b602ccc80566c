// RUN: pw-opt %s --pw-lower-stablehlo --canonicalize | FileCheck %s

// Rows are added to a table one after the other, in place. A row that is out of
// range leaves the first row as it was.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[T:.*]] = %arg0) -> (tensor<16x8xf32>)
// CHECK: %[[ROW:.*]] = arith.index_cast
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %c16
// CHECK: %[[PLACE:.*]] = arith.select %[[INSIDE]], %[[ROW]], %c0
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[T]][%[[PLACE]], 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<8xf32>
// CHECK: tensor.extract_slice %arg2[%[[K]], 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} outs(%[[OLD]] : tensor<8xf32>)
// CHECK: %[[SUM:.*]] = arith.addf %out, %in : f32
// CHECK: arith.select %[[INSIDE]], %[[SUM]], %out : f32
// CHECK: tensor.insert_slice %[[NEW]] into %[[T]][%[[PLACE]], 0]
func.func @rows(%t: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) -> tensor<16x8xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// Unsigned indices are read as such, and no index needs a dimension of its own.
// CHECK-LABEL: func.func @elements
// CHECK: scf.for
// CHECK: %[[INDEX:.*]] = tensor.extract %arg1[%{{.*}}] : tensor<4xi8>
// CHECK: %[[WIDE:.*]] = arith.extui %[[INDEX]] : i8 to i64
// CHECK: arith.minui %[[WIDE]], %c16_i64
// CHECK: tensor.insert
// CHECK-NOT: linalg.generic
func.func @elements(%t: tensor<16xi32>, %i: tensor<4xui8>, %u: tensor<4xi32>) -> tensor<16xi32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    stablehlo.return %y : tensor<i32>
  }) : (tensor<16xi32>, tensor<4xui8>, tensor<4xi32>) -> tensor<16xi32>
  return %0 : tensor<16xi32>
}

// Each element of a window that an index moves is in range or not; the other
// dimension of the window is a row. Both operands go through one loop.
// CHECK-LABEL: func.func @window
// CHECK: scf.for %[[W:.*]] = %c0 to %c2 {{.*}} -> (tensor<5x4xf32>, tensor<5x4xi32>)
// CHECK: %[[START:.*]] = arith.index_cast
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[W]] : index
// CHECK: arith.cmpi ult, %[[AT]], %c5
// CHECK-COUNT-2: tensor.insert_slice {{.*}} [1, 4] [1, 1]
func.func @window(%a: tensor<5x4xf32>, %b: tensor<5x4xi32>, %i: tensor<1xi64>, %u: tensor<2x4xf32>, %v: tensor<2x4xi32>) -> (tensor<5x4xf32>, tensor<5x4xi32>) {
  %0:2 = "stablehlo.scatter"(%a, %b, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>}> ({
  ^bb0(%x0: tensor<f32>, %x1: tensor<i32>, %y0: tensor<f32>, %y1: tensor<i32>):
    stablehlo.return %y0, %y1 : tensor<f32>, tensor<i32>
  }) : (tensor<5x4xf32>, tensor<5x4xi32>, tensor<1xi64>, tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<5x4xf32>, tensor<5x4xi32>)
  return %0#0, %0#1 : tensor<5x4xf32>, tensor<5x4xi32>
}

// Nothing is written without updates.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: return %arg0
func.func @none(%t: tensor<3xf32>, %i: tensor<0x1xi32>, %u: tensor<0xf32>) -> tensor<3xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<3xf32>, tensor<0x1xi32>, tensor<0xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
