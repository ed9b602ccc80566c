module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_1 = stablehlo.constant dense<"0x9E016E4EBAD3D4BF1797ED0706C3E83F534C84095BFFD13F330447ABEAB8E1BF880D07893B48EF3FAE6CDD9028E0D3BF829B846A730BD5BF73C4FC264459E9BF31F74175081EDD3F39FEF3230B65B9BF0B662B510173E13F5E6271B4106EE3BF1BA6C817E53BC03F6338734B828DECBFDAE521F347EDEA3F61918AA28811C83F"> : tensor<16xf64>
%s2_2 = stablehlo.cosine %s2_1 : tensor<16xf64>
%e2_0 = stablehlo.constant dense<"0x84075C4A0C52EE3FA39629A95FE3E63FEF58BE3338BEEE3F264A75087637EB3F82EA1C35AAE3E13F357469E31F78EE3FD9E801751849EE3F07FE9A266579E63F4D3B6E8DB4BEEC3F25656D34BAD7EF3F85BF6FF1F95BEB3F73179EBDBC47EA3F221827EF33BEEF3F7FFEF969A715E43FB7161FC1E952E53F75B58B679A6FEF3F"> : tensor<16xf64>
check.expect_close %s2_2, %e2_0 : tensor<16xf64>, tensor<16xf64>
%s3_1 = stablehlo.constant dense<"0x81C55CBE"> : tensor<1xf32>
%s3_2 = stablehlo.exponential %s3_1 : tensor<1xf32>
%e3_0 = stablehlo.constant dense<"0xF2594E3F"> : tensor<1xf32>
check.expect_close %s3_2, %e3_0, max_ulp_difference = 2 : tensor<1xf32>, tensor<1xf32>
%s4_1 = stablehlo.constant dense<"0x143F783F85BE703F5C3F"> : tensor<5x1xbf16>
%s4_2 = stablehlo.tan %s4_1 : tensor<5x1xbf16>
%e4_0 = stablehlo.constant dense<"0x273FBA3F88BEAE3F943F"> : tensor<5x1xbf16>
check.expect_close %s4_2, %e4_0, max_ulp_difference = 1 : tensor<5x1xbf16>, tensor<5x1xbf16>
%s5_1 = stablehlo.constant dense<"0xCD3F503EDEBFABBD95BF21BFFABE37BF0E3F81BD17BFD23E543FD2BF83BE7BBF31BEA5BFA93C1BBD9CBE86BFCBBE8CBFADBF663E8EBF963F373F00C0"> : tensor<1x3x2x5xbf16>
%s5_2 = stablehlo.cbrt %s5_1 : tensor<1x3x2x5xbf16>
%e5_0 = stablehlo.constant dense<"0x963F163F9ABFE0BE87BF5BBF4ABF65BF523FCCBE57BF3E3F703F97BF23BF7EBF0FBF8BBF8C3EACBE2CBF82BF3CBF84BF8EBF1C3F85BF873F653FA1BF"> : tensor<1x3x2x5xbf16>
check.expect_close %s5_2, %e5_0, max_ulp_difference = 1 : tensor<1x3x2x5xbf16>, tensor<1x3x2x5xbf16>
return
}

}
