// RUN: pw-opt %s --pw-lower-stablehlo | FileCheck %s

// Affine maps of the functions below are printed first.
// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
// CHECK-DAG: #[[REVERSE:.*]] = affine_map<(d0, d1, d2, d3) -> (-d0 + 2, d1, d2, d3)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5 * 2, d6)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>

// A plain product of matrices keeps its name.
// CHECK-LABEL: func.func @matmul
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x5xf32>) outs(%[[ZEROS]] : tensor<4x5xf32>)
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @batch_matmul
// CHECK: linalg.batch_matmul
func.func @batch_matmul(%a: tensor<2x4x8xf32>, %b: tensor<2x8x5xf32>) -> tensor<2x4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// Other products read their operands without a transpose. Narrow floats are
// widened inside, and the sum is rounded once.
// CHECK-LABEL: func.func @heads
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #{{.*}}]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<2x6x4x8xbf16>, tensor<2x7x4x8xbf16>) outs(%{{.*}} : tensor<2x4x6x7xf32>)
// CHECK-COUNT-2: arith.extf
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf %{{.*}} : tensor<2x4x6x7xf32> to tensor<2x4x6x7xbf16>
func.func @heads(%a: tensor<2x6x4x8xbf16>, %b: tensor<2x7x4x8xbf16>) -> tensor<2x4x6x7xbf16> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xbf16>, tensor<2x7x4x8xbf16>) -> tensor<2x4x6x7xbf16>
  return %0 : tensor<2x4x6x7xbf16>
}

// Bytes are widened by their sign.
// CHECK-LABEL: func.func @bytes
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<4x8xi8>, tensor<8x5xi8>) outs(%{{.*}} : tensor<4x5xi32>)
// CHECK-COUNT-2: arith.extui
// CHECK: arith.muli
func.func @bytes(%a: tensor<4x8xui8>, %b: tensor<8x5xui8>) -> tensor<4x5xui32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xui8>, tensor<8x5xui8>) -> tensor<4x5xui32>
  return %0 : tensor<4x5xui32>
}

// A product of i1 counts in a type that does not wrap.
// CHECK-LABEL: func.func @any
// CHECK-COUNT-2: arith.extui %{{.*}} : tensor<{{.*}}xi1> to tensor<{{.*}}xi32>
// CHECK: linalg.matmul
// CHECK: arith.cmpi ne
func.func @any(%a: tensor<4x300xi1>, %b: tensor<300x5xi1>) -> tensor<4x5xi1> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x300xi1>, tensor<300x5xi1>) -> tensor<4x5xi1>
  return %0 : tensor<4x5xi1>
}

// CHECK-LABEL: func.func @no_terms
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK-NEXT: return %[[ZEROS]]
func.func @no_terms(%a: tensor<4x0xf32>, %b: tensor<0x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x0xf32>, tensor<0x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// A reversed kernel is a copy. Padding stands right before the windows.
// CHECK-LABEL: func.func @convolution
// CHECK: %[[KERNEL:.*]] = linalg.generic {indexing_maps = [#[[REVERSE]], #{{.*}}]
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 1, 2, 0] high[0, 1, 0, 0]
// CHECK: linalg.generic {indexing_maps = [#[[WINDOW]], #[[FILTER]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[PADDED]], %[[KERNEL]]
func.func @convolution(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x16xf32>) -> tensor<1x4x3x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[1, 1], [2, 0]], rhs_dilate = [1, 2], reverse = [true, false]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x4x3x16xf32>
  return %0 : tensor<1x4x3x16xf32>
}

// Each channel is a group of its own, which needs no dimension beside it.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: expand_shape
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME: outs(%{{.*}} : tensor<1x6x6x16xf32>)
func.func @depthwise(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x1x16xf32>) -> tensor<1x6x6x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 16 : i64}
    : (tensor<1x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}

// Groups of the batch are a dimension of the input and of the output features.
// CHECK-LABEL: func.func @batch_groups
// CHECK: tensor.expand_shape %{{.*}} : tensor<6x4x8xf32> into tensor<2x3x4x8xf32>
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<3x2x5x6xf32>)
// CHECK: tensor.collapse_shape %{{.*}} : tensor<3x2x5x6xf32> into tensor<3x10x6xf32>
func.func @batch_groups(%x: tensor<6x4x8xf32>, %w: tensor<3x4x10xf32>) -> tensor<3x10x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[0, i, o]->[b, f, 0], window = {}
    {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
    : (tensor<6x4x8xf32>, tensor<3x4x10xf32>) -> tensor<3x10x6xf32>
  return %0 : tensor<3x10x6xf32>
}

// The input is spread over zeros; negative padding removes elements of it.
// CHECK-LABEL: func.func @input_dilation
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[0, 0, 1] [1, 2, 7] [1, 1, 1]
// CHECK: tensor.insert_slice %[[PART]] into %{{.*}}[0, 0, 1] [1, 2, 7] [1, 1, 2] : tensor<1x2x7xf32> into tensor<1x2x14xf32>
func.func @input_dilation(%x: tensor<1x2x8xf32>, %w: tensor<3x2x4xf32>) -> tensor<1x4x12xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[0, i, o]->[b, f, 0],
    window = {pad = [[-1, 0]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x8xf32>, tensor<3x2x4xf32>) -> tensor<1x4x12xf32>
  return %0 : tensor<1x4x12xf32>
}

// A kernel of one place is a product of matrices.
// CHECK-LABEL: func.func @one_place
// CHECK: tensor.collapse_shape %{{.*}} : tensor<1x1x3x16xf32> into tensor<3x16xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
func.func @one_place(%x: tensor<2x8x8x3xf32>, %w: tensor<1x1x3x16xf32>) -> tensor<2x8x8x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x8x8x3xf32>, tensor<1x1x3x16xf32>) -> tensor<2x8x8x16xf32>
  return %0 : tensor<2x8x8x16xf32>
}
