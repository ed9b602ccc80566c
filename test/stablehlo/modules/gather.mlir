module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_1 = stablehlo.constant dense<"0x825599C2"> : tensor<1x2xi16>
%s2_2 = stablehlo.constant dense<"0xFE02"> : tensor<2xi8>
%s2_3 = "stablehlo.gather"(%s2_1, %s2_2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<1x2xi16>, tensor<2xi8>) -> (tensor<1x2xi16>)
%e2_0 = stablehlo.constant dense<"0x825599C2"> : tensor<1x2xi16>
check.expect_eq %s2_3, %e2_0 : tensor<1x2xi16>
%s3_1 = stablehlo.constant dense<"0xFF"> : tensor<1xui8>
%s3_2 = stablehlo.constant dense<"0x010000000100000001000000010000000100000000000000020000000200000002000000020000000000000000000000"> : tensor<1x3x4xui32>
%s3_3 = "stablehlo.gather"(%s3_1, %s3_2) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<1xui8>, tensor<1x3x4xui32>) -> (tensor<3x4x1xui8>)
%e3_0 = stablehlo.constant dense<"0xFFFFFFFFFFFFFFFFFFFFFFFF"> : tensor<3x4x1xui8>
check.expect_eq %s3_3, %e3_0 : tensor<3x4x1xui8>
%s5_1 = stablehlo.constant dense<"0x55004300440042000600600038005B001B002400580012000600250044000C0057002200160036005A00590058001E0001004E0047004D0000000300320021002C005E001400350020001D0051000F001F000B000F001C0046003A002D001100500050001700060020000E00"> : tensor<1x6x3x3xui16>
%s5_2 = stablehlo.constant dense<"0x0600000000000000"> : tensor<ui64>
%s5_3 = "stablehlo.gather"(%s5_1, %s5_2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], collapsed_slice_dims = [2], start_index_map = [0]>, slice_sizes = array<i64: 1, 6, 1, 1>}> : (tensor<1x6x3x3xui16>, tensor<ui64>) -> (tensor<1x6x1xui16>)
%e5_0 = stablehlo.constant dense<"0x5500240016004D0020003A00"> : tensor<1x6x1xui16>
check.expect_eq %s5_3, %e5_0 : tensor<1x6x1xui16>
%s7_1 = stablehlo.constant dense<"0x2180320D37AFC533D2A3C71FEEF9CDD783FEAC7D6961DAF709F89EB7A125D758652783A9ED4B015BBFE54F1C9B5CDD9D0F48BF8B8B345BF13ED7A289059DBDA474404F037EC3E378"> : tensor<4x6x3xi8>
%s7_2 = stablehlo.constant dense<"0x030605030402030301070000"> : tensor<1x3x4xui8>
%s7_3 = "stablehlo.gather"(%s7_1, %s7_2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 3], collapsed_slice_dims = [2], start_index_map = [0, 1, 2], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2, 1>}> : (tensor<4x6x3xi8>, tensor<1x3x4xui8>) -> (tensor<2x1x4x2xi8>)
%e7_0 = stablehlo.constant dense<"0x488B9B9D5C0F5C0F03E3BD40A44FA44F"> : tensor<2x1x4x2xi8>
check.expect_eq %s7_3, %e7_0 : tensor<2x1x4x2xi8>
return
}

}
