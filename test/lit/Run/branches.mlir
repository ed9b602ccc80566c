// Branches give the bits of both sides computed and one chosen: on one slice and several,
// nested, in loops and around them, with arrays from above, padding, contributions, open
// dimensions and values that steps carry.

// RUN: pw-run %s --program=one --topology=1x1x4 --input=p=true --input=x=0,1,2,3 --expected=y=0,2,4,6 | FileCheck %s --check-prefix=ONE
// RUN: pw-run %s --program=one --topology=1x1x4 --input=p=false --input=x=0,1,2,3 --expected=y=0,1,4,9 | FileCheck %s --check-prefix=ONE
// ONE: [SUCCESS] 1 step, 1 result as expected

// RUN: pw-run %s --program=several --topology=1x1x4 --input=p=true --input=q=true --input=x=random:1 | FileCheck %s --check-prefix=SEVERAL
// RUN: pw-run %s --program=several --topology=1x1x4 --input=p=true --input=q=false --input=x=random:1 | FileCheck %s --check-prefix=SEVERAL
// RUN: pw-run %s --program=several --topology=2x1x4 --world=sim --input=p=false --input=q=true --input=x=random:1 --steps=3 | FileCheck %s --check-prefix=SEVERAL
// RUN: pw-run %s --program=several --topology=1x4x1 --processes --input=p=false --input=q=false --input=x=random:1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: [SUCCESS] {{.*}}, 4 checks

// RUN: pw-run %s --program=steps --topology=1x1x4 --input=a=1 --steps=11 --expected=b=40 | FileCheck %s --check-prefix=STEPS
// RUN: pw-run %s --program=steps --topology=1x1x4 --world=sim --input=a=1 --steps=11 --expected=b=40 --steps-in-flight=1 | FileCheck %s --check-prefix=STEPS
// STEPS: [SUCCESS] 11 steps, 1 result as expected

// RUN: pw-run %s --program=scheduled --topology=1x1x4 --input=p=true,false,false,true --input=x=random:1 --input=w=random:2 | FileCheck %s --check-prefix=SCHEDULED
// RUN: pw-run %s --program=scheduled --topology=2x1x4 --world=sim --input=p=false,true,true,true --input=x=random:1 --input=w=random:2 | FileCheck %s --check-prefix=SCHEDULED
// SCHEDULED: [SUCCESS] 1 step, 1 check

pw.slice @s mesh <"d" = 2>
pw.slice @t mesh <"d" = 1>
pw.slice @u mesh <"d" = 1>

//===----------------------------------------------------------------------===//
// One call in each branch
//===----------------------------------------------------------------------===//

!v = !pw.array<4xf32, @u, [{}]>
!flag = !pw.array<i1, @u, []>
func.func private @double4(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @square4(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
pw.program @one(%p: !flag, %x: !v) -> (!v {pw.name = "y"}) {
  %y = pw.if %p : !flag -> (!v) {
    %1 = pw.call @double4(%x) : (!v) -> !v
    pw.yield %1 : !v
  } else {
    %1 = pw.call @square4(%x) : (!v) -> !v
    pw.yield %1 : !v
  }
  pw.return %y : !v
}

//===----------------------------------------------------------------------===//
// Branches over two slices
//===----------------------------------------------------------------------===//

!cut = !pw.array<7xf32, @s, [{"d"}]>
!open = !pw.array<7xf32, @s>
!whole = !pw.array<7xf32, @t, [{}]>
!sum = !pw.array<7xf32, @s, [{}] partial add {"d"}>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>

func.func private @double(%x: tensor<7xf32>) -> tensor<7xf32> {
  %y = arith.addf %x, %x : tensor<7xf32>
  return %y : tensor<7xf32>
}
func.func private @square(%x: tensor<7xf32>) -> tensor<7xf32> {
  %y = arith.mulf %x, %x : tensor<7xf32>
  return %y : tensor<7xf32>
}
func.func private @both(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %y = arith.addf %x, %x : tensor<7xf32>
  %z = arith.mulf %y, %x : tensor<7xf32>
  return %y, %z : tensor<7xf32>, tensor<7xf32>
}
func.func private @choose(%p: tensor<i1>, %a: tensor<7xf32>, %b: tensor<7xf32>) -> tensor<7xf32> {
  %c = tensor.extract %p[] : tensor<i1>
  %y = arith.select %c, %a, %b : tensor<7xf32>
  return %y : tensor<7xf32>
}

// The first branch goes to the other slice and back, and has a branch on a condition there.
// The second one has a loop with a branch.
pw.program @several(%p: !p, %q: !q, %x: !cut)
    -> (!cut {pw.name = "y"}, !whole {pw.name = "z"}, !whole {pw.name = "sum"}, !cut {pw.name = "kept"},
        !cut {pw.name = "y_expected", pw.expect = #pw.expect<eq, result 0>},
        !whole {pw.name = "z_expected", pw.expect = #pw.expect<eq, result 1>},
        !whole {pw.name = "sum_expected", pw.expect = #pw.expect<eq, result 2>},
        !cut {pw.name = "kept_expected", pw.expect = #pw.expect<eq, result 3>}) {
  %w = pw.reshard %x : !cut -> !whole
  %y, %z, %s, %k = pw.if %p : !p -> (!open, !whole, !sum, !cut) {
    %d = pw.call @double(%x) : (!cut) -> !open
    %there = pw.reshard %d : !open -> !whole
    %e, %f = pw.if %q : !q -> (!whole, !whole) {
      %a, %b = pw.call @both(%there) : (!whole) -> (!whole, !whole)
      pw.yield %a, %b : !whole, !whole
    } else {
      %a = pw.call @square(%there) : (!whole) -> !whole
      pw.yield %a, %w : !whole, !whole
    }
    %back = pw.reshard %e : !whole -> !open
    %part = pw.reshard %f : !whole -> !sum
    pw.yield %back, %f, %part, %x : !open, !whole, !sum, !cut
  } else {
    %c, %r = pw.for 3 (%a = %x carried : !cut, %b = %w carried : !whole) -> (!cut carried, !whole carried) {
      %1 = pw.call @double(%a) donate(%a) : (!cut) -> !cut
      %2 = pw.if %q : !q -> (!whole) {
        %3 = pw.call @square(%b) : (!whole) -> !whole
        pw.yield %3 : !whole
      } else {
        pw.yield %b : !whole
      }
      pw.yield %1, %2 : !cut, !whole
    }
    %o = pw.reshard %c : !cut -> !open
    %part = pw.reshard %x : !cut -> !sum
    pw.yield %o, %r, %part, %x : !open, !whole, !sum, !cut
  }
  %yc = pw.reshard %y : !open -> !cut
  %sw = pw.reshard %s : !sum -> !whole

  // The same without branches.
  %pt = pw.reshard %p : !p -> !q
  %d1 = pw.call @double(%w) : (!whole) -> !whole
  %a1, %b1 = pw.call @both(%d1) : (!whole) -> (!whole, !whole)
  %a2 = pw.call @square(%d1) : (!whole) -> !whole
  %e1 = pw.call @choose(%q, %a1, %a2) : (!q, !whole, !whole) -> !whole
  %f1 = pw.call @choose(%q, %b1, %w) : (!q, !whole, !whole) -> !whole
  %d2 = pw.call @double(%d1) : (!whole) -> !whole
  %d3 = pw.call @double(%d2) : (!whole) -> !whole
  %r1 = pw.call @square(%w) : (!whole) -> !whole
  %r2 = pw.call @square(%r1) : (!whole) -> !whole
  %r3 = pw.call @square(%r2) : (!whole) -> !whole
  %r4 = pw.call @choose(%q, %r3, %w) : (!q, !whole, !whole) -> !whole
  %y1 = pw.call @choose(%pt, %e1, %d3) : (!q, !whole, !whole) -> !whole
  %z1 = pw.call @choose(%pt, %f1, %r4) : (!q, !whole, !whole) -> !whole
  %s1 = pw.call @choose(%pt, %f1, %w) : (!q, !whole, !whole) -> !whole
  %yx = pw.reshard %y1 : !whole -> !cut
  pw.return %yc, %z, %sw, %k, %yx, %z1, %s1, %x
      : !cut, !whole, !whole, !cut, !cut, !whole, !whole, !cut
}

//===----------------------------------------------------------------------===//
// Steps carry what a branch makes
//===----------------------------------------------------------------------===//

!n = !pw.array<i64, @u, []>
func.func private @is_odd(%a: tensor<i64>) -> tensor<i1> {
  %y = arith.trunci %a : tensor<i64> to tensor<i1>
  return %y : tensor<i1>
}
func.func private @half(%a: tensor<i64>) -> tensor<i64> {
  %c = arith.constant dense<2> : tensor<i64>
  %y = arith.divsi %a, %c : tensor<i64>
  return %y : tensor<i64>
}
func.func private @three(%a: tensor<i64>) -> tensor<i64> {
  %c3 = arith.constant dense<3> : tensor<i64>
  %c7 = arith.constant dense<7> : tensor<i64>
  %m = arith.muli %a, %c3 : tensor<i64>
  %y = arith.addi %m, %c7 : tensor<i64>
  return %y : tensor<i64>
}
// 1, 10, 5, 22, 11, 40, ...
pw.program @steps(%a: !n {pw.carried = 0 : i64}) -> (!n {pw.name = "b"}) {
  %odd = pw.call @is_odd(%a) : (!n) -> !flag
  %b = pw.if %odd : !flag -> (!n) {
    %1 = pw.call @three(%a) : (!n) -> !n
    pw.yield %1 : !n
  } else {
    %1 = pw.call @half(%a) donate(%a) : (!n) -> !n
    pw.yield %1 : !n
  }
  pw.return %b : !n
}

//===----------------------------------------------------------------------===//
// A loop with a schedule, some calls of which are in branches
//===----------------------------------------------------------------------===//

!vs = !pw.array<4x4xf32, @u, [{}, {}]>
!flags = !pw.array<4xi1, @u, [{}]>
func.func private @add4(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @scheduled(%p: !flags, %x: !vs, %w: !v)
    -> (!v {pw.name = "y"}, !v {pw.name = "y_expected", pw.expect = #pw.expect<eq, result 0>}) {
  %0 = pw.for 4 schedule "gpipe" (%z = %x stepped : !vs -> !v, %c = %p stepped : !flags -> !flag, %a = %w carried : !v) -> (!v carried) {
    %h = pw.call @square4(%z) label "0F" : (!v) -> !v
    %g = pw.if %c : !flag -> (!v) {
      %1 = pw.call @add4(%h, %a) label "0B" : (!v, !v) -> !v
      pw.yield %1 : !v
    } else {
      %1 = pw.call @double4(%a) label "0B" : (!v) -> !v
      pw.yield %1 : !v
    }
    pw.yield %g : !v
  }
  %1 = pw.for 4 (%z = %x stepped : !vs -> !v, %c = %p stepped : !flags -> !flag, %a = %w carried : !v) -> (!v carried) {
    %h = pw.call @square4(%z) : (!v) -> !v
    %g = pw.if %c : !flag -> (!v) {
      %2 = pw.call @add4(%h, %a) : (!v, !v) -> !v
      pw.yield %2 : !v
    } else {
      %2 = pw.call @double4(%a) : (!v) -> !v
      pw.yield %2 : !v
    }
    pw.yield %g : !v
  }
  pw.return %0, %1 : !v, !v
}
