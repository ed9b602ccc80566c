module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x3A60B6E9ED51C400D09F32A8D400FDB361325DAE2DD60855D32DBCDC5EF003D6B3F119F738E4173754F1A32C064BF8E5A8F71C3647C7133DD0E144100223026133A6B90940A925343A4BC20B3DE3C2FC"> : tensor<4x5x4xi8>
%s1_2 = stablehlo.constant dense<"0x60"> : tensor<i8>
%s1_3 = stablehlo.pad %s1_1, %s1_2, low = [-2, 2, 1], high = [-2, -2, 2], interior = [0, 0, 2] : (tensor<4x5x4xi8>, tensor<i8>) -> tensor<0x5x13xi8>
%e1_0 = stablehlo.constant dense<> : tensor<0x5x13xi8>
check.expect_eq %s1_3, %e1_0 : tensor<0x5x13xi8>
%s2_1 = stablehlo.constant dense<"0xD3BE"> : tensor<bf16>
%s2_2 = stablehlo.constant dense<"0x923F"> : tensor<bf16>
%s2_3 = stablehlo.pad %s2_1, %s2_2, low = [], high = [], interior = [] : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
%b2_0 = stablehlo.bitcast_convert %s2_3 : (tensor<bf16>) -> tensor<ui16>
%e2_0 = stablehlo.constant dense<"0xD3BE"> : tensor<ui16>
check.expect_eq %b2_0, %e2_0 : tensor<ui16>
%s3_1 = stablehlo.constant dense<"0xAFAE4BAA21C2DA3F"> : tensor<f64>
%s3_2 = stablehlo.constant dense<"0xAE5B4A16B098CBBF"> : tensor<f64>
%s3_3 = stablehlo.pad %s3_1, %s3_2, low = [], high = [], interior = [] : (tensor<f64>, tensor<f64>) -> tensor<f64>
%e3_0 = stablehlo.constant dense<"0xAFAE4BAA21C2DA3F"> : tensor<f64>
check.expect_eq %s3_3, %e3_0 : tensor<f64>
return
}

}
