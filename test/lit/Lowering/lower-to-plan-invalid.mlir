// RUN: pw-opt %s --split-input-file --verify-diagnostics --pw-lower-to-plan
// RUN: not pw-opt %s --split-input-file --pw-lower-to-plan="steps-in-flight=0" 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: error: expected between 1 and 1024 steps in flight, got 0

// expected-note@+1 {{slice is declared here}}
pw.slice @s mesh <>
// expected-error@+1 {{slice 's' is not bound to devices; run pw-place first}}
pw.program @unbound(%x: !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]> {
  pw.return %x : !pw.array<4xf32, @s, [{}]>
}

// -----

pw.slice @s mesh <"d" = 2>
pw.bind @s to island 0 devices base 0 strides [1]
pw.program @reshard(%x: !pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{}]> {
  // expected-error@+1 {{'pw.reshard' op is not explicit movement yet; run pw-insert-transfers first}}
  %0 = pw.reshard %x : !pw.array<4xf32, @s, [{"d"}]> -> !pw.array<4xf32, @s, [{}]>
  pw.return %0 : !pw.array<4xf32, @s, [{}]>
}

// -----

// A global view on one device is its local view; on more it is not.
pw.slice @s mesh <"d" = 2>
pw.bind @s to island 0 devices base 0 strides [1]
// expected-note@+1 {{callee is here}}
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @global(%x: !pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]> {
  // expected-error@+1 {{has shards of 'tensor<2xf32>' as operand 0 of 'neg', which is written for 'tensor<4xf32>'; run pw-partition first}}
  %0 = pw.call @neg(%x) : (!pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]>
  pw.return %0 : !pw.array<4xf32, @s, [{"d"}]>
}

// -----

// The second call would overwrite what the program returns.
pw.slice @s mesh <"d" = 1>
pw.bind @s to island 0 devices base 0 strides [1]
!x = !pw.array<4xf32, @s, [{}]>
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @into(%p: !pw.array<i1, @s, []>, %x: !x) -> (!x, !x) {
  %0 = pw.call @neg(%x) if(%p : !pw.array<i1, @s, []>) : (!x) -> !x
  // expected-error@+1 {{of 'neg' writes result 0 into an array that has other uses, so the array cannot be overwritten}}
  %1 = pw.call @neg(%x) unless(%p : !pw.array<i1, @s, []>) into(0 = %0) : (!x) -> !x
  pw.return %0, %1 : !x, !x
}
