module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_1 = stablehlo.constant dense<"0x3C000000000000005800000000000000050000000000000038000000000000001B0000000000000014000000000000004200000000000000"> : tensor<7xui64>
%s2_2 = stablehlo.constant dense<"0xFEFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFFFFFFFFFFFEFFFFFFFFFFFFFF3F00000000000000FFFFFFFFFFFFFFFF0100000000000000"> : tensor<7xui64>
%s2_3 = stablehlo.constant dense<"0x3F0000000000000004000000000000001200000000000000210000000000000022000000000000003A000000000000003300000000000000"> : tensor<7xui64>
%s2_4 = stablehlo.clamp %s2_1, %s2_2, %s2_3 : (tensor<7xui64>, tensor<7xui64>, tensor<7xui64>) -> tensor<7xui64>
%e2_0 = stablehlo.constant dense<"0x3F0000000000000004000000000000001200000000000000210000000000000022000000000000003A000000000000003300000000000000"> : tensor<7xui64>
check.expect_eq %s2_4, %e2_0 : tensor<7xui64>
%s3_1 = stablehlo.constant dense<"0x0E0F160A"> : tensor<ui32>
%s3_2 = stablehlo.constant dense<"0x09000000"> : tensor<ui32>
%s3_3 = stablehlo.constant dense<"0xFFFFFFFF"> : tensor<ui32>
%s3_4 = stablehlo.clamp %s3_1, %s3_2, %s3_3 : (tensor<ui32>, tensor<ui32>, tensor<ui32>) -> tensor<ui32>
%e3_0 = stablehlo.constant dense<"0x0E0F160A"> : tensor<ui32>
check.expect_eq %s3_4, %e3_0 : tensor<ui32>
return
}

}
