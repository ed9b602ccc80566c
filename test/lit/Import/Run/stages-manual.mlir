// A manual computation is on the slice of its marks, with a mesh of its own.
// RUN: sed -e "s/ {mhlo.frontend_attributes = [^}]*}}//" %s > %t.plain.mlir
// RUN: pw-run %t.plain.mlir --topology=1x1x2 --input=x=random:1 --input=w=random:2 --input=v=random:3 --output=result0=@%t.npy
// RUN: pw-run %s --topology=2x1x2 --input=x=random:1 --input=w=random:2 --input=v=random:3 --expected=result0=@%t.npy --rtol=0 --atol=1e-5 | FileCheck %s
// CHECK: [SUCCESS] 1 step

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"), %arg1: tensor<4x4xf32> loc("w"), %arg2: tensor<4x4xf32> loc("v")) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {mhlo.frontend_attributes = {pw_slice = "s0"}} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x4xf32>
  %2 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0] {mhlo.frontend_attributes = {pw_slice = "s1"}} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x4xf32>) {
    %4 = stablehlo.tanh %a {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4x4xf32>
    sdy.return %4 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
