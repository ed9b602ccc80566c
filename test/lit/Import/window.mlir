// RUN: pw-opt %s --pw-lower-stablehlo | FileCheck %s

// Pooling has padding in place and a window operand without elements to read.
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
// CHECK-LABEL: func.func @pool
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0, 0, 0] high[0, 1, 1, 0]
// CHECK: linalg.generic {indexing_maps = [#[[PLACE]], #[[WINDOW]], #{{.*}}]{{.*}} ins(%[[PADDED]], %{{.*}} : tensor<2x9x9x16xf32>, tensor<3x3xf32>)
// CHECK: arith.maximumf
func.func @pool(%x: tensor<2x8x8x16xf32>) -> tensor<2x4x4x16xf32> {
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>,
      padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<2x8x8x16xf32>, tensor<f32>) -> tensor<2x4x4x16xf32>
  return %0 : tensor<2x4x4x16xf32>
}

// Dilation of the base inserts init values, negative padding removes elements.
// CHECK-LABEL: func.func @dilated
// CHECK: %[[FILL:.*]] = linalg.fill ins(%{{.*}} : i32) outs(%{{.*}} : tensor<13xi32>)
// CHECK: tensor.insert_slice %{{.*}} into %[[FILL]][1] [6] [2] : tensor<6xi32> into tensor<13xi32>
// CHECK: linalg.generic
// CHECK: arith.muli
func.func @dilated(%x: tensor<7xi32>, %init: tensor<i32>) -> tensor<9xi32> {
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 3>, base_dilations = array<i64: 2>, window_dilations = array<i64: 2>,
      padding = dense<[[-1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<7xi32>, tensor<i32>) -> tensor<9xi32>
  return %0 : tensor<9xi32>
}

// A cumulative sum adds one row after the other.
// CHECK-LABEL: func.func @cumulative_sum
// CHECK: scf.for
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 16] [1, 1]
// CHECK: arith.addf
// CHECK: tensor.insert_slice
func.func @cumulative_sum(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 8, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Along the innermost dimension, it transposes first.
// CHECK-LABEL: func.func @along_rows
// CHECK: linalg.transpose
// CHECK: scf.for
// CHECK: linalg.transpose
func.func @along_rows(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 16>, padding = dense<[[0, 0], [15, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// With an init value that counts more than once, every window is summed.
// CHECK-LABEL: func.func @other_init
// CHECK-NOT: scf.for
// CHECK: tensor.pad
// CHECK: linalg.generic
func.func @other_init(%x: tensor<8xf32>) -> tensor<8xf32> {
  %init = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Sums of floats from a place on begin with their first term as long as they
// are short; maxima have the same bits from the end.
// CHECK-LABEL: func.func @from_the_end
// CHECK-NOT: scf.for
// CHECK: arith.addf
// CHECK: scf.for
// CHECK: arith.subi
// CHECK: arith.maximumf
func.func @from_the_end(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 8>, padding = dense<[[0, 7]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 8>, padding = dense<[[0, 7]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// The number of the selected element of each window, then the sum of the source
// values of the windows that selected an element: one window for odd rows, two
// for even ones. Padding is never selected.
// CHECK-LABEL: func.func @selected
// CHECK: tensor.pad %{{.*}} low[0, 0] high[1, 0]
// CHECK: %[[SELECTED:.*]]:2 = linalg.generic
// CHECK: arith.cmpf oge
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: tensor.pad %[[SELECTED]]#1 low[1, 0] high[0, 0]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<4x2x4xf32>)
// CHECK: arith.addf
// CHECK: arith.cmpi eq
// CHECK: arith.select
func.func @selected(%x: tensor<8x4xf32>, %y: tensor<4x4xf32>, %init: tensor<f32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %y, %init) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>,
      padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
