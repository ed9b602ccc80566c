// RUN: pw-opt %s --pw-lower-chlo -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @inference
func.func @inference(%x: tensor<2x3x4xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>,
                     %mean: tensor<3xf32>, %variance: tensor<3xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[MEAN:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [1]
  // CHECK: %[[CENTERED:.*]] = stablehlo.subtract %arg0, %[[MEAN]]
  // CHECK: %[[EPSILON:.*]] = stablehlo.constant dense<1.0{{.*}}> : tensor<3xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.add %arg4, %[[EPSILON]]
  // CHECK: stablehlo.sqrt %[[SUM]] : tensor<3xf32>
  // CHECK: stablehlo.divide %[[CENTERED]]
  // CHECK: stablehlo.multiply
  // CHECK: stablehlo.add
  // CHECK-NEXT: return
  %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance)
      <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// 16-bit floats are computed in f32.
// CHECK-LABEL: func.func @training
func.func @training(%x: tensor<2x3x4xbf16>, %scale: tensor<3xbf16>, %offset: tensor<3xbf16>)
    -> (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>) {
  // CHECK: stablehlo.convert %arg0 : (tensor<2x3x4xbf16>) -> tensor<2x3x4xf32>
  // CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0, 2]
  // CHECK: stablehlo.constant dense<8.0{{.*}}> : tensor<3xf32>
  // CHECK: stablehlo.divide
  // CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0, 2]
  // CHECK-COUNT-3: stablehlo.convert {{.*}} -> tensor<{{.*}}bf16>
  // CHECK-NEXT: return
  %0:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset)
      <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
      : (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>)
  return %0#0, %0#1, %0#2 : tensor<2x3x4xbf16>, tensor<3xbf16>, tensor<3xbf16>
}

// -----

// CHECK-LABEL: func.func @gradient
func.func @gradient(%x: tensor<2x3xf64>, %scale: tensor<3xf64>, %mean: tensor<3xf64>,
                    %variance: tensor<3xf64>, %grad: tensor<2x3xf64>)
    -> (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>) {
  // CHECK-COUNT-3: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0]
  // CHECK-NOT: stablehlo.reduce
  // CHECK: return
  %0:3 = "stablehlo.batch_norm_grad"(%x, %scale, %mean, %variance, %grad)
      <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}>
      : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>)
  return %0#0, %0#1, %0#2 : tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>
}
