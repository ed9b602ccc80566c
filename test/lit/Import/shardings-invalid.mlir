// RUN: pw-opt %s --pw-import-program -split-input-file -verify-diagnostics

// expected-note@+1 {{the other mesh is here}}
sdy.mesh @a = <["x"=2]>
// expected-error@+1 {{'sdy.mesh' op has other axes than mesh 'a'; expected one mesh in a module [PW1303]}}
sdy.mesh @b = <["y"=2]>
func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}

// -----

sdy.mesh @a = <["x"=4]>
// expected-error@+1 {{a sharding names a part of axis 'x'; expected whole axes [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@a, [{"x":(1)2}]>}) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

// -----

sdy.mesh @a = <["x"=4]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{a sharding is unreduced; expected the sum [PW1303]}}
  %0 = sdy.sharding_constraint %arg0 <@a, [{}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @a = <["x"=4, "y"=2]>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'sdy.manual_computation' op is manual over some axes of the mesh, without 'y'; expected all axes [PW1303]}}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@a, [{"x"}]>] out_shardings=[<@a, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    sdy.return %arg1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
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

sdy.mesh @a = <["x"=4]>
func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<i1>) -> tensor<8xf32> {
  %0 = "stablehlo.if"(%arg1) ({
    // expected-error@+1 {{'sdy.manual_computation' op cannot be compiled [PW1104]}}
    %1 = sdy.manual_computation(%arg0) in_shardings=[<@a, [{"x"}]>] out_shardings=[<@a, [{"x"}]>] manual_axes={"x"} (%arg2: tensor<2xf32>) {
      sdy.return %arg2 : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    stablehlo.return %arg0 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
