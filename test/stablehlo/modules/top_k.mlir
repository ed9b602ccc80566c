module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x1D000000000000000A00000000000000ADFFFFFFFFFFFFFFA1FFFFFFFFFFFFFF49000000000000003300000000000000440000000000000008000000000000004000000000000000DEFFFFFFFFFFFFFFF6FFFFFFFFFFFFFF3A00000000000000B4FFFFFFFFFFFFFFD8FFFFFFFFFFFFFFB5FFFFFFFFFFFFFFF7FFFFFFFFFFFFFF6000000000000000"> : tensor<1x17xi64>
%s1_2:2 = chlo.top_k(%s1_1, k = 7) : tensor<1x17xi64> -> (tensor<1x7xi64>, tensor<1x7xi32>)
%e1_0 = stablehlo.constant dense<"0x60000000000000004900000000000000440000000000000040000000000000003A0000000000000033000000000000001D00000000000000"> : tensor<1x7xi64>
check.expect_eq %s1_2#0, %e1_0 : tensor<1x7xi64>
%e1_1 = stablehlo.constant dense<"0x100000000400000006000000080000000B0000000500000000000000"> : tensor<1x7xi32>
check.expect_eq %s1_2#1, %e1_1 : tensor<1x7xi32>
%s2_1 = stablehlo.constant dense<"0x11FB2BFEE4481A309F9E56E1E0161E0E6DE4E78E7A646446CBC98B33B2874DA8B98E424E79A4F08F82D59942017B6A26162DCABF39E4C06E"> : tensor<7xui64>
%s2_2:2 = chlo.top_k(%s2_1, k = 0) : tensor<7xui64> -> (tensor<0xui64>, tensor<0xi32>)
%e2_0 = stablehlo.constant dense<> : tensor<0xui64>
check.expect_eq %s2_2#0, %e2_0 : tensor<0xui64>
%e2_1 = stablehlo.constant dense<> : tensor<0xi32>
check.expect_eq %s2_2#1, %e2_1 : tensor<0xi32>
return
}

}
