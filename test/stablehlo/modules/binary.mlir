module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_2 = stablehlo.constant dense<"0x551A7AB00E8D8B57B23CE4600B33FFCFCB934FF80EA98F1E8289A8C6AEB2E06BA345508110E016567076CD25DC995CC0BA7BCB380C433BE9BA5D67559C520C7FB1A5A9C89197D4F82D0998B743E0CA31"> : tensor<4x5x2x2xi8>
%s1_1 = stablehlo.constant dense<"0xDEB5F760B6E9ED51C400D09F32A8D400FDB361325DAE2DD60855D32DBCDC5EF003D6B3F119F738E4173754F1A32C064BF8E5A8F71C3647C7133DD0E144100223026133A6B90940A925343A4BC20B3DE3"> : tensor<4x5x2x2xi8>
%s1_3 = stablehlo.power %s1_1, %s1_2 : tensor<4x5x2x2xi8>
%e1_0 = stablehlo.constant dense<"0x001911000000003100000001000000000000A100B90000000000000000000000000041008100000081F100B10000000000BD00C10000D70000AD00610000008B0000000000000000B500000000000023"> : tensor<4x5x2x2xi8>
check.expect_eq %s1_3, %e1_0 : tensor<4x5x2x2xi8>
%s2_2 = stablehlo.constant dense<"0x903E"> : tensor<1xbf16>
%s2_1 = stablehlo.constant dense<"0x3346"> : tensor<1xbf16>
%s2_3 = stablehlo.add %s2_1, %s2_2 : tensor<1xbf16>
%b2_0 = stablehlo.bitcast_convert %s2_3 : (tensor<1xbf16>) -> tensor<1xui16>
%e2_0 = stablehlo.constant dense<"0x3346"> : tensor<1xui16>
check.expect_eq %b2_0, %e2_0 : tensor<1xui16>
%s3_1 = stablehlo.constant dense<"0x157DD87CEE2800C0A7C26ECCF5AFCDBF"> : tensor<2xf64>
%s3_2 = stablehlo.constant dense<"0x9CE844C580950A409621D86393E6CC3F"> : tensor<2xf64>
%s3_3 = stablehlo.subtract %s3_1, %s3_2 : tensor<2xf64>
%e3_0 = stablehlo.constant dense<"0xD8B20EA1375F15C01E722398444BDDBF"> : tensor<2xf64>
check.expect_eq %s3_3, %e3_0 : tensor<2xf64>
%s4_1 = stablehlo.constant dense<[[true, false, false, false, true, true, false, false, true]]> : tensor<1x9xi1>
%s4_2 = stablehlo.constant dense<[[false, true, false, false, false, false, true, true, true]]> : tensor<1x9xi1>
%s4_3 = stablehlo.xor %s4_1, %s4_2 : tensor<1x9xi1>
%e4_0 = stablehlo.constant dense<[[true, true, false, false, true, true, true, true, false]]> : tensor<1x9xi1>
check.expect_eq %s4_3, %e4_0 : tensor<1x9xi1>
%s6_1 = stablehlo.constant dense<"0x49FEF541A9FCF8"> : tensor<7xi8>
%s6_2 = stablehlo.constant dense<"0x0800FEFEFE00F8"> : tensor<7xi8>
%s6_3 = stablehlo.and %s6_1, %s6_2 : tensor<7xi8>
%e6_0 = stablehlo.constant dense<"0x0800F440A800F8"> : tensor<7xi8>
check.expect_eq %s6_3, %e6_0 : tensor<7xi8>
return
}

}
