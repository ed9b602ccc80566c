// Neighbors of floats, and tests for infinities.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 16 checks

module @m {
  func.func public @main() {
    %a0 = stablehlo.constant dense<[0.0, 0.0, -0.0, 0.0, -0.0, 1.0, 1.0, -1.0, -1.0, 2.0, 6.0e-8, -6.0e-8, 6.0e-8, 6.104e-5, 6.104e-5, -6.104e-5, 6.55e+4, -6.55e+4, 0x7C00, 0xFC00, 0x7C00, 3.0, 1.0, 0x7E00]> : tensor<24xf16>
    %b0 = stablehlo.constant dense<[1.0, -1.0, 1.0, -0.0, 0.0, 2.0, 0.0, 0.0, -2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0x7C00, 0xFC00, 0.0, 0.0, 0x7C00, 3.0, 0x7E00, 1.0]> : tensor<24xf16>
    %w0 = stablehlo.constant dense<[6.0e-8, -6.0e-8, 6.0e-8, -0.0, 0.0, 1.001, 9.995e-1, -9.995e-1, -1.001, 1.999, 0.0, -0.0, 1.0e-7, 6.1e-5, 6.11e-5, -6.1e-5, 0x7C00, 0xFC00, 6.55e+4, -6.55e+4, 0x7C00, 3.0, 0x7E00, 0x7E00]> : tensor<24xf16>
    %r0 = chlo.next_after %a0, %b0 : tensor<24xf16>, tensor<24xf16> -> tensor<24xf16>
    stablehlo.custom_call @check.expect_eq(%r0, %w0) {has_side_effect = true} : (tensor<24xf16>, tensor<24xf16>) -> ()
    %a1 = stablehlo.constant dense<[0.0, 0.0, -0.0, 0.0, -0.0, 1.0, 1.0, -1.0, -1.0, 2.0, 9.1835e-41, -9.1835e-41, 9.1835e-41, 1.1754944e-38, 1.1754944e-38, -1.1754944e-38, 3.3895314e+38, -3.3895314e+38, 0x7F80, 0xFF80, 0x7F80, 3.0, 1.0, 0x7FC0]> : tensor<24xbf16>
    %b1 = stablehlo.constant dense<[1.0, -1.0, 1.0, -0.0, 0.0, 2.0, 0.0, 0.0, -2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0x7F80, 0xFF80, 0.0, 0.0, 0x7F80, 3.0, 0x7FC0, 1.0]> : tensor<24xbf16>
    %w1 = stablehlo.constant dense<[9.1835e-41, -9.1835e-41, 9.1835e-41, -0.0, 0.0, 1.0078125, 9.9609375e-1, -9.9609375e-1, -1.0078125, 1.9921875, 0.0, -0.0, 1.83671e-40, 1.1663108e-38, 1.1846779e-38, -1.1663108e-38, 0x7F80, 0xFF80, 3.3895314e+38, -3.3895314e+38, 0x7F80, 3.0, 0x7FC0, 0x7FC0]> : tensor<24xbf16>
    %r1 = chlo.next_after %a1, %b1 : tensor<24xbf16>, tensor<24xbf16> -> tensor<24xbf16>
    stablehlo.custom_call @check.expect_eq(%r1, %w1) {has_side_effect = true} : (tensor<24xbf16>, tensor<24xbf16>) -> ()
    %a2 = stablehlo.constant dense<[0.0, 0.0, -0.0, 0.0, -0.0, 1.0, 1.0, -1.0, -1.0, 2.0, 1.0e-45, -1.0e-45, 1.0e-45, 1.1754944e-38, 1.1754944e-38, -1.1754944e-38, 3.4028235e+38, -3.4028235e+38, 0x7F800000, 0xFF800000, 0x7F800000, 3.0, 1.0, 0x7FC00000]> : tensor<24xf32>
    %b2 = stablehlo.constant dense<[1.0, -1.0, 1.0, -0.0, 0.0, 2.0, 0.0, 0.0, -2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0x7F800000, 0xFF800000, 0.0, 0.0, 0x7F800000, 3.0, 0x7FC00000, 1.0]> : tensor<24xf32>
    %w2 = stablehlo.constant dense<[1.0e-45, -1.0e-45, 1.0e-45, -0.0, 0.0, 1.0000001, 9.9999994e-1, -9.9999994e-1, -1.0000001, 1.9999999, 0.0, -0.0, 3.0e-45, 1.1754942e-38, 1.1754945e-38, -1.1754942e-38, 0x7F800000, 0xFF800000, 3.4028235e+38, -3.4028235e+38, 0x7F800000, 3.0, 0x7FC00000, 0x7FC00000]> : tensor<24xf32>
    %r2 = chlo.next_after %a2, %b2 : tensor<24xf32>, tensor<24xf32> -> tensor<24xf32>
    stablehlo.custom_call @check.expect_eq(%r2, %w2) {has_side_effect = true} : (tensor<24xf32>, tensor<24xf32>) -> ()
    %a3 = stablehlo.constant dense<[0.0, 0.0, -0.0, 0.0, -0.0, 1.0, 1.0, -1.0, -1.0, 2.0, 5.0e-324, -5.0e-324, 5.0e-324, 2.2250738585072014e-308, 2.2250738585072014e-308, -2.2250738585072014e-308, 1.7976931348623157e+308, -1.7976931348623157e+308, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF0000000000000, 3.0, 1.0, 0x7FF8000000000000]> : tensor<24xf64>
    %b3 = stablehlo.constant dense<[1.0, -1.0, 1.0, -0.0, 0.0, 2.0, 0.0, 0.0, -2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0.0, 0.0, 0x7FF0000000000000, 3.0, 0x7FF8000000000000, 1.0]> : tensor<24xf64>
    %w3 = stablehlo.constant dense<[5.0e-324, -5.0e-324, 5.0e-324, -0.0, 0.0, 1.0000000000000002, 9.999999999999999e-1, -9.999999999999999e-1, -1.0000000000000002, 1.9999999999999998, 0.0, -0.0, 1.0e-323, 2.225073858507201e-308, 2.225073858507202e-308, -2.225073858507201e-308, 0x7FF0000000000000, 0xFFF0000000000000, 1.7976931348623157e+308, -1.7976931348623157e+308, 0x7FF0000000000000, 3.0, 0x7FF8000000000000, 0x7FF8000000000000]> : tensor<24xf64>
    %r3 = chlo.next_after %a3, %b3 : tensor<24xf64>, tensor<24xf64> -> tensor<24xf64>
    stablehlo.custom_call @check.expect_eq(%r3, %w3) {has_side_effect = true} : (tensor<24xf64>, tensor<24xf64>) -> ()
    %a4 = stablehlo.constant dense<[0x7C00, 0xFC00, 0x7E00, 0.0, 6.55e+4, -6.55e+4]> : tensor<6xf16>
    %w4 = stablehlo.constant dense<[true, true, false, false, false, false]> : tensor<6xi1>
    %r4 = chlo.is_inf %a4 : tensor<6xf16> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r4, %w4) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a5 = stablehlo.constant dense<[0x7C00, 0xFC00, 0x7E00, 0.0, 6.55e+4, -6.55e+4]> : tensor<6xf16>
    %w5 = stablehlo.constant dense<[true, false, false, false, false, false]> : tensor<6xi1>
    %r5 = chlo.is_pos_inf %a5 : tensor<6xf16> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r5, %w5) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a6 = stablehlo.constant dense<[0x7C00, 0xFC00, 0x7E00, 0.0, 6.55e+4, -6.55e+4]> : tensor<6xf16>
    %w6 = stablehlo.constant dense<[false, true, false, false, false, false]> : tensor<6xi1>
    %r6 = chlo.is_neg_inf %a6 : tensor<6xf16> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r6, %w6) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a7 = stablehlo.constant dense<[0x7F80, 0xFF80, 0x7FC0, 0.0, 3.3895314e+38, -3.3895314e+38]> : tensor<6xbf16>
    %w7 = stablehlo.constant dense<[true, true, false, false, false, false]> : tensor<6xi1>
    %r7 = chlo.is_inf %a7 : tensor<6xbf16> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r7, %w7) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a8 = stablehlo.constant dense<[0x7F80, 0xFF80, 0x7FC0, 0.0, 3.3895314e+38, -3.3895314e+38]> : tensor<6xbf16>
    %w8 = stablehlo.constant dense<[true, false, false, false, false, false]> : tensor<6xi1>
    %r8 = chlo.is_pos_inf %a8 : tensor<6xbf16> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r8, %w8) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a9 = stablehlo.constant dense<[0x7F80, 0xFF80, 0x7FC0, 0.0, 3.3895314e+38, -3.3895314e+38]> : tensor<6xbf16>
    %w9 = stablehlo.constant dense<[false, true, false, false, false, false]> : tensor<6xi1>
    %r9 = chlo.is_neg_inf %a9 : tensor<6xbf16> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r9, %w9) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a10 = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0.0, 3.4028235e+38, -3.4028235e+38]> : tensor<6xf32>
    %w10 = stablehlo.constant dense<[true, true, false, false, false, false]> : tensor<6xi1>
    %r10 = chlo.is_inf %a10 : tensor<6xf32> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r10, %w10) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a11 = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0.0, 3.4028235e+38, -3.4028235e+38]> : tensor<6xf32>
    %w11 = stablehlo.constant dense<[true, false, false, false, false, false]> : tensor<6xi1>
    %r11 = chlo.is_pos_inf %a11 : tensor<6xf32> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r11, %w11) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a12 = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0.0, 3.4028235e+38, -3.4028235e+38]> : tensor<6xf32>
    %w12 = stablehlo.constant dense<[false, true, false, false, false, false]> : tensor<6xi1>
    %r12 = chlo.is_neg_inf %a12 : tensor<6xf32> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r12, %w12) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a13 = stablehlo.constant dense<[0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.0, 1.7976931348623157e+308, -1.7976931348623157e+308]> : tensor<6xf64>
    %w13 = stablehlo.constant dense<[true, true, false, false, false, false]> : tensor<6xi1>
    %r13 = chlo.is_inf %a13 : tensor<6xf64> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r13, %w13) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a14 = stablehlo.constant dense<[0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.0, 1.7976931348623157e+308, -1.7976931348623157e+308]> : tensor<6xf64>
    %w14 = stablehlo.constant dense<[true, false, false, false, false, false]> : tensor<6xi1>
    %r14 = chlo.is_pos_inf %a14 : tensor<6xf64> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r14, %w14) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    %a15 = stablehlo.constant dense<[0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.0, 1.7976931348623157e+308, -1.7976931348623157e+308]> : tensor<6xf64>
    %w15 = stablehlo.constant dense<[false, true, false, false, false, false]> : tensor<6xi1>
    %r15 = chlo.is_neg_inf %a15 : tensor<6xf64> -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%r15, %w15) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    return
  }
}
