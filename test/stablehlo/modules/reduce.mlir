module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_5 = stablehlo.constant dense<"0x000000000000F0BF"> : tensor<f64>
%s1_4 = stablehlo.constant dense<"0x00000000000000400000000000000040000000000000004000000000000000000000000000000040000000000000F0BF00000000000000000000000000000040000000000000F0BF000000000000F0BF000000000000F0BF00000000000000000000000000000040000000000000F0BF000000000000F0BF000000000000F0BF0000000000000040"> : tensor<1x17xf64>
%s1_6 = "stablehlo.reduce"(%s1_4, %s1_5) <{dimensions = array<i64: 1>}> ({
^bb0(%s1_1: tensor<f64>, %s1_2: tensor<f64>):
%s1_3 = stablehlo.add %s1_1, %s1_2 : tensor<f64>
stablehlo.return %s1_3 : tensor<f64>
}) : (tensor<1x17xf64>, tensor<f64>) -> (tensor<1xf64>)
%e1_0 = stablehlo.constant dense<"0x0000000000001840"> : tensor<1xf64>
check.expect_eq %s1_6, %e1_0 : tensor<1xf64>
%s7_5 = stablehlo.constant dense<> : tensor<17x4x0xi32>
%s7_6 = stablehlo.constant dense<"0x00000080"> : tensor<i32>
%s7_7 = "stablehlo.reduce"(%s7_5, %s7_6) <{dimensions = array<i64>}> ({
^bb0(%s7_1: tensor<i32>, %s7_2: tensor<i32>):
%s7_3 = stablehlo.compare GT, %s7_1, %s7_2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
%s7_4 = stablehlo.select %s7_3, %s7_1, %s7_2 : tensor<i1>, tensor<i32>
stablehlo.return %s7_4 : tensor<i32>
}) : (tensor<17x4x0xi32>, tensor<i32>) -> (tensor<17x4x0xi32>)
%e7_0 = stablehlo.constant dense<> : tensor<17x4x0xi32>
check.expect_eq %s7_7, %e7_0 : tensor<17x4x0xi32>
%s8_4 = stablehlo.constant dense<"0x0000000000000080FEFFFFFFFFFFFF7FFEFFFFFFFFFFFF7FC0FFFFFFFFFFFFFF0200000000000000FEFFFFFFFFFFFFFF02000000000000000100000000000000020000000000000000000000000000800200000000000000FEFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"> : tensor<13xi64>
%s8_5 = stablehlo.constant dense<"0xFFFFFFFFFFFFFF7F"> : tensor<i64>
%s8_6 = "stablehlo.reduce"(%s8_4, %s8_5) <{dimensions = array<i64: 0>}> ({
^bb0(%s8_1: tensor<i64>, %s8_2: tensor<i64>):
%s8_3 = stablehlo.minimum %s8_2, %s8_1 : tensor<i64>
stablehlo.return %s8_3 : tensor<i64>
}) : (tensor<13xi64>, tensor<i64>) -> (tensor<i64>)
%e8_0 = stablehlo.constant dense<"0x0000000000000080"> : tensor<i64>
check.expect_eq %s8_6, %e8_0 : tensor<i64>
%s11_7 = stablehlo.constant dense<"0x00000040"> : tensor<f32>
%s11_10 = stablehlo.constant dense<"0x7F"> : tensor<i8>
%s11_8 = stablehlo.constant dense<"0x7E"> : tensor<i8>
%s11_9 = stablehlo.constant dense<"0x00000000"> : tensor<f32>
%s11_11:2 = "stablehlo.reduce"(%s11_7, %s11_8, %s11_9, %s11_10) <{dimensions = array<i64>}> ({
^bb0(%s11_1: tensor<f32>, %s11_2: tensor<i8>, %s11_3: tensor<f32>, %s11_4: tensor<i8>):
%s11_5 = stablehlo.add %s11_3, %s11_1 : tensor<f32>
%s11_6 = stablehlo.minimum %s11_2, %s11_4 : tensor<i8>
stablehlo.return %s11_5, %s11_6 : tensor<f32>, tensor<i8>
}) : (tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> (tensor<f32>, tensor<i8>)
%e11_0 = stablehlo.constant dense<"0x00000040"> : tensor<f32>
check.expect_eq %s11_11#0, %e11_0 : tensor<f32>
%e11_1 = stablehlo.constant dense<"0x7E"> : tensor<i8>
check.expect_eq %s11_11#1, %e11_1 : tensor<i8>
return
}

}
