// RUN: pw-opt %s --pw-lower-stablehlo | FileCheck %s

// A loop over the rows of an array, as scans are: the counter is the induction
// variable, what stays is not carried, and no place needs to be clamped.
// CHECK-LABEL: @scan
// CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %c0 to %c5 step %c1 iter_args(%[[CARRY:.*]] = %arg1) -> (tensor<1x3xf32>) {
// CHECK: %[[ROW:.*]] = tensor.extract_slice %arg0[%[[I]], 0] [1, 3] [1, 1]
// CHECK: %[[NEXT:.*]] = func.call @body(%[[CARRY]], %[[ROW]])
// CHECK: scf.yield %[[NEXT]] : tensor<1x3xf32>
// CHECK: %[[END:.*]] = tensor.from_elements %c5_i32
// CHECK: return %[[SUM]], %[[END]]
func.func @scan(%x: tensor<5x3xf32>, %c: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%xs = %x, %i = %zero, %a = %c) : tensor<5x3xf32>, tensor<i32>, tensor<1x3xf32>
   cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %next = func.call @body(%a, %row) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %xs, %j, %next : tensor<5x3xf32>, tensor<i32>, tensor<1x3xf32>
  }
  return %r#2, %r#1 : tensor<1x3xf32>, tensor<i32>
}
func.func private @body(%a: tensor<1x3xf32>, %x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = stablehlo.add %a, %x : tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// A counter that shrinks by 3: 10, 7, 4, 1 run, and -2 is left.
// CHECK-LABEL: @down
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1 iter_args
// CHECK: %[[FALL:.*]] = arith.muli %[[I]], %c-3
// CHECK: %[[FALLEN:.*]] = arith.index_cast %[[FALL]] : index to i32
// CHECK: arith.addi %c10_i32, %[[FALLEN]]
// CHECK: tensor.from_elements %c-2_i32
func.func @down(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %step = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %ten, %a = %x) : tensor<i32>, tensor<i32>
   cond {
    %p = stablehlo.compare LE, %one, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %b = stablehlo.add %a, %i : tensor<i32>
    %j = stablehlo.subtract %i, %step : tensor<i32>
    stablehlo.return %j, %b : tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// The limit is computed before the loop. Without an iteration the counter stays
// as it is.
// CHECK-LABEL: @computed_limit
// CHECK: %[[LIMIT:.*]] = tensor.extract %{{.*}}[] : tensor<i32>
// CHECK: %[[RUNS:.*]] = arith.cmpi ult, %c2_i32, %[[LIMIT]]
// CHECK: %[[LAST:.*]] = arith.select %[[RUNS]], %[[LIMIT]], %c2_i32
// CHECK: %[[UPPER:.*]] = arith.index_castui %[[LIMIT]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[UPPER]] step %c1 iter_args
// CHECK: tensor.from_elements %[[LAST]]
func.func @computed_limit(%n: tensor<ui32>, %x: tensor<f32>) -> (tensor<ui32>, tensor<f32>) {
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %r:2 = stablehlo.while(%i = %two, %a = %x) : tensor<ui32>, tensor<f32>
   cond {
    %limit = stablehlo.multiply %n, %n : tensor<ui32>
    %p = stablehlo.compare LT, %i, %limit, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %b = stablehlo.add %a, %a : tensor<f32>
    %j = stablehlo.add %i, %one : tensor<ui32>
    stablehlo.return %j, %b : tensor<ui32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<ui32>, tensor<f32>
}

// A counter that would wrap, and a limit that changes, are not counted.
// CHECK-LABEL: @not_counted
// CHECK: scf.while (%[[I:.*]] = %{{.*}}) : (tensor<i8>) -> tensor<i8> {
// CHECK: %[[RUNS:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK: scf.condition(%[[RUNS]]) %[[I]] : tensor<i8>
// CHECK: scf.while (%[[I:.*]] = %{{.*}}, %[[LIMIT:.*]] = %arg0) : (tensor<i8>, tensor<i8>)
// CHECK: scf.condition(%{{.*}}) %[[I]], %[[LIMIT]]
func.func @not_counted(%n: tensor<i8>) -> (tensor<i8>, tensor<i8>) {
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %three = stablehlo.constant dense<3> : tensor<i8>
  %most = stablehlo.constant dense<127> : tensor<i8>
  %r = stablehlo.while(%i = %zero) : tensor<i8>
   cond {
    %p = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %three : tensor<i8>
    stablehlo.return %j : tensor<i8>
  }
  %s:2 = stablehlo.while(%i = %zero, %limit = %n) : tensor<i8>, tensor<i8>
   cond {
    %p = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %three : tensor<i8>
    %less = stablehlo.subtract %limit, %three : tensor<i8>
    stablehlo.return %j, %less : tensor<i8>, tensor<i8>
  }
  return %r, %s#0 : tensor<i8>, tensor<i8>
}

// CHECK-LABEL: @if
// CHECK: %[[PRED:.*]] = tensor.extract %arg0[]
// CHECK: %[[R:.*]]:2 = scf.if %[[PRED]] -> (tensor<i32>, tensor<i32>) {
// CHECK: %[[SUM:.*]] = arith.addi %arg1, %arg1
// CHECK: scf.yield %[[SUM]], %arg1
// CHECK: else
// CHECK: scf.yield %arg1, %arg1
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @if(%p: tensor<i1>, %x: tensor<ui32>) -> (tensor<ui32>, tensor<ui32>) {
  %r:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.add %x, %x : tensor<ui32>
    stablehlo.return %1, %x : tensor<ui32>, tensor<ui32>
  }, {
    stablehlo.return %x, %x : tensor<ui32>, tensor<ui32>
  }) : (tensor<i1>) -> (tensor<ui32>, tensor<ui32>)
  return %r#0, %r#1 : tensor<ui32>, tensor<ui32>
}

// A number out of range takes the last branch.
// CHECK-LABEL: @case
// CHECK: %[[INDEX:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.index_switch %[[INDEX]] -> tensor<f32>
// CHECK: case 0 {
// CHECK-NEXT: scf.yield %arg1
// CHECK: case 1 {
// CHECK-NEXT: scf.yield %arg2
// CHECK: default {
// CHECK-NEXT: arith.addf
// CHECK: arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK: scf.if
// CHECK: scf.yield %arg1
// CHECK: scf.yield %arg2
// CHECK: return %{{.*}}, %{{.*}}, %arg1
func.func @case(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f32>
  }, {
    %3 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  %2 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// Tokens disappear, and tuples become their elements, also around loops and calls.
// CHECK-LABEL: @tokens(
// CHECK-SAME: %arg0: tensor<f32>, %arg1: tensor<i1>) -> tensor<f32>
// CHECK: %[[R:.*]] = scf.while (%[[X:.*]] = %arg0) : (tensor<f32>) -> tensor<f32> {
// CHECK: tensor.extract %arg1[]
// CHECK: scf.yield %{{.*}} : tensor<f32>
// CHECK: %[[S:.*]] = call @through(%[[R]]) : (tensor<f32>) -> tensor<f32>
// CHECK: return %[[S]] : tensor<f32>
func.func @tokens(%x: tensor<f32>, %p: tensor<i1>, %t: !stablehlo.token) -> (tensor<f32>, !stablehlo.token) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0, %t : !stablehlo.token
  %2 = stablehlo.tuple %x, %1 : tuple<tensor<f32>, !stablehlo.token>
  %3:2 = stablehlo.while(%tuple = %2, %q = %p) : tuple<tensor<f32>, !stablehlo.token>, tensor<i1>
   cond {
    stablehlo.return %q : tensor<i1>
  } do {
    %5 = stablehlo.get_tuple_element %tuple[0] : (tuple<tensor<f32>, !stablehlo.token>) -> tensor<f32>
    %6 = stablehlo.get_tuple_element %tuple[1] : (tuple<tensor<f32>, !stablehlo.token>) -> !stablehlo.token
    %7:2 = stablehlo.optimization_barrier %5, %6 : tensor<f32>, !stablehlo.token
    %8 = stablehlo.add %7#0, %7#0 : tensor<f32>
    %9 = stablehlo.tuple %8, %7#1 : tuple<tensor<f32>, !stablehlo.token>
    stablehlo.return %9, %q : tuple<tensor<f32>, !stablehlo.token>, tensor<i1>
  }
  %4:2 = call @through(%3#0) : (tuple<tensor<f32>, !stablehlo.token>) -> (tensor<f32>, !stablehlo.token)
  return %4#0, %4#1 : tensor<f32>, !stablehlo.token
}
func.func private @through(%x: tuple<tensor<f32>, !stablehlo.token>) -> (tensor<f32>, !stablehlo.token) {
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>, !stablehlo.token>) -> tensor<f32>
  %1 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<f32>, !stablehlo.token>) -> !stablehlo.token
  return %0, %1 : tensor<f32>, !stablehlo.token
}

// CHECK-LABEL: @placement
// CHECK-NEXT: return %arg0
func.func @placement(%x: tensor<ui8>) -> tensor<ui8> {
  %0 = stablehlo.custom_call @annotate_device_placement(%x) {has_side_effect = true} : (tensor<ui8>) -> tensor<ui8>
  return %0 : tensor<ui8>
}
