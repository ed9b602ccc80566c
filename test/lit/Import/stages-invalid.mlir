// RUN: pw-opt %s --split-input-file --verify-diagnostics --pw-import-program="slices=front,back"

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{slice 'frnt' is not declared; the nearest is 'front' [PW1321]}}
  %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_slice = "frnt"}} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the mark 'pw_slise = "front"'; expected 'pw_slice' or 'pw_label' with a string [PW1321]}}
  %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_slise = "front"}} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the mark 'pw_label = 0 : i64'; expected 'pw_slice' or 'pw_label' with a string [PW1321]}}
  %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_label = 0 : i64}} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 'pw_label' to have 1 to 64 letters, digits, '_', '-' or '.', got '0 F' [PW1321]}}
  %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_label = "0 F", pw_slice = "front"}} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// A branch is on one slice.
func.func @main(%arg0: tensor<i1>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{contains operations on the slices "front" and "back"; expected one slice, unless it is a loop with a constant number of iterations [PW1321]}}
  %0 = "stablehlo.if"(%arg0) ({
    %1 = stablehlo.sine %arg1 {mhlo.frontend_attributes = {pw_slice = "front"}} : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.cosine %arg1 {mhlo.frontend_attributes = {pw_slice = "back"}} : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// The number of iterations is an argument.
func.func @main(%arg0: tensor<i32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-error@+1 {{contains operations on the slices "front" and "back"; expected one slice, unless it is a loop with a constant number of iterations [PW1321]}}
  %0:2 = stablehlo.while(%i = %zero, %x = %arg1) : tensor<i32>, tensor<4xf32>
   cond {
    %p = stablehlo.compare LT, %i, %arg0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.sine %x {mhlo.frontend_attributes = {pw_slice = "front"}} : tensor<4xf32>
    %2 = stablehlo.cosine %1 {mhlo.frontend_attributes = {pw_slice = "back"}} : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %2 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
// -----
// A loop with a check cannot become a pw.for, and has too many iterations to be
// written out.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-error@+1 {{contains operations on the slices "front" and "back", and its 20000 iterations have 120000 operations; expected at most 50000 (max-ops), since it cannot become a pw.for: an operation in its body has no results [PW1321]}}
  %0:2 = stablehlo.while(%i = %zero, %x = %arg0) : tensor<i32>, tensor<4xf32>
   cond {
    %n = stablehlo.constant dense<20000> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.sine %x {mhlo.frontend_attributes = {pw_slice = "front"}} : tensor<4xf32>
    %2 = stablehlo.cosine %1 {mhlo.frontend_attributes = {pw_slice = "back"}} : tensor<4xf32>
    check.expect_eq %1, %x : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %2 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
// -----
// A loop with a check becomes a sequence of operations.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-remark@+1 {{is written out, since it cannot become a pw.for: an operation in its body has no results}}
  %0:2 = stablehlo.while(%i = %zero, %x = %arg0) : tensor<i32>, tensor<4xf32>
   cond {
    %n = stablehlo.constant dense<2> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.sine %x {mhlo.frontend_attributes = {pw_slice = "front"}} : tensor<4xf32>
    %2 = stablehlo.cosine %1 {mhlo.frontend_attributes = {pw_slice = "back"}} : tensor<4xf32>
    check.expect_eq %1, %x : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %2 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
// -----
// A loop without results to compute has nothing to be a pw.for for.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // expected-remark@+1 {{is written out, since it cannot become a pw.for: it has no results}}
  %0:2 = stablehlo.while(%i = %zero, %x = %arg0) : tensor<i32>, tensor<4xf32>
   cond {
    %n = stablehlo.constant dense<2> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.sine %x {mhlo.frontend_attributes = {pw_slice = "front"}} : tensor<4xf32>
    %2 = stablehlo.cosine %1 {mhlo.frontend_attributes = {pw_slice = "back"}} : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %x : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
// -----
// One call with a label would need its own result.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_label = "0", pw_slice = "front"}} : tensor<4xf32>
  %1 = stablehlo.cosine %0 {mhlo.frontend_attributes = {pw_slice = "back"}} : tensor<4xf32>
  // expected-remark@+1 {{slice 'front' with label '0' becomes several calls, because one would need a result of its own: 'front.0' -> 'back' -> 'front.0'}}
  %2 = stablehlo.tanh %1 {mhlo.frontend_attributes = {pw_label = "0", pw_slice = "front"}} : tensor<4xf32>
  return %2 : tensor<4xf32>
}
