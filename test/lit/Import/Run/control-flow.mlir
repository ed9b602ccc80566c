// Loops and branches.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 10 checks

module @m {
  func.func public @main() {
    %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %ten = stablehlo.constant dense<10> : tensor<i32>

    // A scan keeps the sums of all rows so far.
    %row0 = stablehlo.constant dense<0> : tensor<1x2xi32>
    %out0 = stablehlo.constant dense<0> : tensor<3x2xi32>
    %a:3 = stablehlo.while(%i = %zero, %sum = %row0, %out = %out0) : tensor<i32>, tensor<1x2xi32>, tensor<3x2xi32>
     cond {
      %p = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 2] : (tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
      %next = func.call @sum(%sum, %row) : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
      %kept = stablehlo.dynamic_update_slice %out, %next, %i, %zero : (tensor<3x2xi32>, tensor<1x2xi32>, tensor<i32>, tensor<i32>) -> tensor<3x2xi32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %kept : tensor<i32>, tensor<1x2xi32>, tensor<3x2xi32>
    }
    %wa = stablehlo.constant dense<[[1, 2], [4, 6], [9, 12]]> : tensor<3x2xi32>
    stablehlo.custom_call @check.expect_eq(%a#2, %wa) {has_side_effect = true} : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%a#0, %three) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()

    // A counter from 10 by -3 has the values 10, 7, 4 and 1, and then -2.
    %b:2 = stablehlo.while(%i = %ten, %sum = %zero) : tensor<i32>, tensor<i32>
     cond {
      %p = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %sum, %i : tensor<i32>
      %j = stablehlo.subtract %i, %three : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, tensor<i32>
    }
    %wb0 = stablehlo.constant dense<-2> : tensor<i32>
    %wb1 = stablehlo.constant dense<22> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%b#0, %wb0) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    stablehlo.custom_call @check.expect_eq(%b#1, %wb1) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()

    // A loop that does not run leaves all as it is.
    %c:2 = stablehlo.while(%i = %ten, %sum = %zero) : tensor<i32>, tensor<i32>
     cond {
      %p = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %i : tensor<i32>, tensor<i32>
    }
    stablehlo.custom_call @check.expect_eq(%c#0, %ten) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    stablehlo.custom_call @check.expect_eq(%c#1, %zero) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()

    // A counter of ui8 wraps: 250, 254, 2, 6.
    %ub = stablehlo.constant dense<250> : tensor<ui8>
    %us = stablehlo.constant dense<4> : tensor<ui8>
    %ul = stablehlo.constant dense<6> : tensor<ui8>
    %d:2 = stablehlo.while(%i = %ub, %n = %zero) : tensor<ui8>, tensor<i32>
     cond {
      %p = stablehlo.compare NE, %i, %ul, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %us : tensor<ui8>
      %m = stablehlo.add %n, %one : tensor<i32>
      stablehlo.return %j, %m : tensor<ui8>, tensor<i32>
    }
    stablehlo.custom_call @check.expect_eq(%d#1, %three) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()

    // The condition depends on what the loop computes: 1, 2, 4, 8, 16.
    %e = stablehlo.while(%v = %one) : tensor<i32>
     cond {
      %p = stablehlo.compare LT, %v, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %v2 = stablehlo.add %v, %v : tensor<i32>
      stablehlo.return %v2 : tensor<i32>
    }
    %we = stablehlo.constant dense<16> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%e, %we) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()

    // A number below 0 takes the last branch.
    %f = "stablehlo.case"(%wb0) ({
      stablehlo.return %zero : tensor<i32>
    }, {
      stablehlo.return %one : tensor<i32>
    }, {
      %f3 = stablehlo.add %ten, %three : tensor<i32>
      stablehlo.return %f3 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %wf = stablehlo.constant dense<13> : tensor<i32>
    stablehlo.custom_call @check.expect_eq(%f, %wf) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    %q = stablehlo.compare EQ, %f, %wf, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %g = "stablehlo.if"(%q) ({
      stablehlo.return %one : tensor<i32>
    }, {
      stablehlo.return %zero : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    stablehlo.custom_call @check.expect_eq(%g, %one) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    return
  }
  func.func private @sum(%a: tensor<1x2xi32>, %b: tensor<1x2xi32>) -> tensor<1x2xi32> {
    %0 = stablehlo.add %a, %b : tensor<1x2xi32>
    return %0 : tensor<1x2xi32>
  }
}
