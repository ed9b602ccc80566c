module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_2 = stablehlo.constant dense<"0x0200000000000000"> : tensor<i64>
%s2_1 = stablehlo.constant dense<"0x0200000000000000"> : tensor<i64>
%s2_3 = stablehlo.constant dense<"0x0000000000000000"> : tensor<i64>
%s2_11:2 = stablehlo.while(%s2_4 = %s2_3, %s2_5 = %s2_1) : tensor<i64>, tensor<i64>
 cond {
%s2_6 = stablehlo.compare LT, %s2_4, %s2_2 : (tensor<i64>, tensor<i64>) -> tensor<i1>
stablehlo.return %s2_6 : tensor<i1>
} do {
%s2_7 = stablehlo.constant dense<"0x0300000000000000"> : tensor<i64>
%s2_8 = stablehlo.maximum %s2_5, %s2_7 : tensor<i64>
%s2_9 = stablehlo.constant dense<"0x0100000000000000"> : tensor<i64>
%s2_10 = stablehlo.add %s2_4, %s2_9 : tensor<i64>
stablehlo.return %s2_10, %s2_5 : tensor<i64>, tensor<i64>
}
%e2_0 = stablehlo.constant dense<"0x0200000000000000"> : tensor<i64>
check.expect_eq %s2_11#1, %e2_0 : tensor<i64>
%s3_1 = stablehlo.constant dense<"0x0040"> : tensor<f16>
%s3_2 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s3_3 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s3_11:2 = stablehlo.while(%s3_4 = %s3_3, %s3_5 = %s3_1) : tensor<i32>, tensor<f16>
 cond {
%s3_6 = stablehlo.compare LT, %s3_4, %s3_2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
stablehlo.return %s3_6 : tensor<i1>
} do {
%s3_7 = stablehlo.constant dense<"0x003C"> : tensor<f16>
%s3_8 = stablehlo.add %s3_5, %s3_7 : tensor<f16>
%s3_9 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s3_10 = stablehlo.add %s3_4, %s3_9 : tensor<i32>
stablehlo.return %s3_10, %s3_5 : tensor<i32>, tensor<f16>
}
%e3_0 = stablehlo.constant dense<"0x0040"> : tensor<f16>
check.expect_eq %s3_11#1, %e3_0 : tensor<f16>
%s10_1 = stablehlo.constant dense<"0x0300000000000000"> : tensor<ui64>
%s10_2 = stablehlo.constant dense<"0x04"> : tensor<i8>
%s10_3 = stablehlo.constant dense<"0x00"> : tensor<i8>
%s10_11:2 = stablehlo.while(%s10_4 = %s10_3, %s10_5 = %s10_1) : tensor<i8>, tensor<ui64>
 cond {
%s10_6 = stablehlo.compare LT, %s10_4, %s10_2 : (tensor<i8>, tensor<i8>) -> tensor<i1>
stablehlo.return %s10_6 : tensor<i1>
} do {
%s10_7 = stablehlo.constant dense<"0x0100000000000000"> : tensor<ui64>
%s10_8 = stablehlo.maximum %s10_5, %s10_7 : tensor<ui64>
%s10_9 = stablehlo.constant dense<"0x01"> : tensor<i8>
%s10_10 = stablehlo.add %s10_4, %s10_9 : tensor<i8>
stablehlo.return %s10_10, %s10_8 : tensor<i8>, tensor<ui64>
}
%e10_0 = stablehlo.constant dense<"0x0300000000000000"> : tensor<ui64>
check.expect_eq %s10_11#1, %e10_0 : tensor<ui64>
return
}

}
