module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_4 = stablehlo.constant dense<"0x627F"> : tensor<1xbf16>
%s2_5 = "stablehlo.sort"(%s2_4) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%s2_1: tensor<bf16>, %s2_2: tensor<bf16>):
%s2_3 = stablehlo.compare GT, %s2_1, %s2_2, TOTALORDER : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
stablehlo.return %s2_3 : tensor<i1>
}) : (tensor<1xbf16>) -> (tensor<1xbf16>)
%b2_0 = stablehlo.bitcast_convert %s2_5 : (tensor<1xbf16>) -> tensor<1xui16>
%e2_0 = stablehlo.constant dense<"0x627F"> : tensor<1xui16>
check.expect_eq %b2_0, %e2_0 : tensor<1xui16>
%s3_4 = stablehlo.constant dense<"0x000000000000000000000000000000C0"> : tensor<2xf64>
%s3_5 = "stablehlo.sort"(%s3_4) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%s3_1: tensor<f64>, %s3_2: tensor<f64>):
%s3_3 = stablehlo.compare LT, %s3_1, %s3_2, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
stablehlo.return %s3_3 : tensor<i1>
}) : (tensor<2xf64>) -> (tensor<2xf64>)
%e3_0 = stablehlo.constant dense<"0x00000000000000C00000000000000000"> : tensor<2xf64>
check.expect_eq %s3_5, %e3_0 : tensor<2xf64>
%s10_4 = stablehlo.constant dense<"0x4B64"> : tensor<1xui16>
%s10_5 = "stablehlo.sort"(%s10_4) <{dimension = 0 : i64, is_stable = false}> ({
^bb0(%s10_1: tensor<ui16>, %s10_2: tensor<ui16>):
%s10_3 = stablehlo.compare LT, %s10_1, %s10_2 : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
stablehlo.return %s10_3 : tensor<i1>
}) : (tensor<1xui16>) -> (tensor<1xui16>)
%e10_0 = stablehlo.constant dense<"0x4B64"> : tensor<1xui16>
check.expect_eq %s10_5, %e10_0 : tensor<1xui16>
%s14_6 = stablehlo.constant dense<"0xF1CE9FDD70FB0EBF9B7B8FE899B94510CBA2210018AB99A5FA9873B9AC3D6EBC0E67B3D0460F1566BC4A07D6DCB6D6810FB3542A"> : tensor<13xui32>
%s14_7 = stablehlo.constant dense<"0xC9FFFFFF0C000000F9FFFFFFD0FFFFFF4F000000600000000A000000C4FFFFFFF0FFFFFFF3FFFFFF2200000057000000A2FFFFFF"> : tensor<13xi32>
%s14_8:2 = "stablehlo.sort"(%s14_6, %s14_7) <{dimension = -1 : i64, is_stable = false}> ({
^bb0(%s14_1: tensor<ui32>, %s14_2: tensor<ui32>, %s14_3: tensor<i32>, %s14_4: tensor<i32>):
%s14_5 = stablehlo.compare LT, %s14_1, %s14_2 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
stablehlo.return %s14_5 : tensor<i1>
}) : (tensor<13xui32>, tensor<13xi32>) -> (tensor<13xui32>, tensor<13xi32>)
%e14_0 = stablehlo.constant dense<"0xCBA2210099B945100FB3542A460F1566DCB6D68118AB99A5FA9873B9AC3D6EBC70FB0EBF0E67B3D0BC4A07D6F1CE9FDD9B7B8FE8"> : tensor<13xui32>
check.expect_eq %s14_8#0, %e14_0 : tensor<13xui32>
%e14_1 = stablehlo.constant dense<"0x4F000000D0FFFFFFA2FFFFFFF3FFFFFF57000000600000000A000000C4FFFFFF0C000000F0FFFFFF22000000C9FFFFFFF9FFFFFF"> : tensor<13xi32>
check.expect_eq %s14_8#1, %e14_1 : tensor<13xi32>
return
}

}
