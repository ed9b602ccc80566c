// RUN: pw-opt %s -split-input-file -canonicalize -cse | FileCheck %s

pw.slice @a mesh <"x" = 2>
pw.slice @b mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> attributes {pw.local_view} { return %x : tensor<8xf32> }

// A reshard to the same type, partial or not, is no work.
// CHECK-LABEL: pw.program @same
// CHECK-NEXT: pw.return %x, %y
pw.program @same(%x: !pw.array<8xf32, @a, [{}]>, %y: !pw.array<8xf32, @a, [{}] partial add {"x"}>)
    -> (!pw.array<8xf32, @a, [{}]>, !pw.array<8xf32, @a, [{}] partial add {"x"}>) {
  %0 = pw.reshard %x : !pw.array<8xf32, @a, [{}]> -> !pw.array<8xf32, @a, [{}]>
  %1 = pw.reshard %y : !pw.array<8xf32, @a, [{}] partial add {"x"}> -> !pw.array<8xf32, @a, [{}] partial add {"x"}>
  pw.return %0, %1 : !pw.array<8xf32, @a, [{}]>, !pw.array<8xf32, @a, [{}] partial add {"x"}>
}

// There and back over another slice.
// CHECK-LABEL: pw.program @back
// CHECK-NEXT: pw.return %x
pw.program @back(%x: !pw.array<8xf32, @a, [{}]>) -> (!pw.array<8xf32, @a, [{}]>) {
  %0 = pw.reshard %x : !pw.array<8xf32, @a, [{}]> -> !pw.array<8xf32, @b, [{"x"}]>
  %1 = pw.reshard %0 : !pw.array<8xf32, @b, [{"x"}]> -> !pw.array<8xf32, @a, [{}]>
  pw.return %1 : !pw.array<8xf32, @a, [{}]>
}

// Not through contributions: adding the identity changes the sign of a zero.
// CHECK-LABEL: pw.program @partial
// CHECK-COUNT-2: pw.reshard
pw.program @partial(%x: !pw.array<8xf32, @a, [{}]>) -> (!pw.array<8xf32, @a, [{}]>) {
  %0 = pw.reshard %x : !pw.array<8xf32, @a, [{}]> -> !pw.array<8xf32, @a, [{}] partial add {"x"}>
  %1 = pw.reshard %0 : !pw.array<8xf32, @a, [{}] partial add {"x"}> -> !pw.array<8xf32, @a, [{}]>
  pw.return %1 : !pw.array<8xf32, @a, [{}]>
}

// Between slices the way may be chosen to save bytes on the slow network.
// CHECK-LABEL: pw.program @staged
// CHECK-COUNT-2: pw.reshard
pw.program @staged(%x: !pw.array<8xf32, @a, [{}]>) -> (!pw.array<8xf32, @b, [{}]>) {
  %0 = pw.reshard %x : !pw.array<8xf32, @a, [{}]> -> !pw.array<8xf32, @b, [{"x"}]>
  %1 = pw.reshard %0 : !pw.array<8xf32, @b, [{"x"}]> -> !pw.array<8xf32, @b, [{}]>
  pw.return %1 : !pw.array<8xf32, @b, [{}]>
}

// -----

pw.slice @a mesh <"x" = 2, "y" = 2>
// On one slice a detour goes.
// CHECK-LABEL: pw.program @detour
// CHECK-NEXT: %[[R:.*]] = pw.reshard %x : !pw.array<8xf32, @a, [{}]> -> !pw.array<8xf32, @a, [{"x"}]>
// CHECK-NEXT: pw.return %[[R]]
pw.program @detour(%x: !pw.array<8xf32, @a, [{}]>) -> (!pw.array<8xf32, @a, [{"x"}]>) {
  %0 = pw.reshard %x : !pw.array<8xf32, @a, [{}]> -> !pw.array<8xf32, @a, [{"y"}]>
  %1 = pw.reshard %0 : !pw.array<8xf32, @a, [{"y"}]> -> !pw.array<8xf32, @a, [{"x"}]>
  pw.return %1 : !pw.array<8xf32, @a, [{"x"}]>
}

// Also when it begins with a reduction, which then need not reach everybody.
// CHECK-LABEL: pw.program @reduced
// CHECK-NEXT: %[[R:.*]] = pw.reshard %x : !pw.array<8xf32, @a, [{}] partial add {"x"}> -> !pw.array<8xf32, @a, [{"x"}]>
// CHECK-NEXT: pw.return %[[R]]
pw.program @reduced(%x: !pw.array<8xf32, @a, [{}] partial add {"x"}>) -> (!pw.array<8xf32, @a, [{"x"}]>) {
  %0 = pw.reshard %x : !pw.array<8xf32, @a, [{}] partial add {"x"}> -> !pw.array<8xf32, @a, [{}]>
  %1 = pw.reshard %0 : !pw.array<8xf32, @a, [{}]> -> !pw.array<8xf32, @a, [{"x"}]>
  pw.return %1 : !pw.array<8xf32, @a, [{"x"}]>
}

// -----

pw.slice @a mesh <>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }
// Equal calls are one, unused ones none; copies stay apart.
// CHECK-LABEL: pw.program @cse
// CHECK-NEXT: %[[C:.*]] = pw.call @f(%x)
// CHECK-NEXT: %[[D:.*]] = pw.copy %[[C]]
// CHECK-NEXT: %[[E:.*]] = pw.copy %[[C]]
// CHECK-NEXT: pw.return %[[C]], %[[C]], %[[D]], %[[E]]
pw.program @cse(%x: !pw.array<8xf32, @a, [{}]>)
    -> (!pw.array<8xf32, @a, [{}]>, !pw.array<8xf32, @a, [{}]>, !pw.array<8xf32, @a, [{}]>, !pw.array<8xf32, @a, [{}]>) {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @a, [{}]>) -> !pw.array<8xf32, @a, [{}]>
  %1 = pw.call @f(%x) : (!pw.array<8xf32, @a, [{}]>) -> !pw.array<8xf32, @a, [{}]>
  %2 = pw.call @f(%1) : (!pw.array<8xf32, @a, [{}]>) -> !pw.array<8xf32, @a, [{}]>
  %3 = pw.copy %0 : !pw.array<8xf32, @a, [{}]>
  %4 = pw.copy %0 : !pw.array<8xf32, @a, [{}]>
  %5 = pw.copy %0 : !pw.array<8xf32, @a, [{}]>
  pw.return %0, %1, %3, %4 : !pw.array<8xf32, @a, [{}]>, !pw.array<8xf32, @a, [{}]>, !pw.array<8xf32, @a, [{}]>, !pw.array<8xf32, @a, [{}]>
}
