// A loop over two slices whose body communicates in manual computations becomes
// a pw.for, too. It computes what the loop without marks computes on one mesh.
// RUN: pw-opt %s --pw-import-stablehlo | FileCheck %s --check-prefix=FOR
// FOR: pw.for 3 (
// FOR-NOT: pw.for
// RUN: sed -e "s/ {mhlo.frontend_attributes = [^}]*}}//" %s > %t.plain.mlir
// RUN: pw-run %t.plain.mlir --topology=1x1x2 --input=x=random:1 --input=w=random:2 --output=result0=@%t.npy
// RUN: pw-run %s --topology=2x1x2 --input=x=random:1 --input=w=random:2 --expected=result0=@%t.npy --rtol=0 --atol=1e-5 | FileCheck %s
// CHECK: [SUCCESS] 1 step

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"), %arg1: tensor<4x4xf32> loc("w")) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %h = %arg0) : tensor<i32>, tensor<8x4xf32> cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dot_general %h, %arg1, contracting_dims = [1] x [0] {mhlo.frontend_attributes = {pw_slice = "s0"}} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x4xf32>) {
      %sum = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %s = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %4 = stablehlo.tanh %sum {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4x4xf32>
      sdy.return %4 : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %2 : tensor<i32>, tensor<8x4xf32>
  }
  return %0#1 : tensor<8x4xf32>
}
