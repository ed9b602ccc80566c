module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_1 = stablehlo.constant dense<"0x0100"> : tensor<2xui8>
%s2_2 = stablehlo.constant dense<"0x00B80080"> : tensor<1x2xf16>
%s2_3 = stablehlo.constant dense<"0xFB832808"> : tensor<1x2xf16>
%s2_7 = "stablehlo.scatter"(%s2_2, %s2_1, %s2_3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
^bb0(%s2_4: tensor<f16>, %s2_5: tensor<f16>):
%s2_6 = stablehlo.minimum %s2_4, %s2_5 : tensor<f16>
stablehlo.return %s2_6 : tensor<f16>
}) : (tensor<1x2xf16>, tensor<2xui8>, tensor<1x2xf16>) -> (tensor<1x2xf16>)
%b2_0 = stablehlo.bitcast_convert %s2_7 : (tensor<1x2xf16>) -> tensor<1x2xui16>
%e2_0 = stablehlo.constant dense<"0x00B80080"> : tensor<1x2xui16>
check.expect_eq %b2_0, %e2_0 : tensor<1x2xui16>
%s8_2 = stablehlo.constant dense<"0xA2FFCFFFF5FF1200F6FF1500E8FF1E00A1FF53000700BAFF"> : tensor<2x6xi16>
%s8_1 = stablehlo.constant dense<"0x0600000000000000"> : tensor<2xi32>
%s8_3 = stablehlo.constant dense<"0xFEFF"> : tensor<1xi16>
%s8_7 = "stablehlo.scatter"(%s8_2, %s8_1, %s8_3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1, 0]>}> ({
^bb0(%s8_4: tensor<i16>, %s8_5: tensor<i16>):
%s8_6 = stablehlo.minimum %s8_4, %s8_5 : tensor<i16>
stablehlo.return %s8_6 : tensor<i16>
}) : (tensor<2x6xi16>, tensor<2xi32>, tensor<1xi16>) -> (tensor<2x6xi16>)
%e8_0 = stablehlo.constant dense<"0xA2FFCFFFF5FF1200F6FF1500E8FF1E00A1FF53000700BAFF"> : tensor<2x6xi16>
check.expect_eq %s8_7, %e8_0 : tensor<2x6xi16>
%s11_1 = stablehlo.constant dense<"0x050305"> : tensor<1x3xui8>
%s11_2 = stablehlo.constant dense<"0x0080FEFF0100FF7F"> : tensor<4xi16>
%s11_3 = stablehlo.constant dense<"0x7E76BC499E5E"> : tensor<3xi16>
%s11_8 = "stablehlo.scatter"(%s11_2, %s11_1, %s11_3) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
^bb0(%s11_4: tensor<i16>, %s11_5: tensor<i16>):
%s11_6 = stablehlo.negate %s11_5 : tensor<i16>
%s11_7 = stablehlo.subtract %s11_4, %s11_6 : tensor<i16>
stablehlo.return %s11_7 : tensor<i16>
}) : (tensor<4xi16>, tensor<1x3xui8>, tensor<3xi16>) -> (tensor<4xi16>)
%e11_0 = stablehlo.constant dense<"0x0080FEFF0100BBC9"> : tensor<4xi16>
check.expect_eq %s11_8, %e11_0 : tensor<4xi16>
%s12_1 = stablehlo.constant dense<"0x01000200"> : tensor<1x2xi16>
%s12_2 = stablehlo.constant dense<"0x0CC12622245AF155604CD8A84858DE1EBD4B46EE39C85E3B4020A5382AC448B7EC3537A0"> : tensor<6x6xi8>
%s12_3 = stablehlo.constant dense<"0x7F"> : tensor<1x1x1xi8>
%s12_8 = "stablehlo.scatter"(%s12_2, %s12_1, %s12_3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>}> ({
^bb0(%s12_4: tensor<i8>, %s12_5: tensor<i8>):
%s12_6 = stablehlo.negate %s12_5 : tensor<i8>
%s12_7 = stablehlo.subtract %s12_4, %s12_6 : tensor<i8>
stablehlo.return %s12_7 : tensor<i8>
}) : (tensor<6x6xi8>, tensor<1x2xi16>, tensor<1x1x1xi8>) -> (tensor<6x6xi8>)
%e12_0 = stablehlo.constant dense<"0x0CC12622245AF155604CD8A848D7DE1EBD4B46EE39C85E3B4020A5382AC448B7EC3537A0"> : tensor<6x6xi8>
check.expect_eq %s12_8, %e12_0 : tensor<6x6xi8>
%s19_1 = stablehlo.constant dense<"0x07000000"> : tensor<1xui32>
%s19_2 = stablehlo.constant dense<"0xE9E3DAD6299AD66EABEFFDBDA93B2071B0A0B99A8DEF5FA5"> : tensor<2x6xui16>
%s19_3 = stablehlo.constant dense<"0xFEFF"> : tensor<ui16>
%s19_7 = "stablehlo.scatter"(%s19_2, %s19_1, %s19_3) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
^bb0(%s19_4: tensor<ui16>, %s19_5: tensor<ui16>):
%s19_6 = stablehlo.add %s19_4, %s19_5 : tensor<ui16>
stablehlo.return %s19_6 : tensor<ui16>
}) : (tensor<2x6xui16>, tensor<1xui32>, tensor<ui16>) -> (tensor<2x6xui16>)
%e19_0 = stablehlo.constant dense<"0xE9E3DAD6299AD66EABEFFDBDA93B2071B0A0B99A8DEF5FA5"> : tensor<2x6xui16>
check.expect_eq %s19_7, %e19_0 : tensor<2x6xui16>
return
}

}
