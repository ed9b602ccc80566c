// RUN: pw-opt %s --pw-import-program --pw-lower-stablehlo -split-input-file -verify-diagnostics

sdy.mesh @a = <["x"=4]>
func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@a, [{"x"}]>] out_shardings=[<@a, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    // expected-error@+2 {{'stablehlo.all_gather' op has groups that are no axes of the mesh}}
    // expected-error@+1 {{stablehlo.all_gather cannot be compiled [PW1104]}}
    %1 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
