// RUN: pw-opt %s --split-input-file --verify-diagnostics --pw-import-program

// expected-error@+1 {{expected a function @main with a body, which becomes the program; the public functions are @f, @g [PW1301]}}
module {
  func.func @f() { return }
  func.func @g() { return }
  func.func private @h() { return }
}
// -----
// expected-error@+1 {{which becomes the program; no function is public [PW1301]}}
module {
  func.func private @h() { return }
}
// -----
// expected-note@+1 {{the program is here}}
func.func @main() { return }
// expected-error@+1 {{is public besides @main; expected one public function [PW1301]}}
func.func @other() { return }
// -----
// expected-error@+1 {{argument 0 of @main has type 'tensor<?xf32>', whose sizes are not all static [PW1302]}}
func.func @main(%arg0: tensor<?xf32>) { return }
// -----
// expected-error@+1 {{result 0 of @main has type '!stablehlo.token'; expected a tensor [PW1302]}}
func.func @main() -> !stablehlo.token {
  %0 = stablehlo.create_token : !stablehlo.token
  return %0 : !stablehlo.token
}
// -----
// expected-error@+1 {{the module is partitioned: 'mhlo.num_replicas' is 8, expected 1 [PW1303]}}
module attributes {mhlo.num_replicas = 8 : i32} {
  func.func @main() { return }
}
// -----
func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error@+1 {{expected 'check.expect_eq' to take two tensors of one type}}
  stablehlo.custom_call @check.expect_eq(%arg0, %arg1) : (tensor<2xf32>, tensor<3xf32>) -> ()
  return
}
// -----
func.func @main(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{calls 'check.expect_near', which is not known; expected check.expect_eq, check.expect_close or check.expect_almost_eq}}
  stablehlo.custom_call @check.expect_near(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}
// -----
func.func @main(%arg0: tensor<i32>) {
  "stablehlo.case"(%arg0) ({
    // expected-error@+1 {{checks a value inside of a region; expected checks in functions only}}
    check.expect_eq_const %arg0, dense<1> : tensor<i32>
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}
// -----
func.func @main() {
  call @loop() : () -> ()
  return
}
// expected-error@+1 {{calls itself [PW1104]}}
func.func private @loop() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  check.expect_eq_const %0, dense<1> : tensor<i32>
  call @loop() : () -> ()
  return
}
