// Calls and transfers of branches get guards, and calls write into one array where
// branches meet.
// RUN: pw-opt %s -pw-unroll-loops | FileCheck %s

pw.slice @s mesh <"d" = 2>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{"d"} ]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
!t = !pw.array<8xf32, @t, [{} ]>

func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @g(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}

// The call of the second branch writes into the result of the first one.
// CHECK-LABEL: pw.program @both
// CHECK-NEXT: %[[A:.*]] = pw.call @f(%x) if(%p : {{.*}}) label "A"
// CHECK-NEXT: %[[B:.*]] = pw.call @f(%x) unless(%p : {{.*}}) into(0 = %[[A]]) label "B"
// CHECK-NEXT: pw.return %[[B]]
pw.program @both(%p: !p, %x: !x) -> !x {
  %0 = pw.if %p : !p -> (!x) {
    %1 = pw.call @f(%x) label "A" : (!x) -> !x
    pw.yield %1 : !x
  } else {
    %1 = pw.call @f(%x) label "B" : (!x) -> !x
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}

// Results of one call are written into those of others, in any order.
// CHECK-LABEL: pw.program @swapped
// CHECK-NEXT: %[[A:.*]]:2 = pw.call @g(%x) if
// CHECK-NEXT: %[[B:.*]]:2 = pw.call @g(%x) unless({{.*}}) into(0 = %[[A]]#1, 1 = %[[A]]#0)
// CHECK-NEXT: pw.return %[[B]]#1, %[[B]]#0
pw.program @swapped(%p: !p, %x: !x) -> (!x, !x) {
  %0, %1 = pw.if %p : !p -> (!x, !x) {
    %2, %3 = pw.call @g(%x) : (!x) -> (!x, !x)
    pw.yield %2, %3 : !x, !x
  } else {
    %2, %3 = pw.call @g(%x) : (!x) -> (!x, !x)
    pw.yield %3, %2 : !x, !x
  }
  pw.return %0, %1 : !x, !x
}

// Arrays from above and arrays with other uses are copied, unless both branches yield them.
// CHECK-LABEL: pw.program @copied
// CHECK-NEXT: %[[A:.*]] = pw.call @f(%x) if
// CHECK-NEXT: %[[B:.*]] = pw.call @pw_copy_4(%[[A]]) if
// CHECK-NEXT: %[[C:.*]] = pw.call @pw_copy_4(%[[A]]) if
// CHECK-NEXT: %[[D:.*]] = pw.call @pw_copy_4(%x) unless({{.*}}) into(0 = %[[B]])
// CHECK-NEXT: %[[E:.*]] = pw.call @pw_copy_4(%y) unless({{.*}}) into(0 = %[[C]])
// CHECK-NEXT: pw.return %[[D]], %[[E]], %x
pw.program @copied(%p: !p, %x: !x, %y: !x) -> (!x, !x, !x) {
  %0, %1, %2 = pw.if %p : !p -> (!x, !x, !x) {
    %3 = pw.call @f(%x) : (!x) -> !x
    pw.yield %3, %3, %x : !x, !x, !x
  } else {
    pw.yield %x, %y, %x : !x, !x, !x
  }
  pw.return %0, %1, %2 : !x, !x, !x
}

// Each slice gets the condition once. A call in two branches has one guard for both.
// CHECK-LABEL: pw.program @nested
// CHECK-NEXT: %[[T:.*]] = pw.transfer %p
// CHECK-NEXT: %[[X:.*]] = pw.transfer %x if(%p : {{[^)]*}}) :
// CHECK-NEXT: %[[N:.*]] = pw.call @pw_and(%q, %[[T]])
// CHECK-NEXT: %[[A:.*]] = pw.call @f(%[[X]]) if(%[[N]] : {{.*}}) label "A"
// CHECK-NEXT: %[[L:.*]] = pw.call @pw_less(%q, %[[T]])
// CHECK-NEXT: %[[B:.*]] = pw.call @f(%[[X]]) if(%[[L]] : {{.*}}) into(0 = %[[A]]) label "B"
// CHECK-NEXT: %[[Y:.*]] = pw.transfer %x unless(%p : {{[^)]*}}) :
// CHECK-NEXT: %[[U:.*]] = pw.call @pw_unless(%q, %[[T]])
// CHECK-NEXT: %[[C:.*]] = pw.call @f(%[[Y]]) if(%[[U]] : {{.*}}) label "C"
// CHECK-NEXT: %[[R:.*]] = pw.call @pw_nor(%q, %[[T]])
// CHECK-NEXT: %[[D:.*]] = pw.call @f(%[[Y]]) if(%[[R]] : {{.*}}) into(0 = %[[C]]) label "D"
// CHECK-NEXT: %[[E:.*]] = pw.call @pw_copy_8(%[[D]]) unless(%[[T]] : {{.*}}) into(0 = %[[B]])
// CHECK-NEXT: pw.return %[[E]]
pw.program @nested(%p: !p, %q: !q, %x: !x) -> !t {
  %0 = pw.if %p : !p -> (!t) {
    %1 = pw.transfer %x : !x -> !t
    %2 = pw.if %q : !q -> (!t) {
      %3 = pw.call @f(%1) label "A" : (!t) -> !t
      pw.yield %3 : !t
    } else {
      %3 = pw.call @f(%1) label "B" : (!t) -> !t
      pw.yield %3 : !t
    }
    pw.yield %2 : !t
  } else {
    %1 = pw.transfer %x : !x -> !t
    %2 = pw.if %q : !q -> (!t) {
      %3 = pw.call @f(%1) label "C" : (!t) -> !t
      pw.yield %3 : !t
    } else {
      %3 = pw.call @f(%1) label "D" : (!t) -> !t
      pw.yield %3 : !t
    }
    pw.yield %2 : !t
  }
  pw.return %0 : !t
}

// A branch of a branch writes into the array of the first one, which nothing else uses.
// CHECK-LABEL: pw.program @in_place
// CHECK: %[[A:.*]] = pw.call @f(%x) unless({{.*}}) into
// CHECK-NEXT: %[[B:.*]] = pw.call @f(%y) if({{.*}}) into(0 = %[[A]])
// CHECK-NEXT: pw.return %[[B]]
pw.program @in_place(%p: !p, %r: !p, %x: !x, %y: !x) -> !x {
  %0 = pw.if %p : !p -> (!x) {
    pw.yield %y : !x
  } else {
    %1 = pw.call @f(%x) : (!x) -> !x
    pw.yield %1 : !x
  }
  %2 = pw.if %r : !p -> (!x) {
    %3 = pw.call @f(%y) : (!x) -> !x
    pw.yield %3 : !x
  } else {
    pw.yield %0 : !x
  }
  pw.return %2 : !x
}

// The initial array is copied once. An iteration writes into it at once, or copies at its
// end if it reads the array until then; the call does not donate it.
// CHECK-LABEL: pw.program @while
// CHECK-NEXT: %[[X:.*]] = pw.copy %x
// CHECK-NEXT: %[[Y:.*]] = pw.copy %y
// CHECK-NEXT: %[[A:.*]] = pw.call @f(%[[X]]) if(%p : {{[^)]*}}) :
// CHECK-NEXT: %[[B:.*]] = pw.call @f(%z) if(%p : {{[^)]*}}) into(0 = %[[Y]]) :
// CHECK-NEXT: %[[X1:.*]] = pw.call @pw_copy_4(%[[A]]) if(%p : {{[^)]*}}) into(0 = %[[X]])
// CHECK-NEXT: %[[P1:.*]] = pw.call @pw_and(%p, %r)
// CHECK-NEXT: %[[A1:.*]] = pw.call @f(%[[X1]]) if(%[[P1]] : {{[^)]*}}) :
// CHECK-NEXT: %[[B1:.*]] = pw.call @f(%z) if(%[[P1]] : {{[^)]*}}) into(0 = %[[B]]) :
// CHECK-NEXT: %[[X2:.*]] = pw.call @pw_copy_4(%[[A1]]) if(%[[P1]] : {{[^)]*}}) into(0 = %[[X1]])
// CHECK-NEXT: pw.call @pw_and(%[[P1]], %r)
// CHECK-NEXT: pw.return %[[X2]], %[[B1]]
pw.program @while(%p: !p, %r: !p, %x: !x, %y: !x, %z: !x) -> (!x, !x) {
  %0, %1, %2 = pw.for 2 while (%a = %p carried : !p, %b = %x carried : !x, %c = %y carried : !x)
      -> (!p carried, !x carried, !x carried) {
    %3 = pw.call @f(%b) donate(%b) : (!x) -> !x
    %4 = pw.call @f(%z) : (!x) -> !x
    pw.yield %r, %3, %4 : !p, !x, !x
  }
  pw.return %1, %2 : !x, !x
}
