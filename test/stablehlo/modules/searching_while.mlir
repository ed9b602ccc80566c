module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x33000000"> : tensor<i32>
%s1_2 = stablehlo.constant dense<"0xE8030000"> : tensor<i32>
%s1_9 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s1_10:2 = stablehlo.while(%s1_3 = %s1_1, %s1_4 = %s1_9) : tensor<i32>, tensor<i32>
 cond {
%s1_5 = stablehlo.compare LT, %s1_3, %s1_2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
stablehlo.return %s1_5 : tensor<i1>
} do {
%s1_6 = stablehlo.add %s1_3, %s1_3 : tensor<i32>
%s1_7 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s1_8 = stablehlo.add %s1_4, %s1_7 : tensor<i32>
stablehlo.return %s1_6, %s1_8 : tensor<i32>, tensor<i32>
}
%e1_0 = stablehlo.constant dense<"0x60060000"> : tensor<i32>
check.expect_eq %s1_10#0, %e1_0 : tensor<i32>
%e1_1 = stablehlo.constant dense<"0x05000000"> : tensor<i32>
check.expect_eq %s1_10#1, %e1_1 : tensor<i32>
%s2_1 = stablehlo.constant dense<"0x1A00000000000000"> : tensor<i64>
%s2_2 = stablehlo.constant dense<"0xE803000000000000"> : tensor<i64>
%s2_9 = stablehlo.constant dense<"0x00000000"> : tensor<i32>
%s2_10:2 = stablehlo.while(%s2_3 = %s2_1, %s2_4 = %s2_9) : tensor<i64>, tensor<i32>
 cond {
%s2_5 = stablehlo.compare LT, %s2_3, %s2_2 : (tensor<i64>, tensor<i64>) -> tensor<i1>
stablehlo.return %s2_5 : tensor<i1>
} do {
%s2_6 = stablehlo.add %s2_3, %s2_3 : tensor<i64>
%s2_7 = stablehlo.constant dense<"0x01000000"> : tensor<i32>
%s2_8 = stablehlo.add %s2_4, %s2_7 : tensor<i32>
stablehlo.return %s2_6, %s2_8 : tensor<i64>, tensor<i32>
}
%e2_0 = stablehlo.constant dense<"0x8006000000000000"> : tensor<i64>
check.expect_eq %s2_10#0, %e2_0 : tensor<i64>
%e2_1 = stablehlo.constant dense<"0x06000000"> : tensor<i32>
check.expect_eq %s2_10#1, %e2_1 : tensor<i32>
return
}

}
