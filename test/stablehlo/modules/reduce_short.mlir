module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x60B6E9ED51C400D09F32A8D400FDB361325DAE2DD60855D32DBCDC5EF003D6B3F119F738E4173754F1A32C064BF8E5A8F71C3647C7133DD0E144100223026133A6B90940A925343A4BC20B3DE3C2FCAC"> : tensor<4x5x2x2xi8>
%s1_2 = stablehlo.constant dense<"0x00"> : tensor<i8>
%s1_3 = stablehlo.reduce(%s1_1 init: %s1_2) applies stablehlo.or across dimensions = [1, 0, 3, 2] : (tensor<4x5x2x2xi8>, tensor<i8>) -> tensor<i8>
%e1_0 = stablehlo.constant dense<"0xFF"> : tensor<i8>
check.expect_eq %s1_3, %e1_0 : tensor<i8>
%s2_1 = stablehlo.constant dense<"0x803F"> : tensor<1xbf16>
%s2_2 = stablehlo.constant dense<"0x0040"> : tensor<bf16>
%s2_3 = stablehlo.reduce(%s2_1 init: %s2_2) applies stablehlo.add across dimensions = [] : (tensor<1xbf16>, tensor<bf16>) -> tensor<1xbf16>
%b2_0 = stablehlo.bitcast_convert %s2_3 : (tensor<1xbf16>) -> tensor<1xui16>
%e2_0 = stablehlo.constant dense<"0x4040"> : tensor<1xui16>
check.expect_eq %b2_0, %e2_0 : tensor<1xui16>
%s3_1 = stablehlo.constant dense<"0x000000000000F0BF0000000000000000"> : tensor<2xf64>
%s3_2 = stablehlo.constant dense<"0x000000000000F03F"> : tensor<f64>
%s3_3 = stablehlo.reduce(%s3_1 init: %s3_2) applies stablehlo.add across dimensions = [] : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
%e3_0 = stablehlo.constant dense<"0x0000000000000000000000000000F03F"> : tensor<2xf64>
check.expect_eq %s3_3, %e3_0 : tensor<2xf64>
return
}

}
