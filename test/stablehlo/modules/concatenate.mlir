module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_1 = stablehlo.constant dense<"0x7A3F9FBEA8BE4BBFE93ECBBD0C3F1BBF023E64BF573F413EA93ED23E81BF483F0440D2BFDDBFC1BF573F043E8A3F393F583E913E2EBE5E3F91BFD8BE793EE73F44BF"> : tensor<33xbf16>
%s2_2 = stablehlo.constant dense<"0xB9BBCB3871BE0B39"> : tensor<4xbf16>
%s2_3 = stablehlo.concatenate %s2_1, %s2_2, dim = 0 : (tensor<33xbf16>, tensor<4xbf16>) -> tensor<37xbf16>
%b2_0 = stablehlo.bitcast_convert %s2_3 : (tensor<37xbf16>) -> tensor<37xui16>
%e2_0 = stablehlo.constant dense<"0x7A3F9FBEA8BE4BBFE93ECBBD0C3F1BBF023E64BF573F413EA93ED23E81BF483F0440D2BFDDBFC1BF573F043E8A3F393F583E913E2EBE5E3F91BFD8BE793EE73F44BFB9BBCB3871BE0B39"> : tensor<37xui16>
check.expect_eq %b2_0, %e2_0 : tensor<37xui16>
%s3_1 = stablehlo.constant dense<"0x88845555D3AFEBBF9CE844C580950A409621D86393E6CC3F"> : tensor<3xf64>
%s3_2 = stablehlo.concatenate %s3_1, dim = 0 : (tensor<3xf64>) -> tensor<3xf64>
%e3_0 = stablehlo.constant dense<"0x88845555D3AFEBBF9CE844C580950A409621D86393E6CC3F"> : tensor<3xf64>
check.expect_eq %s3_2, %e3_0 : tensor<3xf64>
%s4_1 = stablehlo.constant dense<[[[[false, true, false, false, true, false, false, false]], [[false, true, true, true, false, false, true, true]], [[false, false, false, false, true, false, true, false]], [[true, true, false, false, true, true, true, true]], [[true, false, false, true, false, true, false, false]], [[false, true, true, true, false, true, true, false]], [[false, true, true, false, true, true, false, false]], [[true, true, false, false, true, false, true, false]]]]> : tensor<1x8x1x8xi1>
%s4_2 = stablehlo.concatenate %s4_1, dim = 3 : (tensor<1x8x1x8xi1>) -> tensor<1x8x1x8xi1>
%e4_0 = stablehlo.constant dense<[[[[false, true, false, false, true, false, false, false]], [[false, true, true, true, false, false, true, true]], [[false, false, false, false, true, false, true, false]], [[true, true, false, false, true, true, true, true]], [[true, false, false, true, false, true, false, false]], [[false, true, true, true, false, true, true, false]], [[false, true, true, false, true, true, false, false]], [[true, true, false, false, true, false, true, false]]]]> : tensor<1x8x1x8xi1>
check.expect_eq %s4_2, %e4_0 : tensor<1x8x1x8xi1>
return
}

}
