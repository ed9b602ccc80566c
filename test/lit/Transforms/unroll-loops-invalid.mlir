// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-unroll-loops

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
// expected-note@+1 {{the function is defined here}}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %i = pw.iteration_index : index
  return %x : tensor<8xf32>
}
pw.program @outside(%x: !x) -> !x {
  // expected-error@+1 {{of 'f', which reads 'pw.iteration_index', is not in a loop}}
  %0 = pw.call @f(%x) : (!x) -> !x
  pw.return %0 : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
pw.program @long(%x: !x) -> !x {
  // expected-error@+1 {{makes the program run more than 1048576 nodes, since the iterations of loops are written out}}
  %0 = pw.for 16777216 (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.for 16777216 (%b = %a carried : !x) -> (!x carried) {
      %2 = pw.call @f(%b) : (!x) -> !x
      pw.yield %2 : !x
    }
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}
