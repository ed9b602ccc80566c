// RUN: pw-opt %s --pw-lower-stablehlo | FileCheck %s

// A sum begins with the init value and has one operation, so that it can be cut
// and be computed in lanes.
// CHECK-LABEL: func.func @sum
// CHECK: %[[INIT:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[INIT]] : f32)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]{{.*}} outs(%[[FILL]] : tensor<4xf32>)
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: linalg.yield %[[SUM]]
func.func @sum(%x: tensor<4x8xf32>, %init: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @unsigned
// CHECK: arith.maxui
func.func @unsigned(%x: tensor<4x8xui8>, %init: tensor<ui8>) -> tensor<8xui8> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<4x8xui8>, tensor<ui8>) -> tensor<8xui8>
  return %0 : tensor<8xui8>
}

// Narrow floats are rounded at every step, except where nothing is rounded.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : bf16
func.func @narrow(%x: tensor<4x8xbf16>, %init: tensor<bf16>) -> (tensor<8xbf16>, tensor<bf16>) {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %1 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0, %1 : tensor<8xbf16>, tensor<bf16>
}

// Bits are combined as bytes.
// CHECK-LABEL: func.func @bits
// CHECK: arith.extui %{{.*}} : tensor<8xi1> to tensor<8xi8>
// CHECK: arith.maxsi
// CHECK: arith.trunci %{{.*}} : tensor<i8> to tensor<i1>
// CHECK: arith.minsi
// CHECK: arith.xori
func.func @bits(%x: tensor<8xi1>, %init: tensor<i1>) -> (tensor<i1>, tensor<i1>, tensor<i1>) {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
  %1 = stablehlo.reduce(%x init: %init) applies stablehlo.and across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
  %2 = stablehlo.reduce(%x init: %init) applies stablehlo.xor across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
  return %0, %1, %2 : tensor<i1>, tensor<i1>, tensor<i1>
}

// The region takes all left values first.
// CHECK-LABEL: func.func @argmax
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32, %[[V:.*]]: i32, %[[X:.*]]: f32, %[[U:.*]]: i32):
// CHECK: %[[P:.*]] = arith.cmpf ogt, %[[X]], %[[Y]]
// CHECK-DAG: arith.select %[[P]], %[[X]], %[[Y]]
// CHECK-DAG: arith.select %[[P]], %[[U]], %[[V]]
func.func @argmax(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %least: tensor<f32>, %zero: tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
      %p = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
      %l = stablehlo.select %p, %j, %k : tensor<i1>, tensor<i32>
      stablehlo.return %c, %l : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @no_terms
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK-NEXT: return %[[FILL]]
func.func @no_terms(%x: tensor<4x0xf32>, %init: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<4x0xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @map
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: arith.mulf
func.func @map(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
