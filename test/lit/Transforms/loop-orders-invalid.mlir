// Labels that do not fit a schedule.

// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-unroll-loops

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
pw.program @name(%x: !x) -> !x {
  // expected-error@+1 {{has label 'forward', but schedule '1f1b' needs a stage and F, B, I or W, such as 2F}}
  %0 = pw.for 2 schedule "1f1b" (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @f(%a) label "forward" : (!x) -> !x
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}

// -----

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
pw.program @digit(%x: !x) -> !x {
  %0 = pw.for 2 schedule "1f1b" (%a = %x carried : !x) -> (!x carried) {
    // expected-error@+1 {{has label 'F0' in a loop with a schedule, expected one that ends with a letter, without blanks, commas and quotes}}
    %1 = pw.call @f(%a) label "F0" : (!x) -> !x
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}

// -----

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
pw.program @comma(%x: !x) -> !x {
  %0 = pw.for 2 schedule "1f1b" (%a = %x carried : !x) -> (!x carried) {
    // expected-error@+1 {{has label '0,F' in a loop with a schedule}}
    %1 = pw.call @f(%a) label "0,F" : (!x) -> !x
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}

// -----

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
pw.program @none(%x: !x) -> !x {
  // expected-error@+1 {{has schedule '1f1b', but no call has a label}}
  %0 = pw.for 2 schedule "1f1b" (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @f(%a) : (!x) -> !x
    pw.yield %1 : !x
  }
  pw.return %0 : !x
}

// -----

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
pw.program @gap(%x: !x) -> !x {
  // expected-error@+1 {{has 2 stages, the last of which is 2, expected them to count from 0}}
  %0 = pw.for 2 schedule "1f1b" (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @f(%a) label "0F" : (!x) -> !x
    %2 = pw.call @f(%1) label "2F" : (!x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}

// -----

pw.slice @s mesh <"d" = 1>
pw.slice @t mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
!y = !pw.array<4xf32, @t>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
pw.program @apart(%x: !x, %y: !y) -> (!x, !y) {
  // expected-error@+1 {{has stage 0 on slices @s and @t}}
  %0, %1 = pw.for 2 schedule "1f1b" (%a = %x carried : !x, %b = %y carried : !y) -> (!x carried, !y carried) {
    %2 = pw.call @f(%a) label "0F" : (!x) -> !x
    %3 = pw.call @f(%b) label "0B" : (!y) -> !y
    pw.yield %2, %3 : !x, !y
  }
  pw.return %0, %1 : !x, !y
}

// -----

pw.slice @s mesh <"d" = 1>
pw.slice @t mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
!y = !pw.array<4xf32, @t>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
pw.program @layout(%x: !x, %y: !y) -> (!x, !y) {
  // expected-error@+1 {{has stage 3 on slice @t, but schedule 'zbv' wants it on @s, where stage 0 is}}
  %0, %1 = pw.for 3 schedule "zbv" (%a = %x carried : !x, %b = %y carried : !y) -> (!x carried, !y carried) {
    %2 = pw.call @f(%a) label "0F" : (!x) -> !x
    %3 = pw.call @f(%b) label "1F" : (!y) -> !y
    %4 = pw.call @f(%2) label "2F" : (!x) -> !x
    %5 = pw.call @f(%3) label "3F" : (!y) -> !y
    %6 = pw.call @f(%4) label "0I" : (!x) -> !x
    %7 = pw.call @f(%6) label "0W" : (!x) -> !x
    pw.yield %7, %5 : !x, !y
  }
  pw.return %0, %1 : !x, !y
}

// -----

pw.slice @s mesh <"d" = 1>
!x = !pw.array<4xf32, @s>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
pw.program @few(%x: !x) -> !x {
  // expected-error@+1 {{schedule 'dualpipe-v' on 1 slices needs at least 2 iterations, got 1}}
  %0 = pw.for 1 schedule "dualpipe-v" (%a = %x carried : !x) -> (!x carried) {
    %1 = pw.call @f(%a) label "0F" : (!x) -> !x
    %2 = pw.call @f(%1) label "1F" : (!x) -> !x
    pw.yield %2 : !x
  }
  pw.return %0 : !x
}
