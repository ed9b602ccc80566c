module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0xFFFD0003FDFFFF03FE00FEFD02FDFE0000FD030203FD02FF0003FE02"> : tensor<4x1x7xi8>
%s1_2 = stablehlo.constant dense<"0xFEFF00FF"> : tensor<1x2x2xi8>
%s1_3 = stablehlo.convolution (%s1_1, %s1_2) dim_numbers = [b, f, 0]x[i, o, 0]->[f, b, 0], window = {pad = [[1, 2]], lhs_dilate = [3], reverse = [true]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x1x7xi8>, tensor<1x2x2xi8>) -> tensor<2x2x21xi8>
%e1_0 = stablehlo.constant dense<"0x020100060300000000FAFD00060300020100020100FAFD00040200000000040200060300FCFE0006030000020000000000000000030000FD0000FE0000FD0000030000FE0000010000000000FD0000020000FE00"> : tensor<2x2x21xi8>
check.expect_eq %s1_3, %e1_0 : tensor<2x2x21xi8>
%s3_2 = stablehlo.constant dense<"0x00000000000008C0000000000000F0BF00000000000008C00000000000000840000000000000F03F000000000000F03F"> : tensor<1x3x2xf64>
%s3_1 = stablehlo.constant dense<"0x000000000000004000000000000000C0000000000000F0BF000000000000F03F000000000000F03F000000000000F03F0000000000000840000000000000F0BF000000000000084000000000000008C000000000000008C00000000000000840"> : tensor<1x6x2xf64>
%s3_3 = stablehlo.convolution (%s3_1, %s3_2) dim_numbers = [0, f, b]x[0, o, i]->[f, 0, b], window = {lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x6x2xf64>, tensor<1x3x2xf64>) -> tensor<3x1x2xf64>
%e3_0 = stablehlo.constant dense<"0x00000000000014C00000000000001440000000000000184000000000000018C000000000000000000000000000000000"> : tensor<3x1x2xf64>
check.expect_eq %s3_3, %e3_0 : tensor<3x1x2xf64>
%s4_1 = stablehlo.constant dense<"0x010003000000010003000100"> : tensor<2x3xui16>
%s4_2 = stablehlo.constant dense<"0x030003000300010002000300"> : tensor<1x6xui16>
%s4_3 = stablehlo.convolution (%s4_1, %s4_2) dim_numbers = [b, f]x[i, o]->[b, f], window = {pad = []} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<2x3xui16>, tensor<1x6xui16>) -> tensor<2x6xui16>
%e4_0 = stablehlo.constant dense<"0x030003000900030000000000030003000900030002000300"> : tensor<2x6xui16>
check.expect_eq %s4_3, %e4_0 : tensor<2x6xui16>
%s5_1 = stablehlo.constant dense<"0x010000000300000000000000000000000100000002000000000000000300000001000000000000000200000003000000030000000300000001000000000000000300000002000000030000000000000000000000020000000100000001000000030000000000000002000000010000000100000003000000000000000100000000000000000000000100000002000000"> : tensor<3x4x1x3xui32>
%s5_2 = stablehlo.constant dense<"0x000000000300000003000000"> : tensor<1x1x3x1xui32>
%s5_3 = stablehlo.convolution (%s5_1, %s5_2) dim_numbers = [1, 0, b, f]x[0, 1, i, o]->[0, f, b, 1], window = {pad = [[2, 0], [0, 1]], lhs_dilate = [1, 3], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x4x1x3xui32>, tensor<1x1x3x1xui32>) -> tensor<6x1x1x8xui32>
%e5_0 = stablehlo.constant dense<"0x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000900000000000000000000000C000000000000000000000006000000000000000900000000000000000000000F00000000000000000000000C000000000000000C000000000000000000000000000000000000000000000003000000000000000F00000000000000000000000600000000000000000000000900000000000000"> : tensor<6x1x1x8xui32>
check.expect_eq %s5_3, %e5_0 : tensor<6x1x1x8xui32>
%s6_1 = stablehlo.constant dense<"0x0103"> : tensor<1x2xi8>
%s6_2 = stablehlo.constant dense<"0x020303010202"> : tensor<3x2xi8>
%s6_3 = stablehlo.convolution (%s6_1, %s6_2) dim_numbers = [b, f]x[o, i]->[f, b], window = {lhs_dilate = [], rhs_dilate = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2xi8>, tensor<3x2xi8>) -> tensor<3x1xi8>
%e6_0 = stablehlo.constant dense<"0x0B0608"> : tensor<3x1xi8>
check.expect_eq %s6_3, %e6_0 : tensor<3x1xi8>
return
}

}
