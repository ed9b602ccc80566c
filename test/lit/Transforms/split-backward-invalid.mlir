// Calls that cannot be split are refused if the schedule has halves of them.

// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-split-backward=schedule=zb-h1
// RUN: pw-opt %s -split-input-file -pw-split-backward=schedule=1f1b -o /dev/null

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
pw.program @all(%x: !x) -> !x {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    // expected-error@+1 {{with label '1B' cannot be split into '1I' and '1W', which schedule 'zb-h1' needs: other slices and calls need all of its results}}
    %1 = pw.call @f(%a) label "1B" : (!x) -> !x
    %2 = pw.call @f(%1) label "0F" : (!x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}

// -----

// The second result is what the first one is computed from.
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func private @b(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.negf %x : tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
pw.program @nothing_left(%x: !x) -> !x {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    // expected-error@+1 {{with label '1B' cannot be split into '1I' and '1W', which schedule 'zb-h1' needs: nothing is left for the second half}}
    %1, %2 = pw.call @b(%a) label "1B" : (!x) -> (!x, !x)
    %3 = pw.call @f(%1) label "0F" : (!x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}

// -----

// Both halves need a number that is computed from a tensor.
pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xi64, @s, [{}]>
func.func private @f(%x: tensor<4xi64>) -> tensor<4xi64> { return %x : tensor<4xi64> }
func.func private @b(%x: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %zero = arith.constant 0 : index
  %0 = arith.addi %x, %x : tensor<4xi64>
  %n = tensor.extract %0[%zero] : tensor<4xi64>
  %1 = tensor.splat %n : tensor<4xi64>
  %2 = tensor.splat %n : tensor<4xi64>
  return %1, %2 : tensor<4xi64>, tensor<4xi64>
}
pw.program @scalar(%x: !x) -> !x {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    // expected-error@+1 {{with label '1B' cannot be split into '1I' and '1W', which schedule 'zb-h1' needs: both halves need a value of type 'i64', which cannot be an array}}
    %1, %2 = pw.call @b(%a) label "1B" : (!x) -> (!x, !x)
    %3 = pw.call @f(%1) label "0F" : (!x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}

// -----

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s, [{}]>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
pw.program @loop(%x: !x) -> !x {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    // expected-error@+1 {{with label '0B' cannot be split into '0I' and '0W', which schedule 'zb-h1' needs: it is a loop}}
    %1 = pw.for 2 label "0B" (%b = %a carried : !x) -> (!x carried) {
      %2 = pw.call @f(%b) : (!x) -> !x
      pw.yield %2 : !x
    }
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}

// -----

// A body of a whole array that is cut.
pw.slice @s mesh <"d" = 2>
!x = !pw.array<4xf32, @s, [{"d"}]>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func private @b(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.negf %x : tensor<4xf32>
  %1 = arith.addf %x, %x : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
pw.program @whole(%x: !x) -> !x {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    // expected-error@+1 {{'b' is not written for one shard; run pw-partition first}}
    %1, %2 = pw.call @b(%a) label "1B" : (!x) -> (!x, !x)
    %3 = pw.call @f(%1) label "0F" : (!x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}
