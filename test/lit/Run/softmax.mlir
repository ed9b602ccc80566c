// Rows of a softmax are cut like what it takes, into blocks that need not be equal,
// and nothing moves; the values are those of one device.

// RUN: pw-run %s --topology=1x1x1 --input=x=ramp --output=y=@%t.npy
// RUN: pw-run %s --topology=1x1x4 --mesh=s:d=2,m=2 --input=x=ramp --expected=y=@%t.npy
// RUN: pw-run %s --topology=1x1x6 --mesh=s:d=3,m=2 --input=x=ramp --expected=y=@%t.npy
// RUN: pw-run %s --topology=1x1x4 --mesh=s:d=2,m=2 --dry-run | FileCheck %s
// CHECK: links {{.*}}bytes per step
// CHECK-NEXT: ici island0 {{ *}}0 {{ *}}1

pw.slice @s mesh <"d" = 1, "m" = 1>
func.func private @rows(%x: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %e = tensor.empty() : tensor<4x8x16xf32>
  %r = linalg.softmax dimension(2) ins(%x : tensor<4x8x16xf32>) outs(%e : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return %r : tensor<4x8x16xf32>
}
!x = !pw.array<4x8x16xf32, @s, [{"m"}, {"d"}, {}]>
pw.program @p(%x: !x) -> (!x {pw.name = "y"}) {
  %0 = pw.call @rows(%x) : (!x) -> !x
  pw.return %0 : !x
}
