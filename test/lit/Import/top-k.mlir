// RUN: pw-opt %s --pw-lower-chlo -split-input-file | FileCheck %s

// A stable sort in descending order keeps the lower index first.
// CHECK-LABEL: func.func @floats
func.func @floats(%a: tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  // CHECK: %[[IOTA:.*]] = stablehlo.iota dim = 1 : tensor<2x6xi32>
  // CHECK: %[[SORT:.*]]:2 = "stablehlo.sort"(%{{.*}}, %[[IOTA]]) <{dimension = 1 : i64, is_stable = true}>
  // CHECK: stablehlo.compare GT, %{{.*}}, %{{.*}}, TOTALORDER
  // CHECK: stablehlo.slice %[[SORT]]#0 [0:2, 0:3]
  // CHECK: stablehlo.slice %[[SORT]]#1 [0:2, 0:3]
  %values, %indices = chlo.top_k(%a, k = 3) : tensor<2x6xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %values, %indices : tensor<2x3xf32>, tensor<2x3xi32>
}

// -----

// The element type says how integers are compared.
// CHECK-LABEL: func.func @integers
func.func @integers(%a: tensor<6xui8>) -> (tensor<6xui8>, tensor<6xi32>) {
  // CHECK: stablehlo.compare GT, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : (tensor<ui8>, tensor<ui8>)
  %values, %indices = chlo.top_k(%a, k = 6) : tensor<6xui8> -> (tensor<6xui8>, tensor<6xi32>)
  return %values, %indices : tensor<6xui8>, tensor<6xi32>
}

// -----

// Calls by name stand for the operations.
// CHECK-LABEL: func.func @calls
func.func @calls(%a: tensor<6xf32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi32>, tensor<6xf32>) {
  // CHECK: stablehlo.compare LT, {{.*}} TOTALORDER
  %0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 2 : i64, largest = false}, mhlo.version = 1 : i64} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  // CHECK: stablehlo.compare GT, {{.*}} TOTALORDER
  %1:2 = stablehlo.custom_call @TopK(%a) : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  // CHECK: chlo.erf %
  %2 = stablehlo.custom_call @mhlo.erf(%a) : (tensor<6xf32>) -> tensor<6xf32>
  return %0#0, %0#1, %1#0, %1#1, %2 : tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi32>, tensor<6xf32>
}

// -----

// A call whose types do not fit stays.
// CHECK-LABEL: func.func @misfit
func.func @misfit(%a: tensor<6xi32>) -> tensor<6xi32> {
  // CHECK: stablehlo.custom_call @mhlo.erf
  %0 = stablehlo.custom_call @mhlo.erf(%a) : (tensor<6xi32>) -> tensor<6xi32>
  return %0 : tensor<6xi32>
}
