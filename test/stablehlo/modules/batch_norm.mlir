module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_2 = stablehlo.constant dense<"0x47408940F13E"> : tensor<3xbf16>
%s2_4 = stablehlo.constant dense<"0x2A3F4DBFCABD"> : tensor<3xbf16>
%s2_5 = stablehlo.constant dense<"0x67406D3E9140"> : tensor<3xbf16>
%s2_1 = stablehlo.constant dense<"0x49BF4ABF19BF453FB83E333F943E3FBE083D3F3E393FFDBD493F693E293F7FBBC53EA5BE3B3D11BF4CBF"> : tensor<7x3xbf16>
%s2_3 = stablehlo.constant dense<"0x083F3EBE1CBF"> : tensor<3xbf16>
%s2_6 = "stablehlo.batch_norm_inference"(%s2_1, %s2_2, %s2_3, %s2_4, %s2_5) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<7x3xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<7x3xbf16>)
%s3_1 = stablehlo.constant dense<"0x723FCEBEBEBE493F2E3E6BBD0C3F70BFD43E81BE51BFA43E5D3F16BF853ECFBEF83E"> : tensor<17xbf16>
%s3_2 = stablehlo.constant dense<"0x3940A140573F0740AC3F4F40B53D2C3E87401040173F5640203F3240E23FE13F283F"> : tensor<17xbf16>
%s3_3 = stablehlo.constant dense<"0x55BF1DBF13BF383F3FBFD0BE6ABC333F6E3FD53E13BFB83DD33E65BFB83E87BE383E"> : tensor<17xbf16>
%s3_4:3 = "stablehlo.batch_norm_training"(%s3_1, %s3_2, %s3_3) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (tensor<17xbf16>, tensor<17xbf16>, tensor<17xbf16>) -> (tensor<17xbf16>, tensor<17xbf16>, tensor<17xbf16>)
return
}

}
