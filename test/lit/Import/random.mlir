// RUN: pw-opt %s --pw-lower-stablehlo --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// A counter gives an element of 64 bits.
// CHECK-LABEL: func.func @longs
// CHECK: %[[KEY:.*]] = tensor.extract %arg0[%c0]
// CHECK: %[[COUNTER:.*]] = tensor.extract %arg0[%c1]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<5xi64>)
// CHECK: %[[NEXT:.*]] = arith.addi %[[COUNTER]], %c5_i64
// CHECK: tensor.insert %[[NEXT]] into %arg0[%c1]
func.func @longs(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui64>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui64>)
  return %0, %1 : tensor<2xui64>, tensor<5xui64>
}

// A counter gives two neighbors of fewer bits. The last one of five is left over.
// CHECK-LABEL: func.func @bytes
// CHECK: %[[HALVES:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}} : tensor<3xi8>, tensor<3xi8>)
// CHECK: arith.addi %{{.*}}, %c3_i64
// CHECK: tensor.insert_slice %[[HALVES]]#0 into %{{.*}}[0] [3] [2] : tensor<3xi8> into tensor<6xi8>
// CHECK: %[[BOTH:.*]] = tensor.insert_slice %[[HALVES]]#1 into %{{.*}}[1] [3] [2] : tensor<3xi8> into tensor<6xi8>
// CHECK: tensor.extract_slice %[[BOTH]][0] [5] [1]
func.func @bytes(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui8>)
  return %0, %1 : tensor<2xui64>, tensor<5xui8>
}

// A counter of Philox gives four words, and has 128 bits.
// CHECK-LABEL: func.func @philox
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
// CHECK-COUNT-2: tensor.insert %{{.*}} into %{{.*}} : tensor<3xi64>
func.func @philox(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<7xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<7xui32>)
  return %0, %1 : tensor<3xui64>, tensor<7xui32>
}

// -----

func.func @rng(%a: tensor<f32>, %b: tensor<f32>, %s: tensor<1xi64>) -> tensor<4xf32> {
  // expected-error @+1 {{stablehlo.rng cannot be compiled: its numbers depend on a hidden state; use rng_bit_generator, whose numbers depend on a key}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @replica
// CHECK: arith.constant dense<0> : tensor<i32>
func.func @replica() -> tensor<ui32> {
  %0 = stablehlo.replica_id : tensor<ui32>
  return %0 : tensor<ui32>
}
