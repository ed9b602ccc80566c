// RUN: pw-opt %s --pw-import-program --pw-lower-stablehlo -split-input-file -verify-diagnostics

// The second group is in another order than the first.
sdy.mesh @a = <["x"=4]>
func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@a, [{"x"}]>] out_shardings=[<@a, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    // expected-error@+2 {{'stablehlo.all_gather' op has groups that are no axes of the mesh}}
    // expected-error@+1 {{stablehlo.all_gather cannot be compiled [PW1104]}}
    %1 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [3, 2]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// The first group counts down.
sdy.mesh @a = <["x"=4]>
func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x"}]>}) -> tensor<32xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@a, [{"x"}]>] out_shardings=[<@a, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    // expected-error@+2 {{'stablehlo.all_gather' op has groups that are no axes of the mesh}}
    // expected-error@+1 {{stablehlo.all_gather cannot be compiled [PW1104]}}
    %1 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 2, 1, 0]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
