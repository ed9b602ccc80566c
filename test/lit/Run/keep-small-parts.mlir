// Loops whose parts are not aligned stay loops: a call spreads them, and another one packs
// the results. Copies make what no operation of the loop makes, and give arrays that two
// operands begin from places of their own. The values are those of the loop written out.
// DEFINE: %{values} = --input=xs=random:1 --input=z=random:2
// RUN: pw-opt %s --pw-compile='topology=1x1x3' -o %t.kept.mlir
// RUN: pw-opt %s --pw-compile='topology=1x1x3 keep-loops=false' -o %t.out.mlir
// RUN: FileCheck %s --input-file=%t.kept.mlir
// RUN: pw-run %t.out.mlir --topology=1x1x3 --output=@%t.out.npz %{values} --steps=3
// RUN: pw-run %t.kept.mlir --topology=1x1x3 --output=@%t.kept.npz %{values} --steps=3
// RUN: cmp %t.out.npz %t.kept.npz
// RUN: rm %t.kept.npz
// RUN: pw-run %t.kept.mlir --topology=1x1x3 --world=sim --seed=3 --output=@%t.kept.npz %{values} --steps=3
// RUN: cmp %t.out.npz %t.kept.npz

// CHECK: plan.segment @pw_spread_7_3.run (tensor<7x3xf32>, out tensor<7x32xf32>)
// CHECK: plan.segment @pw_pack_7_64.run (tensor<7x64xf16>, out tensor<7x2x3xf16>)
// CHECK: plan.buffer {{.*}} in @loop slots 7 by 128
// CHECK: plan.buffer {{.*}} in @loop slots 7 by -128
// CHECK: plan.loop @loop trips 7
pw.slice @s mesh <"d" = 2>
pw.slice @t mesh <>
!n = !pw.array<5xf32, @s, [{"d"}]>
!ns = !pw.array<7x5xf32, @s, [{}, {"d"}]>
!w = !pw.array<5xf32, @t, [{}]>
!k = !pw.array<f32, @t, []>
!ks = !pw.array<7xf32, @t, [{}]>
!p = !pw.array<2x3xf16, @t, [{}, {}]>
!ps = !pw.array<7x2x3xf16, @t, [{}, {}, {}]>

pw.program @main(%xs: !ns {pw.name = "xs"}, %z: !n {pw.name = "z"})
    -> (!n {pw.name = "sum"}, !ks {pw.name = "losses"}, !n {pw.name = "last"},
        !ns {pw.name = "sums"}, !ns {pw.name = "again"}, !ps {pw.name = "pairs"}) {
  %sum, %losses, %last, %sums, %again, %pairs = pw.for 7
      (%x = %xs stepped : !ns -> !n, %y = %xs stepped reversed : !ns -> !n,
       %a = %z carried : !n, %l = %z carried : !n)
      -> (!n carried, !ks stepped, !n carried, !ns stepped reversed, !ns stepped,
          !ps stepped) {
    %b = pw.call @add(%a, %x) : (!n, !n) -> !n
    %c = pw.call @add(%b, %y) : (!n, !n) -> !n
    %w = pw.reshard %c : !n -> !w
    %k, %p = pw.call @loss(%w) : (!w) -> (!k, !p)
    pw.yield %c, %k, %a, %b, %b, %p : !n, !k, !n, !n, !n, !p
  }
  pw.return %sum, %losses, %last, %sums, %again, %pairs : !n, !ks, !n, !ns, !ns, !ps
}
func.func private @add(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  %c = arith.addf %a, %b : tensor<5xf32>
  return %c : tensor<5xf32>
}
func.func private @loss(%a: tensor<5xf32>) -> (tensor<f32>, tensor<2x3xf16>) {
  %z = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce ins(%a : tensor<5xf32>) outs(%z : tensor<f32>) dimensions = [0] (%in: f32, %o: f32) {
    %s = arith.addf %in, %o : f32
    linalg.yield %s : f32
  }
  %f = tensor.extract %r[] : tensor<f32>
  %h = arith.truncf %f : f32 to f16
  %p = tensor.splat %h : tensor<2x3xf16>
  return %r, %p : tensor<f32>, tensor<2x3xf16>
}
