module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<[[false, true, false, true, false, false, true, false, true, true, true, true, true, true, false, true, true]]> : tensor<1x17xi1>
%s1_2 = stablehlo.constant dense<"0x8A218BCB5C570D0A39C7486C09D762C699"> : tensor<1x17xi8>
%s1_3 = stablehlo.constant dense<"0xBCF119F738E4173754F1A32C064BF8E5A8"> : tensor<1x17xi8>
%s1_4 = stablehlo.select %s1_1, %s1_2, %s1_3 : tensor<1x17xi1>, tensor<1x17xi8>
%e1_0 = stablehlo.constant dense<"0xBC2119CB38E40D3739C7486C09D7F8C699"> : tensor<1x17xi8>
check.expect_eq %s1_4, %e1_0 : tensor<1x17xi8>
%s2_2 = stablehlo.constant dense<"0x4D8AFBF1C89D3B6C7DA740386F5F18A218F458EFF0E1A9F75E2F2EDE1056DDAE2EE852616A864164A4192F0ACFC8EF2F40A03E55D0E09058"> : tensor<7xui64>
%s2_3 = stablehlo.constant dense<"0xACE502FA3C0E7251BC1A4DE8807A99ECEF0C4A39DD8C8D78F863C491F22D9AB1BFD749B32BF0711BA557197ADC5DC31A670A34F5DB34B033"> : tensor<7xui64>
%s2_1 = stablehlo.constant dense<[false, false, true, true, true, false, false]> : tensor<7xi1>
%s2_4 = stablehlo.select %s2_1, %s2_2, %s2_3 : tensor<7xi1>, tensor<7xui64>
%e2_0 = stablehlo.constant dense<"0xACE502FA3C0E7251BC1A4DE8807A99EC18F458EFF0E1A9F75E2F2EDE1056DDAE2EE852616A864164A557197ADC5DC31A670A34F5DB34B033"> : tensor<7xui64>
check.expect_eq %s2_4, %e2_0 : tensor<7xui64>
return
}

}
