// Functions that read the number of the iteration take it as an argument, so that their
// loop stays one. The values are those of the loop written out.
// RUN: pw-opt %s --pw-compile='topology=1x1x3' -o %t.kept.mlir
// RUN: pw-opt %s --pw-compile='topology=1x1x3 keep-loops=false' -o %t.out.mlir
// RUN: FileCheck %s --input-file=%t.kept.mlir
// RUN: pw-run %t.out.mlir --topology=1x1x3 --output=@%t.out.npz --input=z=random:2 --steps=3
// RUN: pw-run %t.kept.mlir --topology=1x1x3 --output=@%t.kept.npz --input=z=random:2 --steps=3
// RUN: cmp %t.out.npz %t.kept.npz
// RUN: rm %t.kept.npz
// RUN: pw-run %t.kept.mlir --topology=1x1x3 --world=sim --seed=3 --output=@%t.kept.npz --input=z=random:2 --steps=3
// RUN: cmp %t.out.npz %t.kept.npz

// CHECK: plan.segment @f_sharded_numbered.run (tensor<32xi32>, tensor<3xf32>, out tensor<3xf32>)
// CHECK: plan.loop @loop trips 5
pw.slice @s mesh <"d" = 2>
pw.slice @t mesh <>
!n = !pw.array<6xf32, @s, [{"d"}]>
!ns = !pw.array<5x6xf32, @s, [{}, {"d"}]>
!w = !pw.array<6xf32, @t, [{}]>
!ws = !pw.array<5x6xf32, @t, [{}, {}]>
pw.program @main(%z: !n {pw.name = "z"}) -> (!n {pw.name = "sum"}, !ws {pw.name = "losses"}) {
  %sum, %losses = pw.for 5 (%a = %z carried : !n) -> (!n carried, !ws stepped reversed) {
    %b = pw.call @f(%a) : (!n) -> !n
    %w = pw.reshard %b : !n -> !w
    %k = pw.call @g(%w) : (!w) -> !w
    pw.yield %b, %k : !n, !w
  }
  pw.return %sum, %losses : !n, !ws
}
func.func private @inner(%a: tensor<6xf32>) -> tensor<6xf32> {
  %n = pw.iteration_index : index
  %i = arith.index_cast %n : index to i32
  %f = arith.sitofp %i : i32 to f32
  %s = tensor.splat %f : tensor<6xf32>
  %c = arith.addf %a, %s : tensor<6xf32>
  return %c : tensor<6xf32>
}
func.func private @f(%a: tensor<6xf32>) -> tensor<6xf32> {
  %c = func.call @inner(%a) : (tensor<6xf32>) -> tensor<6xf32>
  %d = arith.mulf %c, %c : tensor<6xf32>
  return %d : tensor<6xf32>
}
func.func private @g(%a: tensor<6xf32>) -> tensor<6xf32> {
  %n = pw.iteration_index : index
  %e = tensor.extract %a[%n] : tensor<6xf32>
  %s = tensor.splat %e : tensor<6xf32>
  %c = arith.addf %a, %s : tensor<6xf32>
  return %c : tensor<6xf32>
}
