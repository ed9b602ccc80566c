// What may be compiled passes, unchanged.
// RUN: pw-opt %s -pw-check-program | FileCheck %s

pw.slice @one mesh <"x" = 1>
pw.slice @two mesh <"x" = 2>
// CHECK: func.func private @helper
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @global(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = arith.constant true
  cf.assert %t, "never"
  %0 = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @helper(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @local(%x: tensor<2xf32>) -> tensor<2xf32> attributes {pw.local_view} {
  %0 = pw.all_reduce %x add over ["x"] : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// What no program reaches may be anything.
func.func private @elsewhere(memref<?xf32>)
// CHECK: pw.program @p
pw.program @p(%x: !pw.array<4xf32, @one, [{"x"}]>, %y: !pw.array<4xf32, @two, [{"x"}]>)
    -> (!pw.array<4xf32, @one, [{"x"}]>, !pw.array<4xf32, @two, [{"x"}]>) {
  // A slice of one device is its own partition.
  %0 = pw.call @global(%x) donate(%x) : (!pw.array<4xf32, @one, [{"x"}]>) -> !pw.array<4xf32, @one, [{"x"}]>
  %1 = pw.call @local(%y) : (!pw.array<4xf32, @two, [{"x"}]>) -> !pw.array<4xf32, @two, [{"x"}]>
  pw.return %0, %1 : !pw.array<4xf32, @one, [{"x"}]>, !pw.array<4xf32, @two, [{"x"}]>
}
