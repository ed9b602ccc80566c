module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<> : tensor<4x5x4x0xi8>
%s1_2 = stablehlo.constant dense<> : tensor<1x4x2x0xi8>
%s1_3 = stablehlo.constant dense<"0x00"> : tensor<i8>
%s1_11 = "stablehlo.select_and_scatter"(%s1_1, %s1_2, %s1_3) <{window_dimensions = array<i64: 3, 3, 3, 2>, window_strides = array<i64: 3, 1, 1, 3>, padding = dense<[[0, 0], [0, 1], [0, 0], [0, 1]]> : tensor<4x2xi64>}> ({
^bb0(%s1_4: tensor<i8>, %s1_5: tensor<i8>):
%s1_6 = stablehlo.compare GE, %s1_4, %s1_5 : (tensor<i8>, tensor<i8>) -> tensor<i1>
stablehlo.return %s1_6 : tensor<i1>
}, {
^bb0(%s1_7: tensor<i8>, %s1_8: tensor<i8>):
%s1_9 = stablehlo.negate %s1_8 : tensor<i8>
%s1_10 = stablehlo.subtract %s1_7, %s1_9 : tensor<i8>
stablehlo.return %s1_10 : tensor<i8>
}) : (tensor<4x5x4x0xi8>, tensor<1x4x2x0xi8>, tensor<i8>) -> (tensor<4x5x4x0xi8>)
%e1_0 = stablehlo.constant dense<> : tensor<4x5x4x0xi8>
check.expect_eq %s1_11, %e1_0 : tensor<4x5x4x0xi8>
%s2_3 = stablehlo.constant dense<"0x80FF"> : tensor<bf16>
%s2_1 = stablehlo.constant dense<"0x40C0"> : tensor<1xbf16>
%s2_2 = stablehlo.constant dense<"0x7A3F"> : tensor<1xbf16>
%s2_10 = "stablehlo.select_and_scatter"(%s2_1, %s2_2, %s2_3) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 1>}> ({
^bb0(%s2_4: tensor<bf16>, %s2_5: tensor<bf16>):
%s2_6 = stablehlo.compare LT, %s2_4, %s2_5 : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
stablehlo.return %s2_6 : tensor<i1>
}, {
^bb0(%s2_7: tensor<bf16>, %s2_8: tensor<bf16>):
%s2_9 = stablehlo.maximum %s2_8, %s2_7 : tensor<bf16>
stablehlo.return %s2_9 : tensor<bf16>
}) : (tensor<1xbf16>, tensor<1xbf16>, tensor<bf16>) -> (tensor<1xbf16>)
%b2_0 = stablehlo.bitcast_convert %s2_10 : (tensor<1xbf16>) -> tensor<1xui16>
%e2_0 = stablehlo.constant dense<"0x7A3F"> : tensor<1xui16>
check.expect_eq %b2_0, %e2_0 : tensor<1xui16>
%s10_1 = stablehlo.constant dense<"0x0000"> : tensor<1x1xui16>
%s10_2 = stablehlo.constant dense<"0x5A479556"> : tensor<1x2xui16>
%s10_3 = stablehlo.constant dense<"0x2700"> : tensor<ui16>
%s10_10 = "stablehlo.select_and_scatter"(%s10_1, %s10_2, %s10_3) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
^bb0(%s10_4: tensor<ui16>, %s10_5: tensor<ui16>):
%s10_6 = stablehlo.compare LT, %s10_4, %s10_5 : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
stablehlo.return %s10_6 : tensor<i1>
}, {
^bb0(%s10_7: tensor<ui16>, %s10_8: tensor<ui16>):
%s10_9 = stablehlo.maximum %s10_8, %s10_7 : tensor<ui16>
stablehlo.return %s10_9 : tensor<ui16>
}) : (tensor<1x1xui16>, tensor<1x2xui16>, tensor<ui16>) -> (tensor<1x1xui16>)
%e10_0 = stablehlo.constant dense<"0x9556"> : tensor<1x1xui16>
check.expect_eq %s10_10, %e10_0 : tensor<1x1xui16>
return
}

}
