module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_1 = stablehlo.constant dense<"0xC03F"> : tensor<bf16>
%s2_2 = stablehlo.constant dense<"0xE63F"> : tensor<bf16>
%s2_3 = stablehlo.compare NE, %s2_1, %s2_2, TOTALORDER : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
%e2_0 = stablehlo.constant dense<true> : tensor<i1>
check.expect_eq %s2_3, %e2_0 : tensor<i1>
%s3_2 = stablehlo.constant dense<"0x3ACDFC305F8A72BF"> : tensor<f64>
%s3_1 = stablehlo.constant dense<"0x9C577727266CA137"> : tensor<f64>
%s3_3 = stablehlo.compare NE, %s3_1, %s3_2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
%e3_0 = stablehlo.constant dense<true> : tensor<i1>
check.expect_eq %s3_3, %e3_0 : tensor<i1>
%s4_1 = stablehlo.constant dense<[[[[true, false, false, true, false]], [[false, true, false, false, false]], [[false, true, true, true, false]], [[false, true, true, false, false]], [[false, false, true, false, true]], [[false, true, true, false, false]], [[true, true, true, true, true]], [[false, false, true, false, true]]]]> : tensor<1x8x1x5xi1>
%s4_2 = stablehlo.constant dense<[[[[false, false, false, true, true]], [[true, false, true, false, false]], [[false, true, true, false, true]], [[true, true, true, false, true]], [[false, false, true, false, true]], [[false, false, false, true, false]], [[true, true, true, false, false]], [[false, true, true, true, true]]]]> : tensor<1x8x1x5xi1>
%s4_3 = stablehlo.compare LT, %s4_1, %s4_2, UNSIGNED : (tensor<1x8x1x5xi1>, tensor<1x8x1x5xi1>) -> tensor<1x8x1x5xi1>
%e4_0 = stablehlo.constant dense<[[[[false, false, false, false, true]], [[true, false, true, false, false]], [[false, false, false, false, true]], [[true, false, false, false, true]], [[false, false, false, false, false]], [[false, false, false, true, false]], [[false, false, false, false, false]], [[false, true, false, true, false]]]]> : tensor<1x8x1x5xi1>
check.expect_eq %s4_3, %e4_0 : tensor<1x8x1x5xi1>
return
}

}
