// A module for a mesh runs on its devices: on one that plays all, on eight, in
// a simulation and in two processes, with the same bits in its results.
// REQUIRES: pw-run
// DEFINE: %{run} = pw-run %s --input=x=random:1 --input=w=random:2 --input=v=random:3 --output=result0=@%t/y.npy --output=result1=-
// RUN: mkdir -p %t
// RUN: %{run} --topology=1x1x8 > %t/a && cp %t/y.npy %t/a.npy
// RUN: %{run} --topology=1x1x1 --oversubscribe > %t/b && cmp %t/y.npy %t/a.npy
// RUN: %{run} --topology=1x2x4 --processes=2 > %t/c && cmp %t/y.npy %t/a.npy
// RUN: %{run} --topology=1x2x4 --world=sim --seed=3 > %t/d && cmp %t/y.npy %t/a.npy
// RUN: head -1 %t/a > %t/e && head -1 %t/b | cmp %t/e - && head -1 %t/c | cmp %t/e -
// The layers are cut, and their sum over "y" is communicated.
// RUN: pw-run %s --topology=1x1x8 --dry-run | FileCheck %s
// CHECK: ici island0

module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(
      %arg0: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"),
      %arg1: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>} loc("w"),
      %arg2: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} loc("v"))
      -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<f32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"y"}]> : tensor<16x64xf32>
    %2 = stablehlo.tanh %1 : tensor<16x64xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x32xf32>, tensor<f32>) -> tensor<f32>
    return %3, %4 : tensor<16x32xf32>, tensor<f32>
  }
}
