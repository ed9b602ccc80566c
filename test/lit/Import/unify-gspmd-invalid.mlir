// RUN: pw-opt %s --pw-unify-shardings -split-input-file -verify-diagnostics

// expected-error@+1 {{the sharding "{devices=[2]0,1" cannot be used: expected a word or '}' [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]0,1"}) { return }
// -----
// expected-error@+1 {{the sharding "{{replicated}}" cannot be used: it is a list of shardings; expected the sharding of one tensor [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{{replicated}}"}) { return }
// -----
// expected-error@+1 {{the sharding "{devices=[2,2]<=[8]}" cannot be used: the sizes after '<=' are not those of 4 devices [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2,2]<=[8]}"}) { return }
// -----
// expected-error@+1 {{the sharding "{devices=[4]<=[2,2]T(1,1)}" cannot be used: the numbers after T are no permutation of the sizes before it [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[2,2]T(1,1)}"}) { return }
// -----
// expected-error@+1 {{the sharding "{devices=[4]0,1,3,2}" cannot be used: no mesh has its devices in this order [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[4]0,1,3,2}"}) { return }
// -----
// expected-error@+1 {{the sharding "{devices=[4]0,1,1,2}" cannot be used: device 1 is out of range or named twice [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[4]0,1,1,2}"}) { return }
// -----
// expected-error@+1 {{the sharding "{devices=[9999999,9999999]<=[4]}" cannot be used: expected positive tile sizes for at most 2^24 devices [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[9999999,9999999]<=[4]}"}) { return }
// -----
// expected-error@+1 {{the sharding "{devices=[4]<=[4] last_tile_dims={sharded}}" cannot be used: expected 'manual' or 'replicated' in last_tile_dims, got 'sharded' [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4] last_tile_dims={sharded}}"}) { return }
// -----
// expected-error@+1 {{the sharding "{mesh}" cannot be used: 'mesh' is not known [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{mesh}"}) { return }
// -----
// expected-error@+1 {{the sharding "{devices=[4,1]<=[4]}" has tile sizes for 2 dimensions, but 'tensor<8xf32>' has 1 [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) { return }
// -----
// expected-note@+2 {{the sharding "{devices=[2,3]<=[6]}" is here}}
// expected-error@+1 {{the sharding "{devices=[3,2]<=[6]}" and the sharding "{devices=[2,3]<=[6]}" have no finer mesh in common: one has blocks of 2 devices, the other of 3 [PW1303]}}
func.func public @main(%arg0: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %arg1: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) { return }
// -----
// expected-note@+1 {{mesh 'a' is here}}
sdy.mesh @a = <["x"=2]>
// expected-error@+1 {{the sharding "{devices=[4]<=[4]}" has 4 devices, but mesh 'a' has 2; expected the same number everywhere [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) { return }
// -----
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op calls @Sharding with 1 operands and 1 results, without 'mhlo.sharding'; expected one each, and a sharding [PW1303]}}
  %0 = stablehlo.custom_call @Sharding(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// -----
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op expected backend_config to be empty or unspecified_dims=[..], got "x" [PW1303]}}
  %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "x", mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// -----
func.func public @main(%arg0: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'func.return' op returns a shard; expected a whole array [PW1303]}}
  return %1 : tensor<4xf32>
}
// -----
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op makes a whole array of a value that is no shard [PW1303]}}
  %0 = stablehlo.custom_call @SPMDShardToFullShape(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// -----
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'stablehlo.custom_call' op makes shards of a value that is a shard already [PW1303]}}
  %2 = stablehlo.custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<8xf32>
}
// -----
// expected-note@+1 {{the operand is here}}
func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<4xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'stablehlo.add' op works on shards, but operand 1 is a whole array [PW1303]}}
  %2 = stablehlo.add %1, %arg1 : tensor<4xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<4xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
// -----
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{'sdy.manual_computation' op expected the region to take ('tensor<4xf32>'), got ('tensor<2xf32>')}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
  %3 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<2xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
// -----
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{maximal device=0}"} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{'stablehlo.custom_call' op makes shards, but the sharding before it is "{maximal device=0}" [PW1303]}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// -----
func.func public @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note@+1 {{the other call is here}}
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{devices=[1,1,2,2]<=[4] last_tile_dims={replicated, manual}}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-error@+1 {{'stablehlo.custom_call' op is manual over other axes than a call that makes or takes shards of the same computation [PW1303]}}
  %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {mhlo.sharding = "{replicated}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// -----
// A value leaves the computation and comes back to it.
// expected-error@+1 {{has operations on whole arrays between operations on shards of one manual computation that depend on each other [PW1303]}}
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%arg0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDShardToFullShape(%0) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.add %1, %1 : tensor<8xf32>
  %3 = stablehlo.custom_call @SPMDFullToShardShape(%2) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = stablehlo.add %0, %3 : tensor<8xf32>
  %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %5 : tensor<8xf32>
}
