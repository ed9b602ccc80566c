// A schedule, or a file of orders, gives each slice the order of its calls. What does not
// fit the loop, or could not run, is refused.

// RUN: rm -rf %t && mkdir %t
// DEFINE: %{exits} = %python %S/../Run/Inputs/exits.py
// DEFINE: %{order} = pw-opt %s -pw-unroll-loops=schedule=

// RUN: pw-opt %s -pw-unroll-loops="schedule=gpipe emit-order=%t/gpipe" -o %t/gpipe.mlir
// RUN: FileCheck %s --check-prefix=GPIPE --match-full-lines --input-file=%t/gpipe
// GPIPE: 0F0,0F1,0F2,0F3,0B0,0B1,0B2,0B3
// GPIPE-NEXT: 1F0,1F1,1F2,1F3,1B0,1B1,1B2,1B3

// RUN: pw-opt %s -pw-unroll-loops="schedule=1f1b emit-order=%t/1f1b" -o %t/1f1b.mlir
// RUN: FileCheck %s --check-prefix=ONE --match-full-lines --input-file=%t/1f1b
// ONE: 0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3
// ONE-NEXT: 1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3

// The text has the calls of a slice in this order. The call without a label goes with the
// forward call that it reads.
// RUN: grep "pw.call" %t/1f1b.mlir | FileCheck %s --check-prefix=TEXT
// TEXT: pw.call @pw_split_4_4
// TEXT-NEXT: label "0F"
// TEXT-NEXT: label "1F"
// TEXT-NEXT: pw.call @f({{.*}}) : (!pw.array<4xf32, @s1
// TEXT-NEXT: label "1B"
// TEXT-NEXT: label "0F"
// TEXT-NEXT: label "0B"

// A file that was written gives the same program; blanks, quotes and line ends do not
// matter.
// RUN: pw-opt %s -pw-unroll-loops=schedule=@%t/1f1b | diff - %t/1f1b.mlir
// RUN: sed 's/,/ , ,/g; s/0F0/"0F0"/; s/$/\r/' %t/1f1b > %t/blanks
// RUN: pw-opt %s -pw-unroll-loops=schedule=@%t/blanks | diff - %t/1f1b.mlir
// RUN: printf '\357\273\277' > %t/mark && cat %t/1f1b >> %t/mark
// RUN: pw-opt %s -pw-unroll-loops=schedule=@%t/mark | diff - %t/1f1b.mlir

// RUN: not %{order}fastest 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: there is no schedule 'fastest', expected gpipe, 1f1b, eager-1f1b, zb-h1, zb-h2, interleaved, zbv, dualpipe-v
// RUN: not %{order}zb-h1 2>&1 | FileCheck %s --check-prefix=HALVES
// HALVES: error: 'pw.for' op has no call with label '0I', which schedule 'zb-h1' needs
// RUN: not %{order}zbv 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: schedule 'zbv' is for 4 stages on 2 slices, got 2
// RUN: not %{order}@%t/none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'pw.for' op has order file '{{.*}}/none', which cannot be read: No such file or directory
// RUN: echo > %t/empty && not %{order}@%t/empty 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: has order file '{{.*}}/empty', which has 0 rows, but 2 slices have labels
// RUN: head -c 100 /dev/zero > %t/zeros && not %{order}@%t/zeros 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: which is not text: byte 0 is 0
// RUN: cp %t/1f1b %t/bytes && printf 'a\377' >> %t/bytes && not %{order}@%t/bytes 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: which is not text: byte 65 is 255
// RUN: cp %t/1f1b %t/bytes && printf 'a\033' >> %t/bytes && not %{order}@%t/bytes 2>&1 | FileCheck %s --check-prefix=CONTROL
// CONTROL: which is not text: byte 65 is 27
// RUN: head -c 100000 /dev/zero | tr '\0' 'a' > %t/long && not %{order}@%t/long 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: has cell '{{a{40}\.\.\.}}', expected a label and an iteration, such as 2F0
// RUN: head -c 100000000 /dev/zero > %t/large && not %{order}@%t/large 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: which has 100000000 bytes, expected at most 67108864
// RUN: sed 's/0F1/2F1/' %t/1f1b > %t/label && not %{order}@%t/label 2>&1 | FileCheck %s --check-prefix=LABEL
// LABEL: in row 1, column 2, has cell '2F1', but no call has label '2F'
// RUN: sed 's/0F1/0F1,0SEND_F1/' %t/1f1b > %t/send && not %{order}@%t/send 2>&1 | FileCheck %s --check-prefix=SEND
// SEND: has cell '0SEND_F1', but no call has label '0SEND_F'; the compiler inserts sends and receives, so leave them out
// RUN: sed 's/0F1/0F1,0SEND_F/' %t/1f1b > %t/send && not %{order}@%t/send 2>&1 | FileCheck %s --check-prefix=SENDS
// SENDS: has cell '0SEND_F', expected a label and an iteration, such as 2F0; the compiler inserts sends and receives, so leave them out
// RUN: sed 's/0F1/0F/' %t/1f1b > %t/number && not %{order}@%t/number 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: has cell '0F', expected a label and an iteration, such as 2F0
// RUN: sed 's/0F1/0F9223372036854775808/' %t/1f1b > %t/high && not %{order}@%t/high 2>&1 | FileCheck %s --check-prefix=HIGH
// HIGH: has cell '0F9223372036854775808', whose iteration is above 2^63
// RUN: sed 's/0F1/0F4/' %t/1f1b > %t/range && not %{order}@%t/range 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: has cell '0F4', but the loop runs 4 times
// RUN: sed 's/0F1/0F0/' %t/1f1b > %t/twice && not %{order}@%t/twice 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: has cell '0F0' twice
// RUN: sed 's/0F1,//' %t/1f1b > %t/missing && not %{order}@%t/missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: lacks cell '0F1' of slice @s0
// RUN: sed '1s/0F1/1F1/' %t/1f1b > %t/slice && not %{order}@%t/slice 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: has cell '1F1' on slice @s0, but its calls are on @s1
// RUN: sed 's/0F1,0B0/0B0,0F1/; s/1F0,1B0,1F1/1F0,1F1,1B0/' %t/1f1b > %t/stuck && not %{order}@%t/stuck 2>&1 | FileCheck %s --check-prefix=STUCK
// STUCK: has an order that cannot run: deadlock: 0B0 -> 0F1 -> 1F1 -> 1B0 -> 0B0
// STUCK: note: cell '0B0' is here
// STUCK: note: cell '0F1' is here
// RUN: not pw-opt %s -pw-unroll-loops=emit-order=%t/order 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: no loop has a schedule, so there is no order to write to '{{.*}}/order'

pw.slice @s0 mesh <"d" = 1>
pw.slice @s1 mesh <"d" = 1>
!x0 = !pw.array<4xf32, @s0, [{}]>
!xs0 = !pw.array<4x4xf32, @s0, [{}, {}]>
!x1 = !pw.array<4xf32, @s1, [{}]>
!xs1 = !pw.array<4x4xf32, @s1, [{}, {}]>
func.func private @f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @i(%g: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %g, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @w(%g: tensor<4xf32>, %x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %g, %x : tensor<4xf32>
  %1 = arith.addf %a, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @b(%g: tensor<4xf32>, %x: tensor<4xf32>, %w: tensor<4xf32>, %a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.mulf %g, %w : tensor<4xf32>
  %1 = arith.mulf %g, %x : tensor<4xf32>
  %2 = arith.addf %a, %1 : tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}
pw.program @main(%xs: !xs0, %w0: !x0, %w1: !x1, %z0: !x0, %z1: !x1) -> (!x0 {pw.name = "g0"}, !x1 {pw.name = "g1"}) {
  %g0, %g1 = pw.for 4 (%x0 = %xs stepped : !xs0 -> !x0, %a0 = %z0 carried : !x0, %a1 = %z1 carried : !x1) -> (!x0 carried, !x1 carried) {
    %y0 = pw.call @f(%x0, %w0) label "0F" : (!x0, !x0) -> !x0
    %x1 = pw.reshard %y0 : !x0 -> !x1
    %y1 = pw.call @f(%x1, %w1) label "1F" : (!x1, !x1) -> !x1
    %d1 = pw.call @f(%y1, %w1) : (!x1, !x1) -> !x1
    %e1, %n1 = pw.call @b(%d1, %x1, %w1, %a1) donate(%a1) label "1B" : (!x1, !x1, !x1, !x1) -> (!x1, !x1)
    %d0 = pw.reshard %e1 : !x1 -> !x0
    %e0, %n0 = pw.call @b(%d0, %x0, %w0, %a0) donate(%a0) label "0B" : (!x0, !x0, !x0, !x0) -> (!x0, !x0)
    pw.yield %n0, %n1 : !x0, !x1
  }
  pw.return %g0, %g1 : !x0, !x1
}
