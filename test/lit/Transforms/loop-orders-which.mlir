// The option sets the schedule of the only loop that has labels. A loop with a label is one
// call of the loop around it.

// RUN: rm -rf %t && split-file %s %t
// RUN: not pw-opt %t/two.mlir -pw-unroll-loops=schedule=gpipe 2>&1 | FileCheck %t/two.mlir
// RUN: not pw-opt %t/none.mlir -pw-unroll-loops=schedule=gpipe 2>&1 | FileCheck %t/none.mlir
// RUN: not pw-opt %t/while.mlir -pw-unroll-loops=schedule=gpipe 2>&1 | FileCheck %t/while.mlir
// RUN: pw-opt %t/nested.mlir -pw-unroll-loops="schedule=gpipe emit-order=%t/order" | FileCheck %t/nested.mlir
// RUN: FileCheck %t/nested.mlir --check-prefix=ORDER --input-file=%t/order
// RUN: not pw-opt %t/nested.mlir -pw-unroll-loops="schedule=gpipe emit-order=%t/no/order" -o %t/out.mlir 2>&1 | FileCheck %t/nested.mlir --check-prefix=FILE

//--- two.mlir
// CHECK: two.mlir:[[#@LINE+10]]:{{.*}} error: 'pw.for' op has labels, too, so schedule 'gpipe' may mean either loop; write it at one
// CHECK: two.mlir:[[#@LINE+5]]:{{.*}} note: the other loop is here
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
pw.program @p(%x: !x) -> !x {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @f(%a) label "0F" : (!x) -> !x
    pw.yield %1 : !x
  }
  %2 = pw.for 2 (%a = %0 carried : !x) -> (!x carried) {
    %3 = pw.call @f(%a) label "0F" : (!x) -> !x
    pw.yield %3 : !x
  }
  pw.return %2 : !x
}

//--- none.mlir
// CHECK: error: 'pw.program' op 'p' has no loop with labels to which schedule 'gpipe' could apply
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
pw.program @p(%x: !x) -> !x {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @f(%a) : (!x) -> !x
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}

//--- while.mlir
// CHECK: error: 'pw.for' op has 'while', so its iterations cannot have schedule 'gpipe'
pw.slice @s mesh <"d" = 1>
!x = !pw.array<i1, @s>
func.func private @f(%x: tensor<i1>) -> tensor<i1> { return %x : tensor<i1> }
pw.program @p(%x: !x) -> !x {
  %0 = pw.for 2 while (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.if %a : !x -> (!x) {
      %2 = pw.call @f(%a) label "0F" : (!x) -> !x
      pw.yield %2 : !x
    } else {
      pw.yield %a : !x
    }
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}

//--- nested.mlir
// ORDER: 0F0,0F1,0B0,0B1
// FILE: error: the order cannot be written to '{{.*}}/no/order': No such file or directory
// CHECK-LABEL: pw.program
// CHECK-COUNT-6: pw.call @f
// CHECK-COUNT-2: pw.call @g
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func private @g(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @p(%xs: !pw.array<2x4xf32, @s, [{}, {}]>, %z: !x) -> !x {
  %0 = pw.for 2 (%x = %xs stepped : !pw.array<2x4xf32, @s, [{}, {}]> -> !x, %sum = %z carried : !x) -> (!x carried) {
    %1 = pw.for 3 label "0F" (%a = %x carried : !x) -> (!x carried) {
      %2 = pw.call @f(%a) : (!x) -> !x
      pw.yield %2 : !x
    }
    %3 = pw.call @g(%1, %sum) label "0B" : (!x, !x) -> !x
    pw.yield %3 : !x
  }
  pw.return %0 : !x
}
