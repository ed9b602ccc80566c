// RUN: pw-opt %s --pw-lower-stablehlo --canonicalize | FileCheck %s

// Lines are sorted between two buffers that keep their places. The comparator
// gets the element of the second run first, so that equal elements stay in order.
// CHECK-LABEL: func.func @pairs
// CHECK: scf.for {{.*}} = %c0 to %c6 {{.*}} -> (tensor<7x6xf32>, tensor<7x6xi32>, tensor<7xf32>, tensor<7xi32>)
// CHECK: tensor.extract_slice {{.*}} [7, 1] [1, 1] : tensor<7x6xf32> to tensor<7xf32>
// CHECK: scf.for {{.*}} = %c0 to %c2 {{.*}} -> (index, tensor<7xf32>, tensor<7xi32>, tensor<7xf32>, tensor<7xi32>)
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[RIGHT:.*]] = tensor.extract
// CHECK: %[[LEFT:.*]] = tensor.extract
// CHECK: arith.cmpf olt, %[[RIGHT]], %[[LEFT]] : f32
// CHECK-COUNT-2: tensor.insert %
// CHECK: scf.for
// CHECK: scf.for
func.func @pairs(%a: tensor<7x6xf32>, %b: tensor<7x6xi32>) -> (tensor<7x6xf32>, tensor<7x6xi32>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = -2 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %u: tensor<i32>, %v: tensor<i32>):
    %p = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<7x6xf32>, tensor<7x6xi32>) -> (tensor<7x6xf32>, tensor<7x6xi32>)
  return %0#0, %0#1 : tensor<7x6xf32>, tensor<7x6xi32>
}

// CHECK-LABEL: func.func @one
// CHECK-NEXT: return %arg0
func.func @one(%a: tensor<4x1xi32>) -> tensor<4x1xi32> {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %p = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x1xi32>) -> tensor<4x1xi32>
  return %0 : tensor<4x1xi32>
}
