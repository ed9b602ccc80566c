// Operations that move elements.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 14 checks

module @m {
  func.func public @main() {
    %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %c = stablehlo.constant dense<[[7], [8]]> : tensor<2x1xi32>
    %s = stablehlo.constant dense<9> : tensor<i32>
    %none = stablehlo.constant dense<> : tensor<2x0xi32>
    %m = stablehlo.constant dense<-100> : tensor<i8>
    %b = stablehlo.constant dense<100> : tensor<i8>
    %um = stablehlo.constant dense<156> : tensor<ui8>
    // Dimensions come in another order, and one of size 1 is stretched.
    %r0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<2x3xi32>) -> tensor<3x2x2xi32>
    %w0 = stablehlo.constant dense<[[[1, 4], [1, 4]], [[2, 5], [2, 5]], [[3, 6], [3, 6]]]> : tensor<3x2x2xi32>
    stablehlo.custom_call @check.expect_eq(%r0, %w0) {has_side_effect = true} : (tensor<3x2x2xi32>, tensor<3x2x2xi32>) -> ()
    // A column is repeated.
    %r1 = stablehlo.broadcast_in_dim %c, dims = [1, 0] : (tensor<2x1xi32>) -> tensor<3x2xi32>
    %w1 = stablehlo.constant dense<[[7, 8], [7, 8], [7, 8]]> : tensor<3x2xi32>
    stablehlo.custom_call @check.expect_eq(%r1, %w1) {has_side_effect = true} : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
    // No group of dimensions is kept.
    %r2 = stablehlo.reshape %x : (tensor<2x3xi32>) -> tensor<3x1x2xi32>
    %w2 = stablehlo.constant dense<[[[1, 2]], [[3, 4]], [[5, 6]]]> : tensor<3x1x2xi32>
    stablehlo.custom_call @check.expect_eq(%r2, %w2) {has_side_effect = true} : (tensor<3x1x2xi32>, tensor<3x1x2xi32>) -> ()
    // All dimensions have size 1.
    %r3 = stablehlo.reshape %s : (tensor<i32>) -> tensor<1x1xi32>
    %w3 = stablehlo.constant dense<[[9]]> : tensor<1x1xi32>
    stablehlo.custom_call @check.expect_eq(%r3, %w3) {has_side_effect = true} : (tensor<1x1xi32>, tensor<1x1xi32>) -> ()
    // Rows become columns.
    %r4 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
    %w4 = stablehlo.constant dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
    stablehlo.custom_call @check.expect_eq(%r4, %w4) {has_side_effect = true} : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
    // Rows and columns are joined.
    %r5 = stablehlo.concatenate %x, %none, %c, dim = 1 : (tensor<2x3xi32>, tensor<2x0xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>
    %w5 = stablehlo.constant dense<[[1, 2, 3, 7], [4, 5, 6, 8]]> : tensor<2x4xi32>
    stablehlo.custom_call @check.expect_eq(%r5, %w5) {has_side_effect = true} : (tensor<2x4xi32>, tensor<2x4xi32>) -> ()
    // Elements are inserted between columns, and a row at each edge.
    %r6 = stablehlo.pad %x, %s, low = [1, 0], high = [1, 0], interior = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<4x5xi32>
    %w6 = stablehlo.constant dense<[[9, 9, 9, 9, 9], [1, 9, 2, 9, 3], [4, 9, 5, 9, 6], [9, 9, 9, 9, 9]]> : tensor<4x5xi32>
    stablehlo.custom_call @check.expect_eq(%r6, %w6) {has_side_effect = true} : (tensor<4x5xi32>, tensor<4x5xi32>) -> ()
    // Negative padding takes 1 and 3 of each 1 9 2 9 3.
    %r7 = stablehlo.pad %x, %s, low = [0, -1], high = [-1, -1], interior = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<1x3xi32>
    %w7 = stablehlo.constant dense<[[9, 2, 9]]> : tensor<1x3xi32>
    stablehlo.custom_call @check.expect_eq(%r7, %w7) {has_side_effect = true} : (tensor<1x3xi32>, tensor<1x3xi32>) -> ()
    // Negative padding takes all elements.
    %r8 = stablehlo.pad %x, %s, low = [-2, 0], high = [2, 0], interior = [0, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    %w8 = stablehlo.constant dense<[[9, 9, 9], [9, 9, 9]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r8, %w8) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    // Every second column is taken.
    %r9 = stablehlo.slice %x [1:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<1x2xi32>
    %w9 = stablehlo.constant dense<[[4, 6]]> : tensor<1x2xi32>
    stablehlo.custom_call @check.expect_eq(%r9, %w9) {has_side_effect = true} : (tensor<1x2xi32>, tensor<1x2xi32>) -> ()
    // A start below 0 becomes 0, and a start that is too large becomes the largest.
    %r10 = stablehlo.dynamic_slice %x, %m, %b, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i8>, tensor<i8>) -> tensor<1x2xi32>
    %w10 = stablehlo.constant dense<[[2, 3]]> : tensor<1x2xi32>
    stablehlo.custom_call @check.expect_eq(%r10, %w10) {has_side_effect = true} : (tensor<1x2xi32>, tensor<1x2xi32>) -> ()
    // The same bits are large numbers if they are unsigned.
    %r11 = stablehlo.dynamic_slice %x, %um, %um, sizes = [1, 2] : (tensor<2x3xi32>, tensor<ui8>, tensor<ui8>) -> tensor<1x2xi32>
    %w11 = stablehlo.constant dense<[[5, 6]]> : tensor<1x2xi32>
    stablehlo.custom_call @check.expect_eq(%r11, %w11) {has_side_effect = true} : (tensor<1x2xi32>, tensor<1x2xi32>) -> ()
    // Updates are clamped like slices.
    %r12 = stablehlo.dynamic_update_slice %x, %c, %m, %b : (tensor<2x3xi32>, tensor<2x1xi32>, tensor<i8>, tensor<i8>) -> tensor<2x3xi32>
    %w12 = stablehlo.constant dense<[[1, 2, 7], [4, 5, 8]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r12, %w12) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    // Both dimensions are reversed.
    %r = stablehlo.reverse %x, dims = [1, 0] : tensor<2x3xi32>
    %w = stablehlo.constant dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi32>
    stablehlo.custom_call @check.expect_eq(%r, %w) {has_side_effect = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> ()
    return
  }
}
