// From bodies to object code: segments between collectives, their checks and
// scratch, one object for each target.
// RUN: pw-opt %s --pw-compile="topology=1x1x2" | FileCheck %s
// RUN: pw-opt %s --pw-compile="topology=1x1x2" -o %t.1
// RUN: pw-opt %s --pw-compile="topology=1x1x2" -o %t.2
// RUN: cmp %t.1 %t.2
// RUN: pw-opt %t.1 -o %t.3
// RUN: cmp %t.1 %t.3

pw.slice @s mesh <"x" = 2>

func.func private @mean(%v: tensor<4xi32>, %n: tensor<4xi32>) -> tensor<4xi32>
    attributes {pw.local_view} {
  %sum = pw.all_reduce %v add over ["x"] : tensor<4xi32>
  %0 = arith.divsi %sum, %n : tensor<4xi32>
  %c0 = arith.constant 0 : index
  %first = tensor.extract %0[%c0] : tensor<4xi32>
  %zero = arith.constant 0 : i32
  %ok = arith.cmpi sge, %first, %zero : i32
  cf.assert %ok, "mean of nothing"
  return %0 : tensor<4xi32>
}

// CHECK: plan.kernel @mean
// CHECK-SAME: hash "{{[0-9a-f]+}}"
// CHECK: plan.segment @mean.run (tensor<4xi32>, tensor<4xi32>, out tensor<4xi32>)
// CHECK-SAME: compile-kernels.mlir:15:8", "integer division by zero"]
// CHECK-SAME: compile-kernels.mlir:15:8", "integer division overflows"]
// CHECK-SAME: compile-kernels.mlir:20:3", "mean of nothing"]
// CHECK-NOT: func.func
// CHECK: plan.object target "{{.+}}" {{.*}}code dense_resource<mean.0>
// CHECK: plan.gang @mean on @s kernel @mean reads [@v, @n]
// CHECK: plan.collective all_reduce @v -> @[[SUM:.+]] over ["x"] reduce add
// CHECK-NEXT: plan.run @mean.run [@[[SUM]], @n, @mean]
pw.program @main(%v: !pw.array<8xi32, @s, [{"x"}]>, %n: !pw.array<8xi32, @s, [{"x"}]>)
    -> (!pw.array<8xi32, @s, [{"x"}]>) {
  %0 = pw.call @mean(%v, %n) : (!pw.array<8xi32, @s, [{"x"}]>, !pw.array<8xi32, @s, [{"x"}]>)
      -> !pw.array<8xi32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xi32, @s, [{"x"}]>
}
