// Indices that are clamped need no checks. Those that are clamped on one side only are
// still checked.
// RUN: pw-run %s --topology=1x1x1 --input=t=10,11,12,13 --input=i=-5,9,2,0 --output=y=- | FileCheck %s
// CHECK: y: 4x6xf32 = {{\[\[}}10, 10, 13, 11, 10, 10], [13, 13, 13, 13, 13, 13], [12, 12, 12, 12, 12, 12], [10, 10, 10, 11, 10, 10]]
// RUN: sed -e "s/i0 = arith.maxsi %%least, %%zero/i0 = arith.addi %%least, %%zero/" %s > %t.mlir
// RUN: %python %S/Inputs/exits.py 5 pw-run %t.mlir --topology=1x1x1 --input=t=10,11,12,13 --input=i=-5,9,2,0 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: {{.*}}.tmp.mlir:{{.*}}index out of bounds

pw.slice @s mesh <"x" = 1>

func.func private @pick(%t: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %0 = tensor.generate {
  ^bb0(%row: index, %column: index):
    %k = tensor.extract %i[%row] : tensor<4xi32>
    // Clamped from above, then from below.
    %least = arith.minsi %k, %three : i32
    %i0 = arith.maxsi %least, %zero : i32
    // The other way round.
    %most = arith.maxsi %k, %zero : i32
    %i1 = arith.minsi %most, %three : i32
    // As an unsigned number.
    %i2 = arith.minui %k, %three : i32
    %low = arith.maxsi %least, %one : i32
    %p = arith.cmpi slt, %i1, %three : i32
    %i4 = arith.select %p, %i1, %i2 : i32
    %a0 = arith.index_cast %i0 : i32 to index
    %a1 = arith.index_cast %i1 : i32 to index
    %a2 = arith.index_castui %i2 : i32 to index
    %a3 = arith.index_cast %low : i32 to index
    %a4 = arith.index_cast %i4 : i32 to index
    %v0 = tensor.extract %t[%a0] : tensor<4xf32>
    %v1 = tensor.extract %t[%a1] : tensor<4xf32>
    %v2 = tensor.extract %t[%a2] : tensor<4xf32>
    %v3 = tensor.extract %t[%a3] : tensor<4xf32>
    %v4 = tensor.extract %t[%a4] : tensor<4xf32>
    %all = tensor.from_elements %v0, %v1, %v2, %v3, %v4, %v1 : tensor<6xf32>
    %v = tensor.extract %all[%column] : tensor<6xf32>
    tensor.yield %v : f32
  } : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

pw.program @main(%t: !pw.array<4xf32, @s> {pw.name = "t"}, %i: !pw.array<4xi32, @s> {pw.name = "i"}) -> (!pw.array<4x6xf32, @s> {pw.name = "y"}) {
  %0 = pw.call @pick(%t, %i) : (!pw.array<4xf32, @s>, !pw.array<4xi32, @s>) -> !pw.array<4x6xf32, @s>
  pw.return %0 : !pw.array<4x6xf32, @s>
}
