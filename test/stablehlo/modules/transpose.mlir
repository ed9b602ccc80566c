module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x1D0AADA14933440840DEF63AB4D8B5F760"> : tensor<1x17xi8>
%s1_2 = stablehlo.transpose %s1_1, dims = [0, 1] : (tensor<1x17xi8>) -> tensor<1x17xi8>
%e1_0 = stablehlo.constant dense<"0x1D0AADA14933440840DEF63AB4D8B5F760"> : tensor<1x17xi8>
check.expect_eq %s1_2, %e1_0 : tensor<1x17xi8>
%s2_1 = stablehlo.constant dense<"0x11FB2BFEE4481A309F9E56E1E0161E0E6DE4E78E7A646446CBC98B33B2874DA8B98E424E79A4F08F82D59942017B6A26162DCABF39E4C06E"> : tensor<7xui64>
%s2_2 = stablehlo.transpose %s2_1, dims = [0] : (tensor<7xui64>) -> tensor<7xui64>
%e2_0 = stablehlo.constant dense<"0x11FB2BFEE4481A309F9E56E1E0161E0E6DE4E78E7A646446CBC98B33B2874DA8B98E424E79A4F08F82D59942017B6A26162DCABF39E4C06E"> : tensor<7xui64>
check.expect_eq %s2_2, %e2_0 : tensor<7xui64>
return
}

}
