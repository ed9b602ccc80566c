module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s7_4 = stablehlo.constant dense<> : tensor<17x4x0xi1>
%s7_5 = stablehlo.constant dense<false> : tensor<i1>
%s7_6 = "stablehlo.reduce_window"(%s7_4, %s7_5) <{window_dimensions = array<i64: 2, 3, 1>, window_strides = array<i64: 3, 1, 1>, base_dilations = array<i64: 2, 1, 1>, window_dilations = array<i64: 1, 2, 1>, padding = dense<[[-1, 1], [1, 1], [1, 1]]> : tensor<3x2xi64>}> ({
^bb0(%s7_1: tensor<i1>, %s7_2: tensor<i1>):
%s7_3 = stablehlo.minimum %s7_1, %s7_2 : tensor<i1>
stablehlo.return %s7_3 : tensor<i1>
}) : (tensor<17x4x0xi1>, tensor<i1>) -> (tensor<11x2x2xi1>)
%e7_0 = stablehlo.constant dense<[[[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]], [[false, false], [false, false]]]> : tensor<11x2x2xi1>
check.expect_eq %s7_6, %e7_0 : tensor<11x2x2xi1>
%s8_4 = stablehlo.constant dense<"0x07080207020700FF01FFFF07FF0800FFFF0000FF01010107020800000207FFFEFE00080200010700FEFF07070000FFFF0001FE000200FF070202FFFE000000FFFE0701FEFE0100FE0000FFFF01FF020700070202FFFFFFFE0008FE010208020207FF00FEFE0000FE"> : tensor<13x8xui8>
%s8_5 = stablehlo.constant dense<"0x00"> : tensor<ui8>
%s8_6 = "stablehlo.reduce_window"(%s8_4, %s8_5) <{window_dimensions = array<i64: 13, 1>, window_strides = array<i64: 1, 1>, padding = dense<[[12, 0], [0, 0]]> : tensor<2x2xi64>}> ({
^bb0(%s8_1: tensor<ui8>, %s8_2: tensor<ui8>):
%s8_3 = stablehlo.add %s8_1, %s8_2 : tensor<ui8>
stablehlo.return %s8_3 : tensor<ui8>
}) : (tensor<13x8xui8>, tensor<ui8>) -> (tensor<13x8xui8>)
%e8_0 = stablehlo.constant dense<"0x07080207020700FF0807010E010F00FE0707010D02100105090F010D04170003070F090F04180703050E101604180602050F0E160618050907110D140618050805180E120419050605180D110518070D051F0F130417060B05270D14061F080D0C260D12041F080B"> : tensor<13x8xui8>
check.expect_eq %s8_6, %e8_0 : tensor<13x8xui8>
%s12_4 = stablehlo.constant dense<"0x5D858EEC62D53D6CF135AE7961905861"> : tensor<1x8xi16>
%s12_5 = stablehlo.constant dense<"0x0000"> : tensor<i16>
%s12_6 = "stablehlo.reduce_window"(%s12_4, %s12_5) <{window_dimensions = array<i64: 1, 8>, padding = dense<[[0, 0], [0, 7]]> : tensor<2x2xi64>}> ({
^bb0(%s12_1: tensor<i16>, %s12_2: tensor<i16>):
%s12_3 = stablehlo.add %s12_1, %s12_2 : tensor<i16>
stablehlo.return %s12_3 : tensor<i16>
}) : (tensor<1x8xi16>, tensor<i16>) -> (tensor<1x8xi16>)
%e12_0 = stablehlo.constant dense<"0xE25485CFF7E2950D58A1676BB9F15861"> : tensor<1x8xi16>
check.expect_eq %s12_6, %e12_0 : tensor<1x8xi16>
%s15_5 = stablehlo.constant dense<"0x0000"> : tensor<bf16>
%s15_4 = stablehlo.constant dense<"0x803F004080BF80BF80BF004080BF803F"> : tensor<4x1x2xbf16>
%s15_6 = "stablehlo.reduce_window"(%s15_4, %s15_5) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 3, 3, 1>, base_dilations = array<i64: 1, 2, 1>, window_dilations = array<i64: 1, 1, 2>, padding = dense<[[1, 2], [-1, 2], [2, 0]]> : tensor<3x2xi64>}> ({
^bb0(%s15_1: tensor<bf16>, %s15_2: tensor<bf16>):
%s15_3 = stablehlo.add %s15_1, %s15_2 : tensor<bf16>
stablehlo.return %s15_3 : tensor<bf16>
}) : (tensor<4x1x2xbf16>, tensor<bf16>) -> (tensor<3x1x2xbf16>)
%e15_0 = stablehlo.constant dense<"0x000000000000000000000000"> : tensor<3x1x2xbf16>
check.expect_eq %s15_6, %e15_0 : tensor<3x1x2xbf16>
return
}

}
