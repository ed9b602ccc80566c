// RUN: pw-opt %s --pw-import-program | FileCheck %s

// The mesh of the module is that of each slice. A constraint with a mark is on
// that slice, a constraint without one is at each user.
// CHECK-LABEL: module @mesh
// CHECK: pw.slice @s0 mesh <"x" = 2>
// CHECK: pw.slice @s1 mesh <"x" = 2>
// CHECK: pw.program @main(%x: !pw.array<8x4xf32, @s0, [{"x"}, {}]>) -> (!pw.array<8x4xf32, @s1> {pw.name = "result0"})
// CHECK: func.func private @main.s0(
// CHECK-NEXT: stablehlo.sine
// CHECK-NEXT: pw.constrain %{{.*}} [{}, {"x"}]
// CHECK: func.func private @main.s1(
// CHECK-NEXT: pw.constrain %{{.*}} [{"x"}, {}]
// CHECK-NEXT: stablehlo.cosine
module @mesh {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x")) -> tensor<8x4xf32> {
    %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<8x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> {mhlo.frontend_attributes = {pw_slice = "s0"}} : tensor<8x4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
    %3 = stablehlo.cosine %2 {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
}
