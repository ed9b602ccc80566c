module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_3 = stablehlo.constant dense<"0x03000300030002000300010001000300"> : tensor<1x8xui16>
%s1_4 = func.call @f1(%s1_3) : (tensor<1x8xui16>) -> tensor<1x8xui16>
%s1_5 = func.call @f1(%s1_4) : (tensor<1x8xui16>) -> tensor<1x8xui16>
%s1_6:2 = stablehlo.optimization_barrier %s1_5, %s1_3 : tensor<1x8xui16>, tensor<1x8xui16>
%e1_0 = stablehlo.constant dense<"0x03000300030002000300020001000300"> : tensor<1x8xui16>
check.expect_eq %s1_6#0, %e1_0 : tensor<1x8xui16>
%e1_1 = stablehlo.constant dense<"0x03000300030002000300010001000300"> : tensor<1x8xui16>
check.expect_eq %s1_6#1, %e1_1 : tensor<1x8xui16>
%s3_3 = stablehlo.constant dense<"0x004000400042004000C000BC003C003C"> : tensor<2x1x4x1xf16>
%s3_4 = func.call @f3(%s3_3) : (tensor<2x1x4x1xf16>) -> tensor<2x1x4x1xf16>
%s3_5 = func.call @f3(%s3_4) : (tensor<2x1x4x1xf16>) -> tensor<2x1x4x1xf16>
%s3_6:2 = stablehlo.optimization_barrier %s3_5, %s3_3 : tensor<2x1x4x1xf16>, tensor<2x1x4x1xf16>
%e3_0 = stablehlo.constant dense<"0x00400042004200400000003C003C003C"> : tensor<2x1x4x1xf16>
check.expect_eq %s3_6#0, %e3_0 : tensor<2x1x4x1xf16>
%e3_1 = stablehlo.constant dense<"0x004000400042004000C000BC003C003C"> : tensor<2x1x4x1xf16>
check.expect_eq %s3_6#1, %e3_1 : tensor<2x1x4x1xf16>
return
}
func.func private @f1(%arg0: tensor<1x8xui16>) -> tensor<1x8xui16> {
%s1_1 = stablehlo.constant dense<"0x01000300010001000200020000000000"> : tensor<1x8xui16>
%s1_2 = stablehlo.maximum %arg0, %s1_1 : tensor<1x8xui16>
return %s1_2 : tensor<1x8xui16>
}
func.func private @f3(%arg0: tensor<2x1x4x1xf16>) -> tensor<2x1x4x1xf16> {
%s3_1 = stablehlo.constant dense<"0x00BC0042000000BC0000003C003C00C0"> : tensor<2x1x4x1xf16>
%s3_2 = stablehlo.maximum %arg0, %s3_1 : tensor<2x1x4x1xf16>
return %s3_2 : tensor<2x1x4x1xf16>
}
}
