// A loop with 'while' stops at its condition or its bound, on one slice and several, alone,
// in loops and in branches, with branches in it and over steps.

// RUN: pw-run %s --program=halves --topology=1x1x3 --input=a=100 --input=w=random:1 --expected=b=6 --expected=k=4 --expected=odd=1 | FileCheck %s
// RUN: pw-run %s --program=halves --topology=2x1x3 --world=sim --input=a=5 --input=w=random:1 --expected=b=5 --expected=k=0 --expected=odd=0 --steps=3 | FileCheck %s
// RUN: pw-run %s --program=halves --topology=1x3x1 --processes --input=a=100000 --input=w=random:1 --expected=b=390 --expected=k=8 --expected=odd=2 | FileCheck %s
// RUN: pw-run %s --program=halves --topology=1x1x3 --input=a=10240 --input=w=random:1 --expected=b=40 --expected=k=8 --expected=odd=0 --steps-in-flight=1 | FileCheck %s
// CHECK: [SUCCESS] {{.*}}, 3 results as expected, 1 check
// RUN: pw-run %s --program=nested --topology=1x1x3 --input=p=true --input=a=100 --expected=b=6 | FileCheck %s --check-prefix=NESTED
// RUN: pw-run %s --program=nested --topology=1x1x3 --input=p=false --input=a=100 --expected=b=100 | FileCheck %s --check-prefix=NESTED
// RUN: pw-run %s --program=nested --topology=1x1x3 --world=sim --input=p=true --input=a=1000,0 --steps=2 --expected=b=0 | FileCheck %s --check-prefix=NESTED
// NESTED: [SUCCESS] {{.*}}, 1 result as expected
// RUN: pw-run %s --program=carried --topology=1x1x3 --input=a=100 --steps=3 --expected=b=19 | FileCheck %s --check-prefix=NESTED
// RUN: pw-run %s --program=above --topology=1x1x3 --input=a=100 --input=v=ramp --input=w=0,1,2,3,4,5,6 --expected=x=0,1,2,3,4,5,6 | FileCheck %s --check-prefix=NESTED
// RUN: pw-run %s --program=received --topology=1x1x3 --input=a=100 --input=v=ramp --steps=2 --expected=y=0,256,512,768,1024,1280,1536 | FileCheck %s --check-prefix=NESTED

pw.slice @s mesh <"d" = 2>
pw.slice @u mesh <>

!n = !pw.array<i64, @u, []>
!flag = !pw.array<i1, @u, []>
!w = !pw.array<7xf32, @s, [{"d"}]>
!whole = !pw.array<7xf32, @u, [{}]>

func.func private @is_large(%a: tensor<i64>) -> tensor<i1> {
  %c = arith.constant dense<10> : tensor<i64>
  %y = arith.cmpi sgt, %a, %c : tensor<i64>
  return %y : tensor<i1>
}
func.func private @is_odd(%a: tensor<i64>) -> tensor<i1> {
  %y = arith.trunci %a : tensor<i64> to tensor<i1>
  return %y : tensor<i1>
}
func.func private @half(%a: tensor<i64>) -> tensor<i64> {
  %c = arith.constant dense<2> : tensor<i64>
  %y = arith.divsi %a, %c : tensor<i64>
  return %y : tensor<i64>
}
func.func private @next(%a: tensor<i64>) -> tensor<i64> {
  %c = arith.constant dense<1> : tensor<i64>
  %y = arith.addi %a, %c : tensor<i64>
  return %y : tensor<i64>
}
func.func private @none() -> tensor<i64> {
  %c = arith.constant dense<0> : tensor<i64>
  return %c : tensor<i64>
}
func.func private @double(%x: tensor<7xf32>) -> tensor<7xf32> {
  %y = arith.addf %x, %x : tensor<7xf32>
  return %y : tensor<7xf32>
}
func.func private @times_power(%x: tensor<7xf32>, %k: tensor<i64>) -> tensor<7xf32> {
  %n = tensor.extract %k[] : tensor<i64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = arith.index_cast %n : i64 to index
  %y = scf.for %j = %c0 to %i step %c1 iter_args(%z = %x) -> tensor<7xf32> {
    %0 = arith.addf %z, %z : tensor<7xf32>
    scf.yield %0 : tensor<7xf32>
  }
  return %y : tensor<7xf32>
}

// Halves %a until it is at most 10, and doubles %w as often on another slice.
pw.program @halves(%a: !n, %w: !w)
    -> (!n {pw.name = "b"}, !n {pw.name = "k"}, !n {pw.name = "odd"}, !whole {pw.name = "v"},
        !whole {pw.name = "v_expected", pw.expect = #pw.expect<eq, result 3>}) {
  %c = pw.call @is_large(%a) : (!n) -> !flag
  %0 = pw.call @none() : () -> !n
  %last, %b, %k, %odd, %v = pw.for 8 while (%go = %c carried : !flag, %x = %a carried : !n, %i = %0 carried : !n,
                                           %o = %0 carried : !n, %y = %w carried : !w)
      -> (!flag carried, !n carried, !n carried, !n carried, !w carried) {
    %is = pw.call @is_odd(%x) : (!n) -> !flag
    %h = pw.call @half(%x) donate(%x) : (!n) -> !n
    %on = pw.if %is : !flag -> (!n) {
      %1 = pw.call @next(%o) : (!n) -> !n
      pw.yield %1 : !n
    } else {
      pw.yield %o : !n
    }
    %j = pw.call @next(%i) : (!n) -> !n
    %go_on = pw.call @is_large(%h) : (!n) -> !flag
    %z = pw.call @double(%y) : (!w) -> !w
    pw.yield %go_on, %h, %j, %on, %z : !flag, !n, !n, !n, !w
  }
  %vw = pw.reshard %v : !w -> !whole
  %ww = pw.reshard %w : !w -> !whole
  %expected = pw.call @times_power(%ww, %k) : (!whole, !n) -> !whole
  pw.return %b, %k, %odd, %vw, %expected : !n, !n, !n, !whole, !whole
}

// The second iteration of the outer loop has nothing left to do.
pw.program @nested(%p: !flag, %a: !n {pw.stepped}) -> (!n {pw.name = "b"}) {
  %b = pw.if %p : !flag -> (!n) {
    %1 = pw.for 2 (%x = %a carried : !n) -> (!n carried) {
      %c = pw.call @is_large(%x) : (!n) -> !flag
      %d, %y = pw.for 9 while (%go = %c carried : !flag, %z = %x carried : !n) -> (!flag carried, !n carried) {
        %h = pw.call @half(%z) : (!n) -> !n
        %more = pw.call @is_large(%h) : (!n) -> !flag
        pw.yield %more, %h : !flag, !n
      }
      pw.yield %y : !n
    }
    pw.yield %1 : !n
  } else {
    pw.yield %a : !n
  }
  pw.return %b : !n
}

// What one step leaves is where the next one begins: 100 becomes 6 + 10, that becomes 8 + 10,
// and that 9 + 10.
pw.program @carried(%a: !n {pw.carried = 0 : i64}) -> (!n {pw.name = "b"}) {
  %c = pw.call @is_large(%a) : (!n) -> !flag
  %d, %y = pw.for 9 while (%go = %c carried : !flag, %z = %a carried : !n) -> (!flag carried, !n carried) {
    %h = pw.call @half(%z) : (!n) -> !n
    %more = pw.call @is_large(%h) : (!n) -> !flag
    pw.yield %more, %h : !flag, !n
  }
  %b = pw.call @plus_ten(%y) donate(%y) : (!n) -> !n
  pw.return %b : !n
}
func.func private @plus_ten(%a: tensor<i64>) -> tensor<i64> {
  %c = arith.constant dense<10> : tensor<i64>
  %y = arith.addi %a, %c : tensor<i64>
  return %y : tensor<i64>
}

// The copy of an array from above is all that slice @s does in an iteration.
pw.program @above(%a: !n, %v: !w, %w: !w) -> (!w {pw.name = "x"}) {
  %c = pw.call @is_large(%a) : (!n) -> !flag
  %d, %y, %x = pw.for 3 while (%go = %c carried : !flag, %z = %a carried : !n, %o = %v carried : !w)
      -> (!flag carried, !n carried, !w carried) {
    %h = pw.call @half(%z) : (!n) -> !n
    %more = pw.call @is_large(%h) : (!n) -> !flag
    pw.yield %more, %h, %w : !flag, !n, !w
  }
  pw.return %x : !w
}

// The memory of the value that the next step takes holds a received array before.
pw.program @received(%a: !n, %v: !w {pw.carried = 0 : i64}) -> (!w {pw.name = "y"}) {
  %c = pw.call @is_large(%a) : (!n) -> !flag
  %t = pw.reshard %v : !w -> !whole
  %t2 = pw.call @double(%t) : (!whole) -> !whole
  %w = pw.reshard %t2 : !whole -> !w
  %d, %e, %y = pw.for 3 while (%go = %c carried : !flag, %z = %a carried : !n, %o = %w carried : !w)
      -> (!flag carried, !n carried, !w carried) {
    %h = pw.call @half(%z) : (!n) -> !n
    %more = pw.call @is_large(%h) : (!n) -> !flag
    %x = pw.call @double(%o) : (!w) -> !w
    pw.yield %more, %h, %x : !flag, !n, !w
  }
  pw.return %y : !w
}
