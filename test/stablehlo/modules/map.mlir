module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x0E000000"> : tensor<ui32>
%s1_2 = stablehlo.constant dense<false> : tensor<i1>
%s1_8 = "stablehlo.map"(%s1_1, %s1_2) <{dimensions = array<i64>}> ({
^bb0(%s1_3: tensor<ui32>, %s1_4: tensor<i1>):
%s1_5 = stablehlo.convert %s1_4 : (tensor<i1>) -> tensor<i1>
%s1_6 = stablehlo.constant dense<"0x01000000"> : tensor<ui32>
%s1_7 = stablehlo.select %s1_5, %s1_3, %s1_6 : tensor<i1>, tensor<ui32>
stablehlo.return %s1_7 : tensor<ui32>
}) : (tensor<ui32>, tensor<i1>) -> (tensor<ui32>)
%e1_0 = stablehlo.constant dense<"0x01000000"> : tensor<ui32>
check.expect_eq %s1_8, %e1_0 : tensor<ui32>
%s2_1 = stablehlo.constant dense<"0x669699DF804EF23F"> : tensor<1xf64>
%s2_5 = "stablehlo.map"(%s2_1) <{dimensions = array<i64: 0>}> ({
^bb0(%s2_2: tensor<f64>):
%s2_3 = stablehlo.negate %s2_2 : tensor<f64>
%s2_4 = stablehlo.minimum %s2_3, %s2_2 : tensor<f64>
stablehlo.return %s2_4 : tensor<f64>
}) : (tensor<1xf64>) -> (tensor<1xf64>)
%b2_0 = stablehlo.bitcast_convert %s2_5 : (tensor<1xf64>) -> tensor<1xui64>
%e2_0 = stablehlo.constant dense<"0x669699DF804EF2BF"> : tensor<1xui64>
check.expect_eq %b2_0, %e2_0 : tensor<1xui64>
%s3_1 = stablehlo.constant dense<"0xE6B20AC0"> : tensor<2xf16>
%s3_4 = "stablehlo.map"(%s3_1) <{dimensions = array<i64: 0>}> ({
^bb0(%s3_2: tensor<f16>):
%s3_3 = stablehlo.add %s3_2, %s3_2 : tensor<f16>
stablehlo.return %s3_3 : tensor<f16>
}) : (tensor<2xf16>) -> (tensor<2xf16>)
%e3_0 = stablehlo.constant dense<"0xE6B60AC4"> : tensor<2xf16>
check.expect_eq %s3_4, %e3_0 : tensor<2xf16>
return
}

}
