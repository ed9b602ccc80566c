// Loops that stay loops in the plan: parts of whole arrays without copies, a carried
// sum in one place, an array that is received, and one that is read behind the loop.
// The values are those of the same loop written out.
// DEFINE: %{values} = --input=xs=random:1 --input=z=random:2
// RUN: pw-opt %s --pw-compile='topology=1x1x4' -o %t.kept.mlir
// RUN: pw-opt %s --pw-compile='topology=1x1x4 keep-loops=false' -o %t.out.mlir
// RUN: FileCheck %s --input-file=%t.kept.mlir
// RUN: pw-run %t.out.mlir --topology=1x1x4 --output=@%t.out.npz %{values} --steps=2
// RUN: pw-run %t.kept.mlir --topology=1x1x4 --output=@%t.kept.npz %{values} --steps=2
// RUN: cmp %t.out.npz %t.kept.npz
// RUN: rm %t.kept.npz
// RUN: pw-run %t.kept.mlir --topology=1x1x4 --world=sim --seed=3 --output=@%t.kept.npz %{values} --steps=2
// RUN: cmp %t.out.npz %t.kept.npz
// RUN: rm %t.kept.npz
// RUN: pw-run %t.kept.mlir --topology=1x4x1 --processes --output=@%t.kept.npz %{values} --steps=2
// RUN: cmp %t.out.npz %t.kept.npz

// CHECK: plan.buffer @xs.1 {{.*}} in @loop slots 4 by 4096
// CHECK: plan.buffer @z.1 {{.*}} in @loop initial @z next @t.1F.out0
// CHECK: plan.buffer @t.1F.out0 {{.*}} in @loop slots 1
// CHECK: plan.buffer @t.1F.out1 {{.*}} in @loop slots 4 by -4096
// CHECK: plan.buffer @xs.2 on @s layout 0 at 0
// CHECK: plan.gang @xs.split on @s reads [@xs] writes [@xs.1]
// CHECK: plan.send {{.*}} in @loop
// CHECK: plan.gang @t.1F on @t {{.*}} in @loop
// CHECK: plan.alias @z.1 -> @t.1F.out0
// CHECK: plan.gang @xs.join on @s reads [@xs.1] writes [@xs.2]
// CHECK: plan.gang @t.1F.out1.stack
// CHECK: plan.loop @loop trips 4
// CHECK: plan.order in @loop on @s [@s.0F] iterations [0] times 4 step 1
// CHECK: plan.order in @loop on @t [@t.1F] iterations [0] times 4 step 1
pw.slice @s mesh <"d" = 2>
pw.slice @t mesh <"d" = 2>
!x = !pw.array<64x32xf32, @s, [{"d"}, {}]>
!xs = !pw.array<4x64x32xf32, @s, [{}, {"d"}, {}]>
!y = !pw.array<64x32xf32, @t, [{"d"}, {}]>
!ys = !pw.array<4x64x32xf32, @t, [{}, {"d"}, {}]>
func.func private @f(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = arith.addf %x, %x : tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
func.func private @add(%a: tensor<64x32xf32>, %x: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = arith.addf %a, %x : tensor<64x32xf32>
  %1 = arith.negf %0 : tensor<64x32xf32>
  return %0, %1 : tensor<64x32xf32>, tensor<64x32xf32>
}
pw.program @p(%xs: !xs, %z: !y) -> (!y {pw.name = "sum"}, !ys {pw.name = "ys"}, !xs {pw.name = "last"}) {
  %sum, %ys = pw.for 4 (%x = %xs stepped : !xs -> !x, %a = %z carried : !y) -> (!y carried, !ys stepped reversed) {
    %h = pw.call @f(%x) label "0F" : (!x) -> !x
    %t = pw.reshard %h : !x -> !y
    %b, %n = pw.call @add(%a, %t) label "1F" : (!y, !y) -> (!y, !y)
    pw.yield %b, %n : !y, !y
  }
  pw.return %sum, %ys, %xs : !y, !ys, !xs
}
