module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0xDEB5F760B6E9ED51C400D09F32A8D400FDB361325DAE2DD60855D32DBCDC5EF003D6B3F119F738E4173754F1A32C064BF8E5A8F71C3647C7133DD0E144100223026133A6B90940A925343A4BC20B3DE3"> : tensor<4x5x2x2xi8>
%s1_2 = stablehlo.convert %s1_1 : (tensor<4x5x2x2xi8>) -> tensor<4x5x2x2xui32>
%e1_0 = stablehlo.constant dense<"0xDEFFFFFFB5FFFFFFF7FFFFFF60000000B6FFFFFFE9FFFFFFEDFFFFFF51000000C4FFFFFF00000000D0FFFFFF9FFFFFFF32000000A8FFFFFFD4FFFFFF00000000FDFFFFFFB3FFFFFF61000000320000005D000000AEFFFFFF2D000000D6FFFFFF0800000055000000D3FFFFFF2D000000BCFFFFFFDCFFFFFF5E000000F0FFFFFF03000000D6FFFFFFB3FFFFFFF1FFFFFF19000000F7FFFFFF38000000E4FFFFFF170000003700000054000000F1FFFFFFA3FFFFFF2C000000060000004B000000F8FFFFFFE5FFFFFFA8FFFFFFF7FFFFFF1C0000003600000047000000C7FFFFFF130000003D000000D0FFFFFFE1FFFFFF44000000100000000200000023000000020000006100000033000000A6FFFFFFB9FFFFFF0900000040000000A9FFFFFF25000000340000003A0000004B000000C2FFFFFF0B0000003D000000E3FFFFFF"> : tensor<4x5x2x2xui32>
check.expect_eq %s1_2, %e1_0 : tensor<4x5x2x2xui32>
%s2_1 = stablehlo.constant dense<"0x3346"> : tensor<1xbf16>
%s2_2 = stablehlo.convert %s2_1 : (tensor<1xbf16>) -> tensor<1xf64>
%b2_0 = stablehlo.bitcast_convert %s2_2 : (tensor<1xf64>) -> tensor<1xui64>
%e2_0 = stablehlo.constant dense<"0x000000000060C640"> : tensor<1xui64>
check.expect_eq %b2_0, %e2_0 : tensor<1xui64>
%s3_1 = stablehlo.constant dense<"0x157DD87CEE2800C0A7C26ECCF5AFCDBF"> : tensor<2xf64>
%s3_2 = stablehlo.convert %s3_1 : (tensor<2xf64>) -> tensor<2xf16>
%e3_0 = stablehlo.constant dense<"0x0AC06CB3"> : tensor<2xf16>
check.expect_eq %s3_2, %e3_0 : tensor<2xf16>
%s4_1 = stablehlo.constant dense<[[true, false, false, false, true, true, false, false, true]]> : tensor<1x9xi1>
%s4_2 = stablehlo.convert %s4_1 : (tensor<1x9xi1>) -> tensor<1x9xui16>
%e4_0 = stablehlo.constant dense<"0x010000000000000001000100000000000100"> : tensor<1x9xui16>
check.expect_eq %s4_2, %e4_0 : tensor<1x9xui16>
return
}

}
