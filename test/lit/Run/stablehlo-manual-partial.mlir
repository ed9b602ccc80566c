// Manual computations over some axes of the mesh, with a product that is cut over
// another one, in loops and branches, and in each other: all give what whole arrays
// give.
// REQUIRES: pw-run
// RUN: %python %S/Inputs/npy.py %t.x.npy '<f4' 4x4 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
// DEFINE: %{run} = pw-run %s --input=x=@%t.x.npy
// RUN: %{run} --input=n=1 --topology=1x1x8 | FileCheck %s
// RUN: %{run} --input=n=1 --topology=1x2x4 --processes=2 | FileCheck %s
// RUN: %{run} --input=n=1 --topology=1x1x1 --oversubscribe | FileCheck %s
// RUN: %{run} --input=n=0 --topology=1x1x8 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 5 checks

module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
  func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("x"), %n: tensor<i32> loc("n")) -> tensor<4x4xf32> {
    // Groups along "x". The product is cut over "y".
    %w = sdy.sharding_constraint %x <@mesh, [{}, {"y"}]> : tensor<4x4xf32>
    %0 = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"x"} (%a: tensor<2x4xf32>, %b: tensor<4x4xf32>) {
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %s = "stablehlo.all_reduce"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        %t = stablehlo.add %u, %v : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %s : tensor<2x4xf32>
    } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %top = stablehlo.slice %x [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %bottom = stablehlo.slice %x [2:4, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %both = stablehlo.add %top, %bottom : tensor<2x4xf32>
    %want = stablehlo.dot_general %both, %x, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    stablehlo.custom_call @check.expect_eq(%0, %want) {has_side_effect = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()

    // In a loop.
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%iter = %zero, %v = %x) : tensor<i32>, tensor<4x4xf32>
    cond {
      %five = stablehlo.constant dense<5> : tensor<i32>
      %more = stablehlo.compare LT, %iter, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %iter, %one : tensor<i32>
      %r = sdy.manual_computation(%v) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%a: tensor<2x4xf32>) {
        %s = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
        %low = stablehlo.slice %s [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
        %sum = stablehlo.add %a, %low : tensor<2x4xf32>
        sdy.return %sum : tensor<2x4xf32>
      } : (tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %next, %r : tensor<i32>, tensor<4x4xf32>
    }
    %2:2 = stablehlo.while(%iter = %zero, %v = %x) : tensor<i32>, tensor<4x4xf32>
    cond {
      %five = stablehlo.constant dense<5> : tensor<i32>
      %more = stablehlo.compare LT, %iter, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %iter, %one : tensor<i32>
      %low = stablehlo.slice %v [0:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
      %twice = stablehlo.concatenate %low, %low, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
      %r = stablehlo.add %v, %twice : tensor<4x4xf32>
      stablehlo.return %next, %r : tensor<i32>, tensor<4x4xf32>
    }
    stablehlo.custom_call @check.expect_eq(%1#1, %2#1) {has_side_effect = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()

    // In a branch that depends on data, over two axes.
    %is = stablehlo.compare NE, %n, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = "stablehlo.if"(%is) ({
      %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", "y"}, {?}]>] out_shardings=[<@mesh, [{"x", "y"}, {?}]>] manual_axes={"x", "y"} (%a: tensor<1x4xf32>) {
        %s = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
        ^bb0(%u: tensor<f32>, %v: tensor<f32>):
          %t = stablehlo.maximum %u, %v : tensor<f32>
          stablehlo.return %t : tensor<f32>
        }) : (tensor<1x4xf32>) -> tensor<1x4xf32>
        sdy.return %s : tensor<1x4xf32>
      } : (tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %r : tensor<4x4xf32>
    }, {
      stablehlo.return %x : tensor<4x4xf32>
    }) : (tensor<i1>) -> tensor<4x4xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %most = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %rows = stablehlo.broadcast_in_dim %most, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
    %want3 = stablehlo.select %is, %rows, %x : tensor<i1>, tensor<4x4xf32>
    stablehlo.custom_call @check.expect_eq(%3, %want3) {has_side_effect = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()

    // The number of a shard along "y", as front ends write it: in a region over
    // the other axes.
    %4 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{?}, {"y"}]>] out_shardings=[<@mesh, [{?}, {"y"}]>] manual_axes={"y"} (%a: tensor<4x2xf32>) {
      %id = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"x", "z"} () {
        %all = stablehlo.partition_id : tensor<ui32>
        %two = stablehlo.constant dense<2> : tensor<ui32>
        %high = stablehlo.divide %all, %two : tensor<ui32>
        %own = stablehlo.remainder %high, %two : tensor<ui32>
        sdy.return %own : tensor<ui32>
      } : () -> tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %fs = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
      %r = stablehlo.multiply %a, %fs : tensor<4x2xf32>
      sdy.return %r : tensor<4x2xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %mask = stablehlo.constant dense<[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]> : tensor<4x4xf32>
    %want4 = stablehlo.multiply %x, %mask : tensor<4x4xf32>
    stablehlo.custom_call @check.expect_eq(%4, %want4) {has_side_effect = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()

    // A permute in groups along one axis.
    %5 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%a: tensor<2x4xf32>) {
      %s = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 4], [4, 0], [1, 5], [5, 1], [2, 6], [6, 2], [3, 7], [7, 3]]> : tensor<8x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %s : tensor<2x4xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %want5 = stablehlo.concatenate %bottom, %top, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    stablehlo.custom_call @check.expect_eq(%5, %want5) {has_side_effect = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
    return %1#1 : tensor<4x4xf32>
  }
}
