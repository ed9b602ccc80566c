// RUN: pw-opt %s --pw-import-stablehlo --pw-propagate-shardings --pw-partition -split-input-file -verify-diagnostics

// A collective over an axis that is not manual.
sdy.mesh @a = <["x"=2, "y"=2]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{the axes ["x"] are manual in this}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@a, [{"x"}]>] out_shardings=[<@a, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    // expected-error@+1 {{'pw.all_gather' op names axis "y", which is not manual here}}
    %1 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
    %2 = stablehlo.slice %1 [0:4] : (tensor<8xf32>) -> tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Partitions send along an axis that is not manual.
sdy.mesh @a = <["x"=2, "y"=2]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@a, [{"x"}]>] out_shardings=[<@a, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    // expected-error@+2 {{'stablehlo.collective_permute' op sends between partitions that differ on axes which are not manual, or not alike in all groups along manual axes}}
    // expected-error@+1 {{stablehlo.collective_permute cannot be compiled [PW1104]}}
    %1 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
