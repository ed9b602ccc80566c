// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-partition

// A loop of an unknown number of iterations.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>, %n: tensor<i64>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.extract %n[] : tensor<i64>
  %end = arith.index_cast %e : i64 to index
  // expected-error@+1 {{'scf.for' op contains operations by which shards communicate, and is a loop or branch whose upper bound is not a constant [PW1105]}}
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%v = %x) -> tensor<8xf32> {
    %0 = pw.manual(%v) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
      // expected-note@+1 {{it contains this}}
      %1 = pw.all_reduce %a max over ["x"] : tensor<4xf32>
      pw.yield %1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
pw.program @for(%x: !pw.array<8xf32, @s, [{"x"}]>, %n: !pw.array<i64, @s, []>) -> (!pw.array<8xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x, %n) : (!pw.array<8xf32, @s, [{"x"}]>, !pw.array<i64, @s, []>) -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}

// -----

// More iterations than can be written out.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c32 step %c1 iter_args(%u = %x) -> tensor<8xf32> {
    // expected-error@+1 {{'scf.for' op contains operations by which shards communicate, and runs more than 1024 times, with the loops around it [PW1105]}}
    %s = scf.for %j = %c0 to %c64 step %c1 iter_args(%v = %u) -> tensor<8xf32> {
      %0 = pw.manual(%v) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
        // expected-note@+1 {{it contains this}}
        %1 = pw.all_reduce %a max over ["x"] : tensor<4xf32>
        pw.yield %1 : tensor<4xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      scf.yield %0 : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
pw.program @often(%x: !pw.array<8xf32, @s, [{"x"}]>) -> (!pw.array<8xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{"x"}]>) -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}

// -----

// A loop in a region, which ends when data says so.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
    // expected-error@+1 {{'scf.while' op contains operations by which shards communicate, and is a loop or branch that depends on data [PW1105]}}
    %r = scf.while (%v = %a) : (tensor<4xf32>) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %e = tensor.extract %v[%c0] : tensor<4xf32>
      %c = arith.constant 1.0 : f32
      %is = arith.cmpf olt, %e, %c : f32
      scf.condition(%is) %v : tensor<4xf32>
    } do {
    ^bb0(%v: tensor<4xf32>):
      // expected-note@+1 {{it contains this}}
      %1 = pw.all_reduce %v max over ["x"] : tensor<4xf32>
      scf.yield %1 : tensor<4xf32>
    }
    pw.yield %r : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
pw.program @while(%x: !pw.array<8xf32, @s, [{"x"}]>) -> (!pw.array<8xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{"x"}]>) -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}

// -----

// An assertion in a branch that is not taken would fail.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %is = tensor.extract %p[] : tensor<i1>
  // expected-remark@+2 {{all branches of 'scf.if' are computed: shards communicate inside it}}
  // expected-error@+1 {{'scf.if' op contains operations by which shards communicate, so all of its branches are computed; expected no assertion [PW1105]}}
  %r = scf.if %is -> tensor<8xf32> {
    // expected-note@+1 {{it contains this}}
    cf.assert %is, "must be"
    %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
      pw.yield %a : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
pw.program @assertion(%x: !pw.array<8xf32, @s, [{"x"}]>, %p: !pw.array<i1, @s, []>) -> (!pw.array<8xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x, %p) : (!pw.array<8xf32, @s, [{"x"}]>, !pw.array<i1, @s, []>) -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}

// -----

// A function that is called inside of a region names its axis again.
pw.slice @s mesh <"x" = 2>
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'pw.manual' op names axis "x", which is manual in a 'pw.manual' around it}}
  %0 = pw.manual(%x) over ["x"] in [[{}]] out [[{}]] (%a: tensor<4xf32>) {
    pw.yield %a : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
    %1 = func.call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
    pw.yield %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
pw.program @again(%x: !pw.array<8xf32, @s, [{"x"}]>) -> (!pw.array<8xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{"x"}]>) -> !pw.array<8xf32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xf32, @s, [{"x"}]>
}
