// RUN: pw-opt %s -pass-pipeline='builtin.module(pw.program(pw-resolve-donation))' -split-input-file -verify-diagnostics | FileCheck %s
// RUN: pw-opt %s -pass-pipeline='builtin.module(pw.program(cse,pw-resolve-donation))' -split-input-file 2>/dev/null | FileCheck %s --check-prefix=CSE

pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
func.func private @g(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
func.func private @p(%x: tensor<4xf32> {pw.accepts_partial}) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }

// The last use may donate; to wait for an array is not to use it.
// CHECK-LABEL: pw.program @last
// CHECK-NEXT: %[[A:.*]] = pw.call @f(%x) :
// CHECK-NEXT: pw.call @f(%x) donate(%x)
// CHECK-NEXT: pw.call @g(%{{.*}}, %[[A]]) after(%x {{.*}}) donate(%{{.*}}, %[[A]])
// CHECK-NOT: pw.copy
pw.program @last(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.call @f(%x) donate(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %2 = pw.call @g(%1, %0) after(%x : !pw.array<4xf32, @s, [{}]>) donate(%0, %1)
      : (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %2 : !pw.array<4xf32, @s, [{}]>
}

// A later use, here the return, gets the original.
// CHECK-LABEL: pw.program @later
// CHECK-NEXT: %[[C:.*]] = pw.copy %x
// CHECK-NEXT: pw.call @f(%[[C]]) donate(%[[C]])
// CHECK-NEXT: pw.return %{{.*}}, %x
pw.program @later(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) {
  // expected-remark@+1 {{operand 0 of 'f' is donated, but used later; a copy is made}}
  %0 = pw.call @f(%x) donate(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  // expected-note@+1 {{the later use is here}}
  pw.return %0, %x : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>
}

// -----

pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
func.func private @g(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
func.func private @p(%x: tensor<4xf32> {pw.accepts_partial}) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }

// Each of several early donations gets a copy of its own.
// CHECK-LABEL: pw.program @twice
// CHECK: %[[C:.*]] = pw.copy %x
// CHECK: pw.call @f(%[[C]]) donate(%[[C]])
// CHECK: pw.call @g(%x, %{{.*}}) donate(%x)
pw.program @twice(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>) {
  // expected-remark@+1 {{operand 0 of 'f' is donated, but donated again later; a copy is made}}
  %0 = pw.call @f(%x) donate(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  // expected-note@+1 {{the later donation is here}}
  %1 = pw.call @g(%x, %0) donate(%x) : (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %1 : !pw.array<4xf32, @s, [{}]>
}

// CHECK-LABEL: pw.program @same_call
// CHECK-NEXT: pw.call @g(%x, %x) :
pw.program @same_call(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>) {
  // expected-remark@+1 {{operand 0 of 'g' is not donated: the call reads it more than once}}
  %0 = pw.call @g(%x, %x) donate(%x) : (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %0 : !pw.array<4xf32, @s, [{}]>
}

// Contributions are copied as they are.
// CHECK-LABEL: pw.program @contributions
// CHECK-NEXT: %[[C:.*]] = pw.copy %x : !pw.array<4xf32, @s, [{}] partial add {"x"}>
// CHECK-NEXT: pw.call @p(%[[C]]) donate(%[[C]]) :
pw.program @contributions(%x: !pw.array<4xf32, @s, [{}] partial add {"x"}>) -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}] partial add {"x"}>) {
  // expected-remark@+1 {{operand 0 of 'p' is donated, but used later; a copy is made}}
  %0 = pw.call @p(%x) donate(%x) : (!pw.array<4xf32, @s, [{}] partial add {"x"}>) -> !pw.array<4xf32, @s, [{}]>
  // expected-note@+1 {{the later use is here}}
  pw.return %0, %x : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}] partial add {"x"}>
}

// -----

// CSE makes %0 and %1 one array, so that its donation has a later use.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
// CHECK-LABEL: pw.program @merged
// CHECK-NOT: pw.copy
// CSE-LABEL: pw.program @merged
// CSE: %[[F:.*]] = pw.call @f(%x)
// CSE-NEXT: %[[C:.*]] = pw.copy %[[F]]
// CSE-NEXT: pw.call @g(%[[C]]) donate(%[[C]])
// CSE-NEXT: pw.return %{{.*}}, %[[F]]
pw.program @merged(%x: !pw.array<4xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %2 = pw.call @g(%0) donate(%0) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %2, %1 : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>
}
