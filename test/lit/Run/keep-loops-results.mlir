// Results of loops that stay loops in the plan: an array that is stacked and carried, and
// calls of an inner loop without uses. The values are those of the same loop written out.
// DEFINE: %{values} = --input=xs=random:1 --input=z=random:2
// RUN: pw-opt %s --pw-compile='topology=1x1x2' -o %t.kept.mlir
// RUN: pw-opt %s --pw-compile='topology=1x1x2 keep-loops=false' -o %t.out.mlir
// RUN: FileCheck %s --input-file=%t.kept.mlir
// RUN: pw-run %t.out.mlir --topology=1x1x2 --output=@%t.out.npz %{values} --steps=2
// RUN: pw-run %t.kept.mlir --topology=1x1x2 --output=@%t.kept.npz %{values} --steps=2
// RUN: cmp %t.out.npz %t.kept.npz

pw.slice @s mesh <>
!x = !pw.array<64xf32, @s, [{}]>
!xs = !pw.array<4x64xf32, @s, [{}, {}]>
!xs2 = !pw.array<2x64xf32, @s, [{}, {}]>
func.func private @f(%x: tensor<64xf32>, %a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %x, %x : tensor<64xf32>
  %1 = arith.subf %0, %a : tensor<64xf32>
  return %1 : tensor<64xf32>
}

// The memory of the states becomes that of the whole array, and the last one is copied.
// The inner loop of the second loop stacks what no call reads.
// CHECK: plan.gang @f.stack {{.*}} writes [@[[ALL:.*]]]
// CHECK: plan.gang @[[LAST:pw_take_0[^ ]*]] {{.*}} reads [@[[ALL]]] writes [@[[LAST]]]
// CHECK-NOT: pw_stack
// CHECK: plan.order in @loop on @s [@f] iterations [0] times 4 step 1
// CHECK: plan.order in @loop.1 on @s [@f.2, @f.3] iterations [0, 0] times 4 step 1
pw.program @p(%xs: !xs, %z: !x) -> (!x {pw.name = "last"}, !xs {pw.name = "all"}, !x {pw.name = "sum"}) {
  %last, %all = pw.for 4 (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!x carried, !xs stepped reversed) {
    %b = pw.call @f(%x, %a) : (!x, !x) -> !x
    pw.yield %b, %b : !x, !x
  }
  %next = pw.call @f(%last, %z) : (!x, !x) -> !x
  %sum = pw.for 4 (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!x carried) {
    %b, %unused = pw.for 2 (%c = %a carried : !x) -> (!x carried, !xs2 stepped) {
      %d = pw.call @f(%x, %c) : (!x, !x) -> !x
      pw.yield %d, %c : !x, !x
    }
    pw.yield %b : !x
  }
  pw.return %next, %all, %sum : !x, !xs, !x
}
