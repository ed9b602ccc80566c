// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-partition

pw.slice @s mesh <"x" = 2>
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{calls 'declared', which has no body of one block}}
  %0 = func.call @declared(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @calls(%x: !pw.array<4xf32, @s, [{"x"}]>) -> (!pw.array<4xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<4xf32, @s, [{"x"}]>
}

// -----

// Recursion, which pw-check-program names, ends here too.
pw.slice @s mesh <"x" = 2>
// expected-error@+1 {{has more than 262144 operations after inlining what it calls}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  %1 = func.call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
pw.program @recursion(%x: !pw.array<4xf32, @s, [{"x"}]>) -> (!pw.array<4xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<4xf32, @s, [{"x"}]>
}

// -----

// Recursion inside of branches ends too.
pw.slice @s mesh <"x" = 2>
// expected-error@+1 {{has more than 256 loops and branches inside of each other after inlining what it calls}}
func.func private @f(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %is = tensor.extract %p[] : tensor<i1>
  %0 = scf.if %is -> tensor<4xf32> {
    %1 = func.call @f(%x, %p) : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
pw.program @recursion(%x: !pw.array<4xf32, @s, [{"x"}]>, %p: !pw.array<i1, @s, []>) -> (!pw.array<4xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x, %p) : (!pw.array<4xf32, @s, [{"x"}]>, !pw.array<i1, @s, []>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<4xf32, @s, [{"x"}]>
}

// -----

pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
pw.program @open(%x: !pw.array<4xf32, @s, [{"x", ?}]>) -> (!pw.array<4xf32, @s, [{"x", ?}]>) {
  // expected-error@+1 {{of 'f' has an array of type '!pw.array<4xf32, @s, [{"x", ?}]>' with an open dimension, which 'pw-propagate-shardings' closes}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"x", ?}]>) -> !pw.array<4xf32, @s, [{"x", ?}]>
  pw.return %0 : !pw.array<4xf32, @s, [{"x", ?}]>
}
