module @random attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
func.func public @main() -> () {
%s1_1 = stablehlo.constant dense<"0xB8"> : tensor<i8>
%s1_2 = stablehlo.popcnt %s1_1 : tensor<i8>
%e1_0 = stablehlo.constant dense<"0x04"> : tensor<i8>
check.expect_eq %s1_2, %e1_0 : tensor<i8>
%s2_1 = stablehlo.constant dense<"0x807F20C0803F0080804380BF20C0803F00008047C03F01C301C3D7B300BF0080"> : tensor<16x1xbf16>
%s2_2 = stablehlo.abs %s2_1 : tensor<16x1xbf16>
%b2_0 = stablehlo.bitcast_convert %s2_2 : (tensor<16x1xbf16>) -> tensor<16x1xui16>
%e2_0 = stablehlo.constant dense<"0x807F2040803F00008043803F2040803F00008047C03F01430143D733003F0000"> : tensor<16x1xui16>
check.expect_eq %b2_0, %e2_0 : tensor<16x1xui16>
%s3_1 = stablehlo.constant dense<"0x9C577727266CA137"> : tensor<f64>
%s3_2 = stablehlo.negate %s3_1 : tensor<f64>
%e3_0 = stablehlo.constant dense<"0x9C577727266CA1B7"> : tensor<f64>
check.expect_eq %s3_2, %e3_0 : tensor<f64>
return
}

}
