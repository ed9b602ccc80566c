// Slices with a mesh each, on two islands, compute what the module without marks
// computes on one mesh.
// RUN: sed -e "s/ {mhlo.frontend_attributes = [^}]*}}//" %s > %t.plain.mlir
// RUN: pw-run %t.plain.mlir --topology=1x1x2 --input=x=random:1 --input=w=random:2 --input=v=random:3 --output=result0=@%t.npy
// RUN: pw-run %s --topology=2x1x2 --input=x=random:1 --input=w=random:2 --input=v=random:3 --expected=result0=@%t.npy --rtol=0 --atol=1e-5 | FileCheck %s
// RUN: pw-run %s --topology=2x1x2 --mesh=s0:x=1 --input=x=random:1 --input=w=random:2 --input=v=random:3 --expected=result0=@%t.npy --rtol=0 --atol=1e-5 | FileCheck %s
// CHECK: [SUCCESS] 1 step

// RUN: pw-run %s --topology=2x1x4 --compile-only --explain-placement --slices=s0:0,s1:1 | FileCheck %s --check-prefix=APART
// APART: s0 {{.*}}island0
// APART: s1 {{.*}}island1
// RUN: pw-run %s --topology=2x1x4 --compile-only --explain-placement --slices=s0:0,s1:0 | FileCheck %s --check-prefix=TOGETHER
// TOGETHER: s0 {{.*}}island0
// TOGETHER: s1 {{.*}}island0
// RUN: not pw-run %s --topology=2x1x4 --slices=s0,t1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: stages-mesh.mlir:[[#]]:[[#]]: error: slice 's1' is not declared; the nearest is 's0' [PW1321]
// RUN: not pw-run %s --topology=2x1x4 --assign=f=s0 2>&1 | FileCheck %s --check-prefix=ASSIGN
// ASSIGN: error: the option 'assign' names 'f', but no function that is called, named computation or named tensor has this name [PW1321]
// RUN: pw-run %s --topology=2x1x2 --compile-only --emit-plan=%t.plan
// RUN: not pw-run %t.plan --assign=f=s0 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: error: --assign: {{.*}}.plan is a plan; the flag is for StableHLO

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"), %arg1: tensor<4x4xf32> loc("w"), %arg2: tensor<4x4xf32> loc("v")) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {mhlo.frontend_attributes = {pw_slice = "s0"}} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x4xf32>
  %2 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0] {mhlo.frontend_attributes = {pw_slice = "s1"}} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
