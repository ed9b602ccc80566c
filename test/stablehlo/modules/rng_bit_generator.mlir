module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0xA49C7FD69AC2C38948994AD13A4C69540AD5E273A876D6C9"> : tensor<3xui64>
%s1_2:2 = stablehlo.rng_bit_generator %s1_1, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4x5x4xi8>)
%e1_0 = stablehlo.constant dense<"0xA49C7FD69AC2C3895C994AD13A4C69540AD5E273A876D6C9"> : tensor<3xui64>
check.expect_eq %s1_2#0, %e1_0 : tensor<3xui64>
%e1_1 = stablehlo.constant dense<"0x1E5D150775A7E40BC7B0D0AEC00021597198E4C15DA1FAF03C946F0E94AAE18E0BC2257BFEEA5C5122E2307D7DB39C6EF47EBFA25286C14705DD62A9759A4D30719C04650FB3FAAEF49E90A65DECBEDE"> : tensor<4x5x4xi8>
check.expect_eq %s1_2#1, %e1_1 : tensor<4x5x4xi8>
%s2_1 = stablehlo.constant dense<"0xFD6F86739DCD8717D5E4BA552530A099"> : tensor<2xui64>
%s2_2:2 = stablehlo.rng_bit_generator %s2_1, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui16>)
%e2_0 = stablehlo.constant dense<"0xFD6F86739DCD8717D6E4BA552530A099"> : tensor<2xui64>
check.expect_eq %s2_2#0, %e2_0 : tensor<2xui64>
%e2_1 = stablehlo.constant dense<"0x6B6F"> : tensor<ui16>
check.expect_eq %s2_2#1, %e2_1 : tensor<ui16>
%s3_1 = stablehlo.constant dense<"0x240786DE399208950E0F160A90D01818"> : tensor<2xui64>
%s3_2:2 = stablehlo.rng_bit_generator %s3_1, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui64>)
%e3_0 = stablehlo.constant dense<"0x240786DE399208950F0F160A90D01818"> : tensor<2xui64>
check.expect_eq %s3_2#0, %e3_0 : tensor<2xui64>
%e3_1 = stablehlo.constant dense<"0xAC3824445C48C34F"> : tensor<ui64>
check.expect_eq %s3_2#1, %e3_1 : tensor<ui64>
return
}

}
