module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s2_2 = stablehlo.constant dense<> : tensor<1x0xbf16>
%s2_1 = stablehlo.constant dense<> : tensor<0x0xbf16>
%s2_3 = "stablehlo.triangular_solve"(%s2_1, %s2_2) <{left_side = false, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<0x0xbf16>, tensor<1x0xbf16>) -> (tensor<1x0xbf16>)
%e2_0 = stablehlo.constant dense<> : tensor<1x0xbf16>
check.expect_almost_eq %s2_3, %e2_0, tolerance = 9.000000e-01 : tensor<1x0xbf16>
%s3_1 = stablehlo.constant dense<"0x0B40"> : tensor<1x1xbf16>
%s3_2 = stablehlo.constant dense<"0x2CBD"> : tensor<1x1xbf16>
%s3_3 = "stablehlo.triangular_solve"(%s3_1, %s3_2) <{left_side = false, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<1x1xbf16>, tensor<1x1xbf16>) -> (tensor<1x1xbf16>)
%e3_0 = stablehlo.constant dense<"0x2CBD"> : tensor<1x1xbf16>
check.expect_almost_eq %s3_3, %e3_0, tolerance = 9.000000e-01 : tensor<1x1xbf16>
return
}

}
