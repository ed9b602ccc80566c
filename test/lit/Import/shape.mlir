// RUN: pw-opt %s --pw-lower-stablehlo | FileCheck %s

// CHECK-DAG: #[[SWAPPED:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[REVERSED:.*]] = affine_map<(d0, d1, d2) -> (d0, -d1 + 3, d2)>

// Dimensions of size 1 that are stretched are left out of the operand.
// CHECK-LABEL: @stretch
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<4x1xf32> into tensor<4xf32>
// CHECK: linalg.broadcast ins(%[[ROW]] : tensor<4xf32>) outs(%{{.*}} : tensor<3x2x4xf32>) dimensions = [0, 1]
func.func @stretch(%x: tensor<4x1xf32>) -> tensor<3x2x4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<4x1xf32>) -> tensor<3x2x4xf32>
  return %0 : tensor<3x2x4xf32>
}

// CHECK-LABEL: @stretch_reordered(%arg0: tensor<4x3xi8>)
// CHECK: linalg.generic {indexing_maps = [#[[SWAPPED]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0
func.func @stretch_reordered(%x: tensor<4x3xui8>) -> tensor<3x2x4xui8> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<4x3xui8>) -> tensor<3x2x4xui8>
  return %0 : tensor<3x2x4xui8>
}

// A scalar fills the result. A result that has no new element is a reshape, and
// a broadcast after that reads the operand.
// CHECK-LABEL: @broadcasts
// CHECK: %[[SCALAR:.*]] = tensor.extract %arg0[]
// CHECK: linalg.fill ins(%[[SCALAR]]
// CHECK: linalg.transpose ins(%arg1 : tensor<4x3xf32>) outs(%{{.*}} : tensor<3x4xf32>) permutation = [1, 0]
// CHECK: tensor.expand_shape %arg1 {{\[\[}}0], [1, 2]] output_shape [4, 1, 3]
// CHECK: linalg.broadcast ins(%arg1 : tensor<4x3xf32>) outs(%{{.*}} : tensor<4x5x3xf32>) dimensions = [1]
func.func @broadcasts(%s: tensor<f32>, %x: tensor<4x3xf32>)
    -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<4x5x3xf32>) {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<4x3xf32>) -> tensor<4x1x3xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<4x1x3xf32>) -> tensor<4x5x3xf32>
  return %0, %1, %3 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<4x5x3xf32>
}

// One dimension is split, and the others stay.
// CHECK-LABEL: @split
// CHECK-NOT: collapse_shape
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1], [2, 3]] output_shape [2, 8, 3, 4]
// CHECK: return
func.func @split(%x: tensor<2x8x12xf32>) -> tensor<2x8x3x4xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x8x12xf32>) -> tensor<2x8x3x4xf32>
  return %0 : tensor<2x8x3x4xf32>
}

// Dimensions that have no split in common become one.
// CHECK-LABEL: @join_and_split
// CHECK: %[[JOINED:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<2x6x4xf32> into tensor<2x24xf32>
// CHECK: tensor.expand_shape %[[JOINED]] {{\[\[}}0], [1, 2]] output_shape [2, 3, 8]
func.func @join_and_split(%x: tensor<2x6x4xf32>) -> tensor<2x3x8xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x6x4xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// CHECK-LABEL: @small_reshapes
// CHECK: tensor.collapse_shape %arg0 [] : tensor<1x1xf32> into tensor<f32>
// CHECK: tensor.expand_shape %arg1 [] output_shape [1, 1]
// CHECK: tensor.collapse_shape %arg2 {{\[\[}}0, 1], [2]] : tensor<1x4x1xf32> into tensor<4x1xf32>
// CHECK: tensor.empty() : tensor<5x0xf32>
func.func @small_reshapes(%a: tensor<1x1xf32>, %b: tensor<f32>, %c: tensor<1x4x1xf32>, %d: tensor<0x4xf32>)
    -> (tensor<f32>, tensor<1x1xf32>, tensor<4x1xf32>, tensor<5x0xf32>) {
  %0 = stablehlo.reshape %a : (tensor<1x1xf32>) -> tensor<f32>
  %1 = stablehlo.reshape %b : (tensor<f32>) -> tensor<1x1xf32>
  %2 = stablehlo.reshape %c : (tensor<1x4x1xf32>) -> tensor<4x1xf32>
  %3 = stablehlo.reshape %d : (tensor<0x4xf32>) -> tensor<5x0xf32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<1x1xf32>, tensor<4x1xf32>, tensor<5x0xf32>
}

// Dimensions of size 1 move without a copy, and are not reversed.
// CHECK-LABEL: @transpose_reverse
// CHECK-NOT: linalg.transpose
// CHECK: tensor.expand_shape %{{.*}} output_shape [4, 3, 1]
// CHECK: linalg.generic {indexing_maps = [#[[REVERSED]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0
func.func @transpose_reverse(%x: tensor<1x4x3xf32>) -> (tensor<4x3x1xf32>, tensor<1x4x3xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<1x4x3xf32>) -> tensor<4x3x1xf32>
  %1 = stablehlo.reverse %x, dims = [1, 0] : tensor<1x4x3xf32>
  return %0, %1 : tensor<4x3x1xf32>, tensor<1x4x3xf32>
}

// CHECK-LABEL: @concatenate
// CHECK: tensor.concat dim(1) %arg0, %arg2 : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x5xf32>
func.func @concatenate(%x: tensor<4x3xf32>, %y: tensor<4x0xf32>, %z: tensor<4x2xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.concatenate %x, %y, %z, dim = 1 : (tensor<4x3xf32>, tensor<4x0xf32>, tensor<4x2xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: @pad_edges
// CHECK: tensor.pad %arg0 low[1, 0] high[2, 0]
func.func @pad_edges(%x: tensor<4x3xf32>, %v: tensor<f32>) -> tensor<7x3xf32> {
  %0 = stablehlo.pad %x, %v, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}

// Negative padding takes elements after the interior ones are inserted: of
// 0 v 1 v 2 v 3, this is 1 v 2.
// CHECK-LABEL: @pad_inside
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[1] [2] [1]
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: tensor.insert_slice %[[PART]] into %[[FILLED]][0] [2] [2] : tensor<2xf32> into tensor<3xf32>
func.func @pad_inside(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.pad %x, %v, low = [-2], high = [-2], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Where padding takes all elements, the result is padding, or nothing.
// CHECK-LABEL: @pad_alone
// CHECK: linalg.fill
// CHECK-NOT: arg0
// CHECK: tensor.empty() : tensor<0xf32>
func.func @pad_alone(%x: tensor<2xf32>, %v: tensor<f32>) -> (tensor<1xf32>, tensor<0xf32>) {
  %0 = stablehlo.pad %x, %v, low = [-3], high = [2], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<1xf32>
  %1 = stablehlo.pad %x, %v, low = [-3], high = [1], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<0xf32>
  return %0, %1 : tensor<1xf32>, tensor<0xf32>
}

// CHECK-LABEL: @slice
// CHECK: tensor.extract_slice %arg0[1, 1] [2, 2] [1, 4]
// CHECK: tensor.empty() : tensor<0x2xf32>
func.func @slice(%x: tensor<4x8xf32>) -> (tensor<2x2xf32>, tensor<0x2xf32>) {
  %0 = stablehlo.slice %x [1:3, 1:6:4] : (tensor<4x8xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.slice %x [4:4, 1:6:4] : (tensor<4x8xf32>) -> tensor<0x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<0x2xf32>
}

// A place that can only be 0 is not computed. Unsigned numbers are read as such.
// CHECK-LABEL: @dynamic_slice
// CHECK: %[[START:.*]] = tensor.extract %arg1[]
// CHECK: %[[INDEX:.*]] = arith.index_castui %[[START]] : i8 to index
// CHECK: %[[PLACE:.*]] = arith.minui %[[INDEX]], %c2
// CHECK: tensor.extract_slice %arg0[%[[PLACE]], 0] [2, 8] [1, 1]
func.func @dynamic_slice(%x: tensor<4x8xf32>, %i: tensor<ui8>) -> tensor<2x8xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 8] : (tensor<4x8xf32>, tensor<ui8>, tensor<ui8>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: @dynamic_update_slice
// CHECK: %[[START:.*]] = tensor.extract %arg2[]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[START]] : i32 to index
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[INDEX]], %c0
// CHECK: %[[PLACE:.*]] = arith.minsi %[[LEAST]], %c5
// CHECK: %[[NEXT:.*]] = tensor.insert_slice %arg1 into %arg0[%[[PLACE]]] [3] [1]
// CHECK: return %[[NEXT]], %arg0, %arg0
func.func @dynamic_update_slice(%x: tensor<8xf32>, %u: tensor<3xf32>, %i: tensor<i32>, %none: tensor<0xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<8xf32>, tensor<3xf32>, tensor<i32>) -> tensor<8xf32>
  %1 = stablehlo.dynamic_update_slice %x, %none, %i : (tensor<8xf32>, tensor<0xf32>, tensor<i32>) -> tensor<8xf32>
  %2 = stablehlo.dynamic_update_slice %0, %x, %i : (tensor<8xf32>, tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
