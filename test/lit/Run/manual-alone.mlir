// On one device, a region takes the place of the operation, and collectives of one
// shard are gone.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: r: 4xi32 = [0, 2, 4, 6]
// RUN: pw-opt %s -pw-partition | FileCheck %s --check-prefix=BODY
// BODY: func.func private @sum_alone_sharded
// BODY-NEXT: arith.addi %arg0, %arg0
// BODY-NEXT: return

pw.slice @one mesh <"x" = 1>
func.func private @sum_alone(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xi32>) {
    %1 = pw.all_reduce %a add over ["x"] : tensor<4xi32>
    %2 = pw.all_gather %a dim 0 over ["x"] : tensor<4xi32> -> tensor<4xi32>
    %3 = arith.addi %1, %2 : tensor<4xi32>
    pw.yield %3 : tensor<4xi32>
  } : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func private @four() -> tensor<4xi32> {
  %x = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  return %x : tensor<4xi32>
}
pw.program @alone() -> (!pw.array<4xi32, @one, [{}]> {pw.name = "r"}) {
  %0 = pw.call @four() : () -> !pw.array<4xi32, @one, [{}]>
  %1 = pw.call @sum_alone(%0) : (!pw.array<4xi32, @one, [{}]>) -> !pw.array<4xi32, @one, [{}]>
  pw.return %1 : !pw.array<4xi32, @one, [{}]>
}
