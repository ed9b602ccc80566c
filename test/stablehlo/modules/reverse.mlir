module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0xB3D16453E2827395B29D8E87B5B2175DAE"> : tensor<1x17xi8>
%s1_2 = stablehlo.reverse %s1_1, dims = [1] : tensor<1x17xi8>
%e1_0 = stablehlo.constant dense<"0xAE5D17B2B5878E9DB2957382E25364D1B3"> : tensor<1x17xi8>
check.expect_eq %s1_2, %e1_0 : tensor<1x17xi8>
%s2_1 = stablehlo.constant dense<"0x11FB2BFEE4481A309F9E56E1E0161E0E6DE4E78E7A646446CBC98B33B2874DA8B98E424E79A4F08F82D59942017B6A26162DCABF39E4C06E"> : tensor<7xui64>
%s2_2 = stablehlo.reverse %s2_1, dims = [] : tensor<7xui64>
%e2_0 = stablehlo.constant dense<"0x11FB2BFEE4481A309F9E56E1E0161E0E6DE4E78E7A646446CBC98B33B2874DA8B98E424E79A4F08F82D59942017B6A26162DCABF39E4C06E"> : tensor<7xui64>
check.expect_eq %s2_2, %e2_0 : tensor<7xui64>
return
}

}
