module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x3A60B6E9ED51C400D09F32A8D400FDB361325DAE2DD60855D32DBCDC5EF003D6B3F119F738E4173754F1A32C064BF8E5A8F71C3647C7133DD0E144100223026133A6B90940A925343A4BC20B3DE3C2FCACC8472249444CDAFA18D3549D441DCE2CEF4364D4FAC7271C453D605D4FBAA4FCE14F3CF00F124FA0FE23F7545B42F94DAA20D1CD24364EC64B43DBA83741F8BDB9E734DBA22631BF0CEB009D1BD00BF016B1E51B36E8A02D011FBCF24D4ADB1BAC3ED1E05E094BC33464ABCCB9CFDAAA50CF5535BE2837B5B6E7A9F0FC210EF7C811F744282E0EE5D4F60EE5B9B2A4C4EDD5BFDB2BDA540FB75F4D37BB3B28342B13E0546126E3000CABADFE0CC6D1B65401D3395CD750363B0553B9AD5DFEEC2ED71C463DB55E2F28C155EA59CAAE4511EA605F9E193E27140407DAB8EB27595DC4A26222343FE44A1C1DE8E1E82B"> : tensor<8x5x8xi8>
%s1_2 = stablehlo.slice %s1_1 [0:0:3, 4:5:2, 7:7] : (tensor<8x5x8xi8>) -> tensor<0x1x0xi8>
%e1_0 = stablehlo.constant dense<> : tensor<0x1x0xi8>
check.expect_eq %s1_2, %e1_0 : tensor<0x1x0xi8>
%s2_1 = stablehlo.constant dense<"0xD3BE"> : tensor<bf16>
%s2_2 = stablehlo.slice %s2_1 [] : (tensor<bf16>) -> tensor<bf16>
%b2_0 = stablehlo.bitcast_convert %s2_2 : (tensor<bf16>) -> tensor<ui16>
%e2_0 = stablehlo.constant dense<"0xD3BE"> : tensor<ui16>
check.expect_eq %b2_0, %e2_0 : tensor<ui16>
%s3_1 = stablehlo.constant dense<"0xAFAE4BAA21C2DA3F"> : tensor<f64>
%s3_2 = stablehlo.slice %s3_1 [] : (tensor<f64>) -> tensor<f64>
%e3_0 = stablehlo.constant dense<"0xAFAE4BAA21C2DA3F"> : tensor<f64>
check.expect_eq %s3_2, %e3_0 : tensor<f64>
return
}

}
