// The largest elements of rows.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 10 checks

module @m {
  func.func public @main() {
    // Equal elements keep their order.
    %a0 = stablehlo.constant dense<[[3, -1, 3, 7, 7, 0], [-5, -5, -5, -5, -5, -5]]> : tensor<2x6xi32>
    %v0, %i0 = chlo.top_k(%a0, k = 4) : tensor<2x6xi32> -> (tensor<2x4xi32>, tensor<2x4xi32>)
    %vw0 = stablehlo.constant dense<[[7, 7, 3, 3], [-5, -5, -5, -5]]> : tensor<2x4xi32>
    %iw0 = stablehlo.constant dense<[[3, 4, 0, 2], [0, 1, 2, 3]]> : tensor<2x4xi32>
    stablehlo.custom_call @check.expect_eq(%v0, %vw0) {has_side_effect = true} : (tensor<2x4xi32>, tensor<2x4xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%i0, %iw0) {has_side_effect = true} : (tensor<2x4xi32>, tensor<2x4xi32>) -> ()
    // Unsigned bytes above 127 are large.
    %a1 = stablehlo.constant dense<[1, 200, 127, 128, 255]> : tensor<5xui8>
    %v1, %i1 = chlo.top_k(%a1, k = 3) : tensor<5xui8> -> (tensor<3xui8>, tensor<3xi32>)
    %vw1 = stablehlo.constant dense<[255, 200, 128]> : tensor<3xui8>
    %iw1 = stablehlo.constant dense<[4, 1, 3]> : tensor<3xi32>
    stablehlo.custom_call @check.expect_eq(%v1, %vw1) {has_side_effect = true} : (tensor<3xui8>, tensor<3xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%i1, %iw1) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    // NaN comes first, and 0 before -0.
    %a2 = stablehlo.constant dense<[-0.0, 1.0, 0x7FC00000, 0.0, 0x7F800000, 0xFF800000, 0x7FC00000, -0.0]> : tensor<8xf32>
    %v2, %i2 = chlo.top_k(%a2, k = 8) : tensor<8xf32> -> (tensor<8xf32>, tensor<8xi32>)
    %vw2 = stablehlo.constant dense<[0x7FC00000, 0x7FC00000, 0x7F800000, 1.0, 0.0, -0.0, -0.0, 0xFF800000]> : tensor<8xf32>
    %iw2 = stablehlo.constant dense<[2, 6, 4, 1, 3, 0, 7, 5]> : tensor<8xi32>
    stablehlo.custom_call @check.expect_eq(%v2, %vw2) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%i2, %iw2) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    // Rows of several dimensions.
    %a3 = stablehlo.constant dense<[[[1.5, -2.0]], [[-2.0, 1.5]]]> : tensor<2x1x2xbf16>
    %v3, %i3 = chlo.top_k(%a3, k = 1) : tensor<2x1x2xbf16> -> (tensor<2x1x1xbf16>, tensor<2x1x1xi32>)
    %vw3 = stablehlo.constant dense<[[[1.5]], [[1.5]]]> : tensor<2x1x1xbf16>
    %iw3 = stablehlo.constant dense<[[[0]], [[1]]]> : tensor<2x1x1xi32>
    stablehlo.custom_call @check.expect_eq(%v3, %vw3) {has_side_effect = true} : (tensor<2x1x1xbf16>, tensor<2x1x1xbf16>) -> ()
    stablehlo.custom_call @check.expect_eq(%i3, %iw3) {has_side_effect = true} : (tensor<2x1x1xi32>, tensor<2x1x1xi32>) -> ()
    // Rows of one element.
    %a4 = stablehlo.constant dense<[[4.0], [2.0]]> : tensor<2x1xf64>
    %v4, %i4 = chlo.top_k(%a4, k = 1) : tensor<2x1xf64> -> (tensor<2x1xf64>, tensor<2x1xi32>)
    %vw4 = stablehlo.constant dense<[[4.0], [2.0]]> : tensor<2x1xf64>
    %iw4 = stablehlo.constant dense<[[0], [0]]> : tensor<2x1xi32>
    stablehlo.custom_call @check.expect_eq(%v4, %vw4) {has_side_effect = true} : (tensor<2x1xf64>, tensor<2x1xf64>) -> ()
    stablehlo.custom_call @check.expect_eq(%i4, %iw4) {has_side_effect = true} : (tensor<2x1xi32>, tensor<2x1xi32>) -> ()
    return
  }
}
