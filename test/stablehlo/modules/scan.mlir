module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_3 = stablehlo.constant dense<"0x80BF"> : tensor<bf16>
%s2_1 = stablehlo.constant dense<"0x80BF"> : tensor<1xbf16>
%s2_2 = stablehlo.constant dense<"0x0000"> : tensor<1xbf16>
%s2_4 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s2_5 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s2_19:4 = stablehlo.while(%s2_6 = %s2_5, %s2_7 = %s2_1, %s2_8 = %s2_3, %s2_9 = %s2_2) : tensor<i32>, tensor<1xbf16>, tensor<bf16>, tensor<1xbf16>
 cond {
%s2_10 = stablehlo.compare LT, %s2_6, %s2_4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
stablehlo.return %s2_10 : tensor<i1>
} do {
%s2_11 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s2_12 = stablehlo.dynamic_slice %s2_7, %s2_6, sizes = [1] : (tensor<1xbf16>, tensor<i32>) -> tensor<1xbf16>
%s2_13 = stablehlo.reshape %s2_12 : (tensor<1xbf16>) -> tensor<bf16>
%s2_14 = stablehlo.add %s2_8, %s2_13 : tensor<bf16>
%s2_15 = stablehlo.reshape %s2_14 : (tensor<bf16>) -> tensor<1xbf16>
%s2_16 = stablehlo.dynamic_update_slice %s2_9, %s2_15, %s2_6 : (tensor<1xbf16>, tensor<1xbf16>, tensor<i32>) -> tensor<1xbf16>
%s2_17 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s2_18 = stablehlo.add %s2_6, %s2_17 : tensor<i32>
stablehlo.return %s2_18, %s2_7, %s2_14, %s2_16 : tensor<i32>, tensor<1xbf16>, tensor<bf16>, tensor<1xbf16>
}
%b2_0 = stablehlo.bitcast_convert %s2_19#2 : (tensor<bf16>) -> tensor<ui16>
%e2_0 = stablehlo.constant dense<"0x00C0"> : tensor<ui16>
check.expect_eq %b2_0, %e2_0 : tensor<ui16>
%b2_1 = stablehlo.bitcast_convert %s2_19#3 : (tensor<1xbf16>) -> tensor<1xui16>
%e2_1 = stablehlo.constant dense<"0x00C0"> : tensor<1xui16>
check.expect_eq %b2_1, %e2_1 : tensor<1xui16>
%s3_1 = stablehlo.constant dense<"0x00000000000000C0"> : tensor<1xf64>
%s3_3 = stablehlo.constant dense<"0x00000000000008C0"> : tensor<f64>
%s3_2 = stablehlo.constant dense<"0x0000000000000000"> : tensor<1xf64>
%s3_4 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s3_5 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s3_19:4 = stablehlo.while(%s3_6 = %s3_5, %s3_7 = %s3_1, %s3_8 = %s3_3, %s3_9 = %s3_2) : tensor<i32>, tensor<1xf64>, tensor<f64>, tensor<1xf64>
 cond {
%s3_10 = stablehlo.compare LT, %s3_6, %s3_4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
stablehlo.return %s3_10 : tensor<i1>
} do {
%s3_11 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s3_12 = stablehlo.dynamic_slice %s3_7, %s3_6, sizes = [1] : (tensor<1xf64>, tensor<i32>) -> tensor<1xf64>
%s3_13 = stablehlo.reshape %s3_12 : (tensor<1xf64>) -> tensor<f64>
%s3_14 = stablehlo.add %s3_8, %s3_13 : tensor<f64>
%s3_15 = stablehlo.reshape %s3_14 : (tensor<f64>) -> tensor<1xf64>
%s3_16 = stablehlo.dynamic_update_slice %s3_9, %s3_15, %s3_6 : (tensor<1xf64>, tensor<1xf64>, tensor<i32>) -> tensor<1xf64>
%s3_17 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s3_18 = stablehlo.add %s3_6, %s3_17 : tensor<i32>
stablehlo.return %s3_18, %s3_7, %s3_14, %s3_16 : tensor<i32>, tensor<1xf64>, tensor<f64>, tensor<1xf64>
}
%e3_0 = stablehlo.constant dense<"0x00000000000014C0"> : tensor<f64>
check.expect_eq %s3_19#2, %e3_0 : tensor<f64>
%e3_1 = stablehlo.constant dense<"0x00000000000014C0"> : tensor<1xf64>
check.expect_eq %s3_19#3, %e3_1 : tensor<1xf64>
%s80_1 = stablehlo.constant dense<"0x02"> : tensor<1xui8>
%s80_2 = stablehlo.constant dense<"0x00"> : tensor<1xui8>
%s80_3 = stablehlo.constant dense<"0x00"> : tensor<ui8>
%s80_4 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s80_5 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s80_19:4 = stablehlo.while(%s80_6 = %s80_5, %s80_7 = %s80_1, %s80_8 = %s80_3, %s80_9 = %s80_2) : tensor<i32>, tensor<1xui8>, tensor<ui8>, tensor<1xui8>
 cond {
%s80_10 = stablehlo.compare LT, %s80_6, %s80_4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
stablehlo.return %s80_10 : tensor<i1>
} do {
%s80_11 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s80_12 = stablehlo.dynamic_slice %s80_7, %s80_6, sizes = [1] : (tensor<1xui8>, tensor<i32>) -> tensor<1xui8>
%s80_13 = stablehlo.reshape %s80_12 : (tensor<1xui8>) -> tensor<ui8>
%s80_14 = stablehlo.add %s80_8, %s80_13 : tensor<ui8>
%s80_15 = stablehlo.reshape %s80_14 : (tensor<ui8>) -> tensor<1xui8>
%s80_16 = stablehlo.dynamic_update_slice %s80_9, %s80_15, %s80_6 : (tensor<1xui8>, tensor<1xui8>, tensor<i32>) -> tensor<1xui8>
%s80_17 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s80_18 = stablehlo.add %s80_6, %s80_17 : tensor<i32>
stablehlo.return %s80_18, %s80_7, %s80_14, %s80_16 : tensor<i32>, tensor<1xui8>, tensor<ui8>, tensor<1xui8>
}
%e80_0 = stablehlo.constant dense<"0x02"> : tensor<ui8>
check.expect_eq %s80_19#2, %e80_0 : tensor<ui8>
%e80_1 = stablehlo.constant dense<"0x02"> : tensor<1xui8>
check.expect_eq %s80_19#3, %e80_1 : tensor<1xui8>
return
}

}
