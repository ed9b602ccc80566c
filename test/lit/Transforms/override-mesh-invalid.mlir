// RUN: not pw-opt %s -pw-override-mesh="mesh=q:x=2" 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: mesh 'q:x=2' is for slice 'q', which is not declared
// RUN: not pw-opt %s -pw-override-mesh="mesh=s:z=2" 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: 's' has mesh #pw.mesh<"x" = 2>, which has no axis 'z' of 's:z=2'
// RUN: not pw-opt %s -pw-override-mesh="mesh=x=2" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not pw-opt %s -pw-override-mesh="mesh=s:x" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not pw-opt %s -pw-override-mesh="mesh=s:x=two" 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: expected mesh SLICE:AXIS=N,..., got '
// RUN: not pw-opt %s -pw-override-mesh="mesh=s:x=4,s:x=8" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not pw-opt %s -pw-override-mesh="mesh=s:x=4,x=8" 2>&1 | FileCheck %s --check-prefix=AXES
// AXES: error: axis 'x' of slice 's' is given twice, as 4 and as 8
// RUN: not pw-opt %s -pw-override-mesh="mesh=s:x=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: 'pw.slice' op expected mesh axis "x" to have a positive size, got 0
// RUN: not pw-opt %s -pw-override-mesh="mesh=s:x=16777217" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: mesh has more than 16777216 shards

// A body in local view is written for its sizes.
// RUN: not pw-opt %s -pw-override-mesh="mesh=s:x=4" 2>&1 | FileCheck %s --check-prefix=LOCAL
// LOCAL: override-mesh-invalid.mlir:[[@LINE+7]]:8: error: {{.*}}of 'f' has operand 0 of type '!pw.array<8xf32, @s, [{"x"}]>', whose shards are 'tensor<2xf32>', but the function has 'tensor<4xf32>'
// LOCAL: override-mesh-invalid.mlir:[[@LINE+2]]:1: note: function 'f' is defined here
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  return %x : tensor<4xf32>
}
pw.program @p(%x: !pw.array<8xf32, @s, [{"x"}]>) -> (!pw.array<8xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{"x"}]>) -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}
