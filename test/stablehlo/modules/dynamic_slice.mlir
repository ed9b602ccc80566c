module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x60B6E9ED51C400D09F32A8D400FDB361325DAE2DD60855D32DBCDC5EF003D6B3F119F738E4173754F1A32C064BF8E5A8F71C3647C7133DD0E144100223026133A6B90940A925343A4BC20B3DE3C2FCAC"> : tensor<4x5x2x2xi8>
%s1_2 = stablehlo.constant dense<"0x0400000000000000"> : tensor<ui64>
%s1_4 = stablehlo.constant dense<"0x0300000000000000"> : tensor<ui64>
%s1_3 = stablehlo.constant dense<"0x0600000000000000"> : tensor<ui64>
%s1_5 = stablehlo.constant dense<"0x0200000000000000"> : tensor<ui64>
%s1_6 = stablehlo.dynamic_slice %s1_1, %s1_2, %s1_3, %s1_4, %s1_5, sizes = [4, 1, 1, 2] : (tensor<4x5x2x2xi8>, tensor<ui64>, tensor<ui64>, tensor<ui64>, tensor<ui64>) -> tensor<4x1x1x2xi8>
%e1_0 = stablehlo.constant dense<"0xAE2D37541002FCAC"> : tensor<4x1x1x2xi8>
check.expect_eq %s1_6, %e1_0 : tensor<4x1x1x2xi8>
%s2_2 = stablehlo.constant dense<"0xFEFFFFFF"> : tensor<i32>
%s2_1 = stablehlo.constant dense<"0x3346"> : tensor<1xbf16>
%s2_3 = stablehlo.dynamic_slice %s2_1, %s2_2, sizes = [0] : (tensor<1xbf16>, tensor<i32>) -> tensor<0xbf16>
%b2_0 = stablehlo.bitcast_convert %s2_3 : (tensor<0xbf16>) -> tensor<0xui16>
%e2_0 = stablehlo.constant dense<> : tensor<0xui16>
check.expect_eq %b2_0, %e2_0 : tensor<0xui16>
%s3_1 = stablehlo.constant dense<"0x157DD87CEE2800C0A7C26ECCF5AFCDBF"> : tensor<2xf64>
%s3_2 = stablehlo.constant dense<"0x0000000000000000"> : tensor<i64>
%s3_3 = stablehlo.dynamic_slice %s3_1, %s3_2, sizes = [0] : (tensor<2xf64>, tensor<i64>) -> tensor<0xf64>
%e3_0 = stablehlo.constant dense<> : tensor<0xf64>
check.expect_eq %s3_3, %e3_0 : tensor<0xf64>
return
}

}
