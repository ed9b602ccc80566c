module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_1 = stablehlo.constant dense<"0x661EA3980C1EEABF"> : tensor<f64>
%s2_3 = stablehlo.constant dense<"0xE4C519D9C326D43F"> : tensor<f64>
%s2_2 = stablehlo.constant dense<"0x0275C0C66DF9E3BF"> : tensor<f64>
%s2_4 = stablehlo.multiply %s2_1, %s2_1 : tensor<f64>
%s2_5 = stablehlo.multiply %s2_2, %s2_3 : tensor<f64>
%s2_6 = stablehlo.add %s2_5, %s2_3 : tensor<f64>
%b2_0 = stablehlo.bitcast_convert %s2_6 : (tensor<f64>) -> tensor<ui64>
%e2_0 = stablehlo.constant dense<"0x0EF9332CB34ABE3F"> : tensor<ui64>
check.expect_eq %b2_0, %e2_0 : tensor<ui64>
%b2_1 = stablehlo.bitcast_convert %s2_5 : (tensor<f64>) -> tensor<ui64>
%e2_1 = stablehlo.constant dense<"0x418F191C2E28C9BF"> : tensor<ui64>
check.expect_eq %b2_1, %e2_1 : tensor<ui64>
%s3_3 = stablehlo.constant dense<"0xC8CC45BF"> : tensor<f32>
%s3_1 = stablehlo.constant dense<"0x9244283E"> : tensor<f32>
%s3_2 = stablehlo.constant dense<"0x9D9C2BBD"> : tensor<f32>
%s3_4 = stablehlo.subtract %s3_3, %s3_2 : tensor<f32>
%s3_5 = stablehlo.subtract %s3_2, %s3_3 : tensor<f32>
%e3_0 = stablehlo.constant dense<"0xFE123B3F"> : tensor<f32>
check.expect_eq %s3_5, %e3_0 : tensor<f32>
%e3_1 = stablehlo.constant dense<"0xFE123BBF"> : tensor<f32>
check.expect_eq %s3_4, %e3_1 : tensor<f32>
%s5_3 = stablehlo.constant dense<"0x803F"> : tensor<bf16>
%s5_1 = stablehlo.constant dense<"0xDBBE"> : tensor<bf16>
%s5_2 = stablehlo.constant dense<"0x3BBE"> : tensor<bf16>
%s5_4 = stablehlo.add %s5_3, %s5_1 : tensor<bf16>
%s5_5 = stablehlo.multiply %s5_2, %s5_2 : tensor<bf16>
%s5_6 = stablehlo.multiply %s5_1, %s5_5 : tensor<bf16>
%s5_7 = stablehlo.subtract %s5_6, %s5_1 : tensor<bf16>
%s5_8 = stablehlo.subtract %s5_5, %s5_4 : tensor<bf16>
%e5_0 = stablehlo.constant dense<"0x09BF"> : tensor<bf16>
check.expect_eq %s5_8, %e5_0 : tensor<bf16>
%e5_1 = stablehlo.constant dense<"0xD43E"> : tensor<bf16>
check.expect_eq %s5_7, %e5_1 : tensor<bf16>
return
}

}
