module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0x000000000000E0BF000000000000F03F40643F970722E043000000000000F03F000000000000E0BF0000000000F06F4000000000000004C0000000000000F07F000000000000F87F9C577727266CA1370000000000FCEF4040643F970722E04300000000000004C040643F970722E043000000000000F0BF000000000000F83F000000000000E041"> : tensor<1x17xf64>
%s1_2 = stablehlo.is_finite %s1_1 : (tensor<1x17xf64>) -> tensor<1x17xi1>
%e1_0 = stablehlo.constant dense<[[true, true, true, true, true, true, true, false, false, true, true, true, true, true, true, true, true]]> : tensor<1x17xi1>
check.expect_eq %s1_2, %e1_0 : tensor<1x17xi1>
%s2_1 = stablehlo.constant dense<"0x807F003F003F015F8047627F0000"> : tensor<7xbf16>
%s2_2 = stablehlo.is_finite %s2_1 : (tensor<7xbf16>) -> tensor<7xi1>
%e2_0 = stablehlo.constant dense<[false, true, true, true, true, true, true]> : tensor<7xi1>
check.expect_eq %s2_2, %e2_0 : tensor<7xi1>
return
}

}
