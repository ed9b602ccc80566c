// Rows are written by number into a table that is cut by columns, in equal blocks and
// others; into one that is cut by rows by whoever has all of it.

// DEFINE: %{in} = --input=s="[[1,2,3,4,5],[6,7,8,9,10],[11,12,13,14,15]]" --input=t=zeros
// DEFINE: %{out} = --output=result0=- --output=result1=-
// RUN: pw-run %s --topology=1x1x8 %{in} --input=i="[[8],[0],[3]]" %{out} | FileCheck %s
// RUN: pw-run %s --topology=1x1x8 --mesh=s:x=1 %{in} --input=i="[[8],[0],[3]]" %{out} | FileCheck %s
// RUN: pw-run %s --topology=1x2x4 --mesh=s:x=3 %{in} --input=i="[[8],[0],[3]]" %{out} | FileCheck %s
// RUN: pw-run %s --topology=1x2x4 --mesh=s:x=7,y=1 %{in} --input=i="[[8],[0],[3]]" %{out} | FileCheck %s
// RUN: pw-run %s --topology=1x1x8 --mesh=s:x=2,y=4 --world=sim %{in} --input=i="[[8],[0],[3]]" %{out} | FileCheck %s
// CHECK: result0: 9x5xi32 =
// CHECK-SAME: {{\[\[}}6, 7, 8, 9, 10], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [11, 12, 13, 14, 15],
// CHECK-SAME: [0, 0, 0, 0, 0], [1, 2, 3, 4, 5]]
// CHECK: result1: 9x5xi32 =
// CHECK-SAME: {{\[\[}}6, 7, 8, 9, 10], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [11, 12, 13, 14, 15],
// CHECK-SAME: [0, 0, 0, 0, 0], [1, 2, 3, 4, 5]]

// RUN: not pw-run %s --topology=1x1x8 %{in} --input=i="[[9],[0],[3]]" %{out} 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: scatter.mlir:[[#@LINE+5]]:{{.*}} failed at step 0 {{.*}}: slice out of bounds

pw.slice @s mesh <"x" = 2, "y" = 1>
!i = !pw.array<3x1xi32, @s>
func.func private @write(%s: tensor<3x5xi32>, %t: tensor<9x5xi32>, %i: tensor<3x1xi32>) -> tensor<9x5xi32> {
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique
      : (tensor<3x5xi32>, tensor<9x5xi32>, tensor<3x1xi32>) -> tensor<9x5xi32>
  return %0 : tensor<9x5xi32>
}
pw.program @p(%s: !pw.array<3x5xi32, @s>, %t: !pw.array<9x5xi32, @s>, %i: !i)
    -> (!pw.array<9x5xi32, @s, [{"y"}, {"x"}]>, !pw.array<9x5xi32, @s, [{"x"}, {}]>) {
  %0 = pw.call @write(%s, %t, %i) : (!pw.array<3x5xi32, @s>, !pw.array<9x5xi32, @s>, !i)
      -> !pw.array<9x5xi32, @s, [{"y"}, {"x"}]>
  %1 = pw.call @write(%s, %t, %i) : (!pw.array<3x5xi32, @s>, !pw.array<9x5xi32, @s>, !i)
      -> !pw.array<9x5xi32, @s, [{"x"}, {}]>
  pw.return %0, %1 : !pw.array<9x5xi32, @s, [{"y"}, {"x"}]>, !pw.array<9x5xi32, @s, [{"x"}, {}]>
}
