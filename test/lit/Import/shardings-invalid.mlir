// RUN: pw-opt %s --pw-import-program -split-input-file -verify-diagnostics

// expected-note@+1 {{mesh 'a' is here}}
sdy.mesh @a = <["x"=2]>
// expected-error@+1 {{mesh 'b' has 4 devices, but mesh 'a' has 2; expected the same number everywhere [PW1303]}}
sdy.mesh @b = <["y"=4]>
func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

// -----

// Blocks of 2 and of 3 devices are cut by no axis in common.
// expected-note@+1 {{mesh 'a' is here}}
sdy.mesh @a = <["x"=2, "y"=3]>
// expected-error@+1 {{mesh 'b' and mesh 'a' have no finer mesh in common: one has blocks of 2 devices, the other of 3 [PW1303]}}
sdy.mesh @b = <["x"=3, "y"=2]>
func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

// -----

// expected-note@+1 {{mesh 'a' is here}}
sdy.mesh @a = <["x"=4]>
// expected-error@+1 {{mesh 'b' has its devices in an order that no finer mesh has in common with mesh 'a' [PW1303]}}
sdy.mesh @b = <["x"=4], device_ids=[0, 1, 3, 2]>
func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

// -----

// expected-error@+1 {{mesh 'a' has parts that no finer mesh has as whole axes [PW1303]}}
sdy.mesh @a = <["x"=6]>
func.func public @main(%arg0: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x":(1)2}]>},
    %arg1: tensor<12xf32> {sdy.sharding = #sdy.sharding<@a, [{"x":(1)3}]>}) -> tensor<12xf32> {
  return %arg0 : tensor<12xf32>
}

// -----

sdy.mesh @a = <["x"=4]>
// expected-error@+1 {{array is partial: expected i1 to be combined by max, min, umax, umin, and, or or xor, got add}}
func.func public @main(%arg0: tensor<8xi1> {sdy.sharding = #sdy.sharding<@a, [{}], unreduced={"x"}>}) -> tensor<8xi1> {
  return %arg0 : tensor<8xi1>
}

// -----

// expected-error@+1 {{the module is partitioned: 'mhlo.num_partitions' is 8, expected 4, the devices of its mesh [PW1303]}}
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @a = <["x"=4]>
  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
}

// -----

sdy.mesh @a = <["x"=2, "y"=3]>
func.func public @main(%arg0: tensor<12xf32>) -> tensor<24xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@a, [{"x", "y"}]>] out_shardings=[<@a, [{"x", "y"}]>] manual_axes={"x", "y"} (%arg1: tensor<2xf32>) {
    // expected-error@+1 {{'stablehlo.all_gather' op has groups that are no axes of the mesh, nor of a finer one [PW1303]}}
    %1 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5]]> : tensor<3x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<12xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}
