// Results of a loop that nothing uses, that are equal, in another order, or
// computed by the condition, change nothing of what the loop carries.
// REQUIRES: pw-run
// RUN: pw-run %s --topology=1x1x1 --program=first --input=n=101 | FileCheck %s --check-prefix=FIRST
// FIRST: result0: f64 = 11
// RUN: pw-run %s --topology=1x1x1 --program=swapped --input=n=101 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: result0: f64 = 121
// SWAPPED-NEXT: result1: f64 = 11
// SWAPPED-NEXT: result2: f64 = 121
// RUN: pw-run %s --topology=1x1x1 --program=computed --input=n=101 | FileCheck %s --check-prefix=COMPUTED
// COMPUTED: result0: f64 = 242
// COMPUTED-NEXT: result1: f64 = 11

pw.slice @s mesh <>

// The first square that is not below n is carried, but no result.
func.func private @first.body(%n: tensor<f64>) -> tensor<f64> {
  %c0 = arith.constant dense<0.0> : tensor<f64>
  %c1 = arith.constant dense<1.0> : tensor<f64>
  %q:2 = scf.while (%a = %c1, %b = %c0) : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>) {
    %m = arith.cmpf olt, %b, %n : tensor<f64>
    %e = tensor.extract %m[] : tensor<i1>
    scf.condition(%e) %a, %b : tensor<f64>, tensor<f64>
  } do {
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %next = arith.addf %a, %c1 : tensor<f64>
    %square = arith.mulf %next, %next : tensor<f64>
    scf.yield %next, %square : tensor<f64>, tensor<f64>
  }
  return %q#0 : tensor<f64>
}

func.func private @swapped.body(%n: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
  %c0 = arith.constant dense<0.0> : tensor<f64>
  %c1 = arith.constant dense<1.0> : tensor<f64>
  %q:3 = scf.while (%a = %c1, %b = %c0) : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
    %m = arith.cmpf olt, %b, %n : tensor<f64>
    %e = tensor.extract %m[] : tensor<i1>
    scf.condition(%e) %b, %a, %b : tensor<f64>, tensor<f64>, tensor<f64>
  } do {
  ^bb0(%b: tensor<f64>, %a: tensor<f64>, %again: tensor<f64>):
    %next = arith.addf %a, %c1 : tensor<f64>
    %square = arith.mulf %next, %next : tensor<f64>
    scf.yield %next, %square : tensor<f64>, tensor<f64>
  }
  return %q#0, %q#1, %q#2 : tensor<f64>, tensor<f64>, tensor<f64>
}

func.func private @computed.body(%n: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %c0 = arith.constant dense<0.0> : tensor<f64>
  %c1 = arith.constant dense<1.0> : tensor<f64>
  %q:2 = scf.while (%a = %c1, %b = %c0) : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>) {
    %twice = arith.addf %b, %b : tensor<f64>
    %m = arith.cmpf olt, %b, %n : tensor<f64>
    %e = tensor.extract %m[] : tensor<i1>
    scf.condition(%e) %twice, %a : tensor<f64>, tensor<f64>
  } do {
  ^bb0(%twice: tensor<f64>, %a: tensor<f64>):
    %next = arith.addf %a, %c1 : tensor<f64>
    %square = arith.mulf %next, %next : tensor<f64>
    scf.yield %next, %square : tensor<f64>, tensor<f64>
  }
  return %q#0, %q#1 : tensor<f64>, tensor<f64>
}

pw.program @first(%n: !pw.array<f64, @s, []>) -> !pw.array<f64, @s, []> {
  %0 = pw.call @first.body(%n) : (!pw.array<f64, @s, []>) -> !pw.array<f64, @s, []>
  pw.return %0 : !pw.array<f64, @s, []>
}
pw.program @swapped(%n: !pw.array<f64, @s, []>) -> (!pw.array<f64, @s, []>, !pw.array<f64, @s, []>, !pw.array<f64, @s, []>) {
  %0:3 = pw.call @swapped.body(%n) : (!pw.array<f64, @s, []>) -> (!pw.array<f64, @s, []>, !pw.array<f64, @s, []>, !pw.array<f64, @s, []>)
  pw.return %0#0, %0#1, %0#2 : !pw.array<f64, @s, []>, !pw.array<f64, @s, []>, !pw.array<f64, @s, []>
}
pw.program @computed(%n: !pw.array<f64, @s, []>) -> (!pw.array<f64, @s, []>, !pw.array<f64, @s, []>) {
  %0:2 = pw.call @computed.body(%n) : (!pw.array<f64, @s, []>) -> (!pw.array<f64, @s, []>, !pw.array<f64, @s, []>)
  pw.return %0#0, %0#1 : !pw.array<f64, @s, []>, !pw.array<f64, @s, []>
}
