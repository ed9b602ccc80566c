// RUN: pw-opt %s --pw-lower-stablehlo --canonicalize | FileCheck %s

// Rows are looked up at clamped indices.
// CHECK-LABEL: func.func @rows
// CHECK: %[[LOW:.*]] = arith.maxsi
// CHECK: %[[INDEX:.*]] = arith.minsi %[[LOW]], %{{.*}} : tensor<4xi64>
// CHECK: %[[COLUMN:.*]] = tensor.expand_shape %[[INDEX]]
// CHECK: tensor.gather %arg0[%[[COLUMN]]] gather_dims([0]) : (tensor<16x8xf32>, tensor<4x1xi64>) -> tensor<4x8xf32>
func.func @rows(%t: tensor<16x8xf32>, %i: tensor<4x1xi32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Columns are looked up and transposed.
// CHECK-LABEL: func.func @columns
// CHECK: %[[ROWS:.*]] = tensor.gather %arg0[%{{.*}}] gather_dims([1]) : (tensor<16x8xf32>, tensor<4x1xi64>) -> tensor<4x16xf32>
// CHECK: linalg.transpose ins(%[[ROWS]]
func.func @columns(%t: tensor<16x8xf32>, %i: tensor<4xui32>) -> tensor<16x4xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 16, 1>}> : (tensor<16x8xf32>, tensor<4xui32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// A single slice is cut out.
// CHECK-LABEL: func.func @slice
// CHECK: tensor.extract_slice %arg0[%{{.*}}, 0] [2, 8] [1, 1]
func.func @slice(%t: tensor<16x8xf32>, %i: tensor<1xi32>) -> tensor<2x8xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 2, 8>}> : (tensor<16x8xf32>, tensor<1xi32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// Other slices are read element by element, here in a batch of tables.
// CHECK-LABEL: func.func @batch
// CHECK: linalg.generic
// CHECK: %[[BATCH:.*]] = linalg.index 0
// CHECK: %[[START:.*]] = arith.index_cast
// CHECK: %[[OFFSET:.*]] = linalg.index 2
// CHECK: %[[PLACE:.*]] = arith.addi %[[START]], %[[OFFSET]]
// CHECK: tensor.extract %arg0[%[[BATCH]], %[[PLACE]]] : tensor<3x8xf32>
func.func @batch(%t: tensor<3x8xf32>, %i: tensor<3x5x1xi32>) -> tensor<3x5x2xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x8xf32>, tensor<3x5x1xi32>) -> tensor<3x5x2xf32>
  return %0 : tensor<3x5x2xf32>
}
