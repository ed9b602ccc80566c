// Random bits, against the words that the generators give for a key and a counter of 0.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 6 checks

module @m {
  func.func public @main() {
    %s = stablehlo.constant dense<0> : tensor<2xui64>
    %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui64>)
    check.expect_eq_const %0, dense<[0, 2]> : tensor<2xui64>
    check.expect_eq_const %1, dense<[0x99ba4efe6b200159, 0xc0de3f32508efb2c]> : tensor<2xui64>
    %2, %3 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
    check.expect_eq_const %3, dense<[0x6b200159, 0x99ba4efe, 0x508efb2c]> : tensor<3xui32>
    %4, %5 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    check.expect_eq_const %5, dense<[0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]> : tensor<4xui32>
    // A result without elements takes no counter.
    %6, %7 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x0xi16>)
    check.expect_eq_const %6, dense<0> : tensor<2xui64>
    %empty = stablehlo.constant dense<> : tensor<4x0xi16>
    check.expect_eq %7, %empty : tensor<4x0xi16>
    return
  }
}
