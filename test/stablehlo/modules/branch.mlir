module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_1 = stablehlo.constant dense<"0x80BF"> : tensor<bf16>
%s2_2 = stablehlo.constant dense<false> : tensor<i1>
%s2_7 = "stablehlo.if"(%s2_2) ({
%s2_3 = stablehlo.constant dense<"0x0000"> : tensor<bf16>
%s2_4 = stablehlo.subtract %s2_1, %s2_3 : tensor<bf16>
stablehlo.return %s2_4 : tensor<bf16>
}, {
%s2_5 = stablehlo.constant dense<"0x80BF"> : tensor<bf16>
%s2_6 = stablehlo.add %s2_1, %s2_5 : tensor<bf16>
stablehlo.return %s2_6 : tensor<bf16>
}) : (tensor<i1>) -> (tensor<bf16>)
%b2_0 = stablehlo.bitcast_convert %s2_7 : (tensor<bf16>) -> tensor<ui16>
%e2_0 = stablehlo.constant dense<"0x00C0"> : tensor<ui16>
check.expect_eq %b2_0, %e2_0 : tensor<ui16>
%s3_1 = stablehlo.constant dense<"0x00C0"> : tensor<bf16>
%s3_2 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s3_11 = "stablehlo.case"(%s3_2) ({
%s3_3 = stablehlo.constant dense<"0x803F"> : tensor<bf16>
%s3_4 = stablehlo.maximum %s3_1, %s3_3 : tensor<bf16>
stablehlo.return %s3_4 : tensor<bf16>
}, {
%s3_5 = stablehlo.constant dense<"0x0000"> : tensor<bf16>
%s3_6 = stablehlo.subtract %s3_1, %s3_5 : tensor<bf16>
stablehlo.return %s3_6 : tensor<bf16>
}, {
%s3_7 = stablehlo.constant dense<"0x80BF"> : tensor<bf16>
%s3_8 = stablehlo.maximum %s3_1, %s3_7 : tensor<bf16>
stablehlo.return %s3_8 : tensor<bf16>
}, {
%s3_9 = stablehlo.constant dense<"0x00C0"> : tensor<bf16>
%s3_10 = stablehlo.maximum %s3_1, %s3_9 : tensor<bf16>
stablehlo.return %s3_10 : tensor<bf16>
}) : (tensor<i32>) -> (tensor<bf16>)
%e3_0 = stablehlo.constant dense<"0x803F"> : tensor<bf16>
check.expect_eq %s3_11, %e3_0 : tensor<bf16>
%s5_1 = stablehlo.constant dense<"0x0100000000000000"> : tensor<ui64>
%s5_3 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s5_2 = stablehlo.constant dense<"0xFF"> : tensor<1xi8>
%s5_6:2 = "stablehlo.case"(%s5_3) ({
%s5_4 = stablehlo.constant dense<"0x0100000000000000"> : tensor<ui64>
%s5_5 = stablehlo.add %s5_1, %s5_4 : tensor<ui64>
stablehlo.return %s5_5, %s5_2 : tensor<ui64>, tensor<1xi8>
}) : (tensor<i32>) -> (tensor<ui64>, tensor<1xi8>)
%e5_0 = stablehlo.constant dense<"0x0200000000000000"> : tensor<ui64>
check.expect_eq %s5_6#0, %e5_0 : tensor<ui64>
%e5_1 = stablehlo.constant dense<"0xFF"> : tensor<1xi8>
check.expect_eq %s5_6#1, %e5_1 : tensor<1xi8>
return
}

}
