// Products, reductions and windows: values from loops over all elements.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 10 checks

module @windows {
  func.func public @main() {
    // Batching dimensions anywhere, bytes with sums of i32.
    %c0_a0 = stablehlo.constant dense<[[[[-3, 2, 3, -2, 0], [-2, -1, 1, -2, 1]]], [[[-1, -1, -1, 1, -4], [-1, -1, 1, 2, -1]]], [[[1, 0, 4, 4, 3], [2, 0, -4, -3, 3]]], [[[1, 3, 4, 2, -3], [2, 3, -2, 4, 1]]]]> : tensor<4x1x2x5xi8>
    %c0_a1 = stablehlo.constant dense<[[[4, -3], [-3, -3], [2, -1], [4, -2], [2, 3]]]> : tensor<1x5x2xi8>
    %c0_want = stablehlo.constant dense<[[[-20, -7, 34, 5]], [[15, -2, 13, -18]]]> : tensor<2x1x4xi32>
    %c0_r = stablehlo.dot_general %c0_a0, %c0_a1, batching_dims = [2, 1] x [2, 0], contracting_dims = [3] x [1] : (tensor<4x1x2x5xi8>, tensor<1x5x2xi8>) -> tensor<2x1x4xi32>
    stablehlo.custom_call @check.expect_eq(%c0_r, %c0_want) {has_side_effect = true} : (tensor<2x1x4xi32>, tensor<2x1x4xi32>) -> ()
    // Any of several pairs of bits.
    %c1_a0 = stablehlo.constant dense<[[true, true, true, true, true], [true, false, false, false, true], [false, true, true, false, false]]> : tensor<3x5xi1>
    %c1_a1 = stablehlo.constant dense<[[[[false, true], [false, true], [false, true], [false, false], [false, true]], [[true, true], [false, true], [true, false], [false, true], [true, true]], [[true, true], [true, false], [true, true], [true, true], [false, false]]], [[[false, false], [false, true], [true, false], [true, false], [false, true]], [[false, true], [false, false], [false, true], [false, true], [false, true]], [[true, true], [true, true], [false, false], [false, true], [false, false]]], [[[false, false], [true, true], [false, false], [false, true], [true, false]], [[true, true], [false, true], [false, true], [true, false], [true, true]], [[true, true], [true, false], [true, false], [true, false], [true, false]]]]> : tensor<3x3x5x2xi1>
    %c1_want = stablehlo.constant dense<[[[false, true], [true, true], [true, true]], [[true, true], [false, true], [true, false]], [[false, true], [true, true], [true, true]], [[false, false], [false, true], [true, true]], [[false, true], [true, true], [false, false]]]> : tensor<5x3x2xi1>
    %c1_r = stablehlo.dot_general %c1_a0, %c1_a1, batching_dims = [1] x [2], contracting_dims = [0] x [0] : (tensor<3x5xi1>, tensor<3x3x5x2xi1>) -> tensor<5x3x2xi1>
    stablehlo.custom_call @check.expect_eq(%c1_r, %c1_want) {has_side_effect = true} : (tensor<5x3x2xi1>, tensor<5x3x2xi1>) -> ()
    // Groups of features, reversal, negative padding.
    %c2_a0 = stablehlo.constant dense<[[[[-4.0, -2.0], [-1.0, 2.0], [-4.0, -2.0], [3.0, 1.0], [-1.0, -4.0], [-2.0, 2.0], [2.0, -2.0], [4.0, -1.0]], [[-1.0, 4.0], [-4.0, -2.0], [4.0, 3.0], [2.0, 1.0], [-4.0, -4.0], [-1.0, -2.0], [-4.0, -3.0], [-1.0, 4.0]]], [[[-4.0, 3.0], [1.0, 2.0], [0.0, 4.0], [0.0, 3.0], [-1.0, -4.0], [-2.0, -3.0], [2.0, -1.0], [1.0, 4.0]], [[1.0, 4.0], [1.0, 4.0], [-3.0, -3.0], [-3.0, -1.0], [4.0, -1.0], [4.0, -4.0], [4.0, -3.0], [-4.0, -4.0]]], [[[1.0, 3.0], [1.0, 3.0], [-1.0, 0.0], [-3.0, -2.0], [2.0, 2.0], [-4.0, 2.0], [-4.0, 4.0], [-3.0, 0.0]], [[3.0, -4.0], [3.0, -1.0], [3.0, -3.0], [3.0, -3.0], [0.0, -4.0], [-4.0, -4.0], [-4.0, 2.0], [3.0, 3.0]]]]> : tensor<3x2x8x2xf32>
    %c2_a1 = stablehlo.constant dense<[[[[3.0, -3.0]], [[1.0, -1.0]]], [[[-1.0, 4.0]], [[4.0, 3.0]]]]> : tensor<2x2x1x2xf32>
    %c2_want = stablehlo.constant dense<[[[[-33.0, 10.0], [-22.0, -22.0]]], [[[8.0, -14.0], [5.0, -6.0]]], [[[7.0, -18.0], [-6.0, -36.0]]]]> : tensor<3x1x2x2xf32>
    %c2_r = stablehlo.convolution(%c2_a0, %c2_a1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 3], pad = [[0, 0], [-1, -1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<3x2x8x2xf32>, tensor<2x2x1x2xf32>) -> tensor<3x1x2x2xf32>
    stablehlo.custom_call @check.expect_eq(%c2_r, %c2_want) {has_side_effect = true} : (tensor<3x1x2x2xf32>, tensor<3x1x2x2xf32>) -> ()
    // Groups of the batch, dilation of the input.
    %c3_a0 = stablehlo.constant dense<[[[0.0, -2.0], [-1.0, -4.0], [-4.0, 3.0], [3.0, 3.0], [-4.0, -2.0], [-1.0, -4.0]], [[1.0, -4.0], [-3.0, 2.0], [0.0, -1.0], [-1.0, 1.0], [-3.0, 3.0], [0.0, 2.0]], [[-3.0, 0.0], [2.0, 4.0], [4.0, 4.0], [-4.0, 1.0], [-4.0, -3.0], [3.0, -3.0]], [[2.0, 3.0], [0.0, 0.0], [-2.0, -2.0], [3.0, 1.0], [-1.0, 4.0], [-2.0, 1.0]]]> : tensor<4x6x2xf32>
    %c3_a1 = stablehlo.constant dense<[[[-2.0, 4.0, -3.0, 3.0], [-3.0, 1.0, -3.0, 0.0]], [[2.0, -2.0, -4.0, -2.0], [3.0, -3.0, 4.0, 1.0]], [[2.0, -3.0, 3.0, 2.0], [0.0, -1.0, 1.0, 4.0]]]> : tensor<3x2x4xf32>
    %c3_want = stablehlo.constant dense<[[[6.0, -1.0], [33.0, 6.0], [-2.0, 11.0], [-3.0, -11.0]], [[-4.0, -20.0], [-18.0, 31.0], [-28.0, -23.0], [4.0, 18.0]], [[-20.0, 7.0], [7.0, -7.0], [-4.0, -29.0], [-28.0, 23.0]]]> : tensor<3x4x2xf32>
    %c3_r = stablehlo.convolution(%c3_a0, %c3_a1) dim_numbers = [f, b, 0]x[0, o, i]->[b, 0, f], window = {stride = [1], pad = [[1, 2]], lhs_dilate = [2], rhs_dilate = [1], reverse = [false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x6x2xf32>, tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
    stablehlo.custom_call @check.expect_eq(%c3_r, %c3_want) {has_side_effect = true} : (tensor<3x4x2xf32>, tensor<3x4x2xf32>) -> ()
    // Three spatial dimensions, dilation of the kernel.
    %c4_a0 = stablehlo.constant dense<[[[[[1, -2], [4, 4], [-4, 2], [1, 4], [4, 1]], [[-3, -2], [2, -4], [-1, 2], [-2, 0], [0, -4]], [[0, 0], [2, 0], [1, 1], [-1, -3], [4, -2]]], [[[-1, -4], [3, 3], [4, 4], [0, -4], [2, -3]], [[1, -3], [0, -4], [4, -1], [1, 3], [3, -2]], [[3, 3], [-3, 3], [-3, -3], [3, -4], [0, 0]]]]]> : tensor<1x2x3x5x2xi32>
    %c4_a1 = stablehlo.constant dense<[[[[[-4, 4], [0, 3]], [[2, 1], [-3, 0]]], [[[2, 3], [-2, 0]], [[2, 0], [-3, -1]]]], [[[[-3, 1], [4, -4]], [[2, 3], [-3, -4]]], [[[2, -1], [-3, 0]], [[2, -1], [4, 1]]]], [[[[2, 0], [-4, 0]], [[1, 3], [-4, 1]]], [[[-1, -4], [0, -3]], [[0, -4], [1, 4]]]]]> : tensor<3x2x2x2x2xi32>
    %c4_want = stablehlo.constant dense<[[[[[28, 6], [13, 18]]], [[[0, -2], [3, -2]]], [[[-12, -6], [-1, -48]]], [[[3, -21], [-15, 0]]], [[[-18, -6], [25, -6]]]]]> : tensor<1x5x1x2x2xi32>
    %c4_r = stablehlo.convolution(%c4_a0, %c4_a1) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {stride = [1, 3, 3], pad = [[1, 2], [0, 0], [1, 2]], lhs_dilate = [3, 1, 1], rhs_dilate = [1, 2, 2], reverse = [false, true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x5x2xi32>, tensor<3x2x2x2x2xi32>) -> tensor<1x5x1x2x2xi32>
    stablehlo.custom_call @check.expect_eq(%c4_r, %c4_want) {has_side_effect = true} : (tensor<1x5x1x2x2xi32>, tensor<1x5x1x2x2xi32>) -> ()
    // Parities.
    %c5_a0 = stablehlo.constant dense<[[false, true, false, true, false], [true, false, false, false, false], [true, true, true, false, true], [false, false, false, true, false], [true, true, false, false, false]]> : tensor<5x5xi1>
    %c5_a1 = stablehlo.constant dense<true> : tensor<i1>
    %c5_want = stablehlo.constant dense<[false, false, false, true, false]> : tensor<5xi1>
    %c5_r = stablehlo.reduce(%c5_a0 init: %c5_a1) applies stablehlo.xor across dimensions = [0] : (tensor<5x5xi1>, tensor<i1>) -> tensor<5xi1>
    stablehlo.custom_call @check.expect_eq(%c5_r, %c5_want) {has_side_effect = true} : (tensor<5xi1>, tensor<5xi1>) -> ()
    // The first place of a maximum.
    %c6_a0 = stablehlo.constant dense<[[-2.0, -4.0, -1.0, 0.0, 4.0, 3.0], [1.0, 0.0, -2.0, -2.0, -4.0, 3.0], [0.0, -1.0, 4.0, -2.0, 0.0, -1.0], [3.0, -4.0, -4.0, 1.0, -3.0, 0.0], [2.0, -4.0, -2.0, 1.0, 2.0, -2.0], [4.0, -4.0, -2.0, -1.0, 2.0, -4.0]]> : tensor<6x6xf32>
    %c6_a1 = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]> : tensor<6x6xi32>
    %c6_want = stablehlo.constant dense<[4, 5, 2, 0, 0, 0]> : tensor<6xi32>
    %c6_ini = stablehlo.constant dense<-100.0> : tensor<f32>
    %c6_z0 = stablehlo.constant dense<0> : tensor<i32>
    %c6_rr:2 = "stablehlo.reduce"(%c6_a0, %c6_a1, %c6_ini, %c6_z0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%x: tensor<f32>, %i: tensor<i32>, %y: tensor<f32>, %j: tensor<i32>):
     %p = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
     %e = stablehlo.compare EQ, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
     %l = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
     %q = stablehlo.select %e, %l, %p : tensor<i1>, tensor<i1>
     %v = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>
     %k = stablehlo.select %q, %i, %j : tensor<i1>, tensor<i32>
     stablehlo.return %v, %k : tensor<f32>, tensor<i32>
    }) : (tensor<6x6xf32>, tensor<6x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
    %c6_r = stablehlo.reshape %c6_rr#1 : (tensor<6xi32>) -> tensor<6xi32>
    stablehlo.custom_call @check.expect_eq(%c6_r, %c6_want) {has_side_effect = true} : (tensor<6xi32>, tensor<6xi32>) -> ()
    // Windows with dilations and negative padding.
    %c7_a0 = stablehlo.constant dense<[[1, -3, 2, 1], [3, 1, -2, 3], [-3, 3, -4, 2], [3, -1, 1, 0], [3, 4, -3, 2]]> : tensor<5x4xi32>
    %c7_want = stablehlo.constant dense<[[3, -100, 3]]> : tensor<1x3xi32>
    %i = stablehlo.constant dense<-100> : tensor<i32>
    %c7_r = "stablehlo.reduce_window"(%c7_a0, %i) <{window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 1, 3>, window_dilations = array<i64: 2, 2>, base_dilations = array<i64: 1, 2>, padding = dense<[[1, -1], [2, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
     %z = stablehlo.maximum %x, %y : tensor<i32>
     stablehlo.return %z : tensor<i32>
    }) : (tensor<5x4xi32>, tensor<i32>) -> tensor<1x3xi32>
    stablehlo.custom_call @check.expect_eq(%c7_r, %c7_want) {has_side_effect = true} : (tensor<1x3xi32>, tensor<1x3xi32>) -> ()
    // A cumulative sum is rounded at every step.
    %c8_a0 = stablehlo.constant dense<[[4.53515625, 8.6796875, 7.91796875, -7.6796875, -5.75390625, 8.3828125, 0.12371826171875, 9.4296875, 2.8046875], [8.1328125, -9.0546875, -1.1962890625, -0.484619140625, 7.82421875, 4.53515625, 1.08203125, -2.814453125, 6.26953125], [-7.359375, 4.55859375, -6.09375, 0.71142578125, -5.328125, -6.14453125, 5.72265625, 7.453125, 0.927734375], [1.9794921875, -6.8671875, 5.515625, 7.609375, 2.216796875, 1.783203125, 8.171875, -1.5361328125, 4.453125], [-7.01171875, -3.09375, 6.08203125, -4.6171875, -2.751953125, -9.4140625, 0.6494140625, -10.1875, 8.6015625], [8.6015625, 1.7216796875, -9.578125, 1.2373046875, -5.640625, -6.578125, 10.0546875, -3.453125, -10.140625]]> : tensor<6x9xf16>
    %c8_want = stablehlo.constant dense<[[4.53515625, 13.21875, 21.140625, 13.4609375, 7.70703125, 16.09375, 16.21875, 25.65625, 28.46875], [8.1328125, -0.921875, -2.1171875, -2.6015625, 5.22265625, 9.7578125, 10.84375, 8.03125, 14.296875], [-7.359375, -2.80078125, -8.890625, -8.1796875, -13.5078125, -19.65625, -13.9375, -6.484375, -5.5546875], [1.9794921875, -4.88671875, 0.62890625, 8.234375, 10.453125, 12.234375, 20.40625, 18.875, 23.328125], [-7.01171875, -10.109375, -4.02734375, -8.640625, -11.390625, -20.8125, -20.15625, -30.34375, -21.75], [8.6015625, 10.3203125, 0.7421875, 1.9794921875, -3.66015625, -10.234375, -0.1796875, -3.6328125, -13.7734375]]> : tensor<6x9xf16>
    %c8_i = stablehlo.constant dense<0.0> : tensor<f16>
    %c8_r = "stablehlo.reduce_window"(%c8_a0, %c8_i) <{window_dimensions = array<i64: 1, 9>, padding = dense<[[0, 0], [8, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%x: tensor<f16>, %y: tensor<f16>):
     %z = stablehlo.add %x, %y : tensor<f16>
     stablehlo.return %z : tensor<f16>
    }) : (tensor<6x9xf16>, tensor<f16>) -> tensor<6x9xf16>
    stablehlo.custom_call @check.expect_eq(%c8_r, %c8_want) {has_side_effect = true} : (tensor<6x9xf16>, tensor<6x9xf16>) -> ()
    // Selected elements of windows that overlap, with padding.
    %c9_a0 = stablehlo.constant dense<[[4.0, 0.0, -4.0, -3.0, 3.0, 1.0, -4.0, -3.0, -3.0], [-2.0, -1.0, -2.0, -2.0, -2.0, -1.0, -1.0, 4.0, 0.0], [4.0, 2.0, 4.0, 3.0, -3.0, 1.0, 1.0, 2.0, 2.0], [-3.0, -1.0, -3.0, 1.0, 4.0, -2.0, 1.0, 1.0, -3.0], [3.0, 1.0, -3.0, 3.0, -4.0, 4.0, -4.0, -2.0, 0.0]]> : tensor<5x9xf32>
    %c9_a1 = stablehlo.constant dense<[[1.0, -1.0, 4.0, 1.0], [2.0, -4.0, 4.0, 0.0]]> : tensor<2x4xf32>
    %c9_a2 = stablehlo.constant dense<0.0> : tensor<f32>
    %c9_want = stablehlo.constant dense<[[0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0, 0.0], [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, -4.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<5x9xf32>
    %c9_r = "stablehlo.select_and_scatter"(%c9_a0, %c9_a1, %c9_a2) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 3>, padding = dense<[[1, 0], [-1, 2]]> : tensor<2x2xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
     %z = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
     stablehlo.return %z : tensor<i1>
    }, {
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
     %z = stablehlo.add %x, %y : tensor<f32>
     stablehlo.return %z : tensor<f32>
    }) : (tensor<5x9xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<5x9xf32>
    stablehlo.custom_call @check.expect_eq(%c9_r, %c9_want) {has_side_effect = true} : (tensor<5x9xf32>, tensor<5x9xf32>) -> ()
    return
  }
}
