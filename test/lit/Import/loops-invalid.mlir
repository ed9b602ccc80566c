// RUN: pw-opt %s --split-input-file --verify-diagnostics --pw-import-program

// The body is not named.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop expected one called computation, its body [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// There is no such body.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop has the body 'other', which is no function with one block [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@other], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// The body takes other arguments.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop has 1 operands and 1 results, but its body has 2 and 1 [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@two], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @two(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// There is no configuration.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop expected 'backend_config' to have the number 'trips' and the lists 'operands' and 'results' [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body], backend_config = {trips = 2 : i64}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// It never runs.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop runs 0 times, expected from 1 to 16777216 [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body], backend_config = {trips = 0 : i64, operands = ["carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// A schedule has a name.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop has an empty schedule or label [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["carried"], schedule = ""}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// The word is wrong.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop takes an operand as "kept"; expected "carried", "stepped", "stepped reversed" or "captured" [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body], backend_config = {trips = 2 : i64, operands = ["kept"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// A result is not captured.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop makes a result as "captured"; expected "carried", "stepped" or "stepped reversed" [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["captured"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// There is a word too many.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop has 1 operands and 1 results, but 'backend_config' has words for 2 and 1, and needs a result [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body], backend_config = {trips = 2 : i64, operands = ["carried", "carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// Nothing is carried on.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop has 1 carried operands, but 0 carried results [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["stepped"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// The operand has no index of an iteration.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop steps through operand 0 of type 'tensor<4xf32>' in 2 iterations, but one of them has 'tensor<4xf32>' [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body], backend_config = {trips = 2 : i64, operands = ["stepped"], results = ["stepped"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
// -----
// The carried value changes its type.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop carries result 0 of type 'tensor<4xf32>' from 'tensor<4xf32>', but its body returns 'tensor<8xf32>' [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@longer], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @longer(%arg0: tensor<4xf32>) -> tensor<8xf32> {
  %0 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// -----
// The body takes another type.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop has operand 0 of type 'tensor<4xf32>', but its body takes 'tensor<2xf32>' [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@shorter], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @shorter(%arg0: tensor<2xf32>) -> tensor<4xf32> {
  %0 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// A body does not contain its own loop.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@again], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @again(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{of a loop is in its own body 'again' [PW1321]}}
  %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@again], backend_config = {trips = 2 : i64, operands = ["carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// A mark has one value.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the mark 'pw_recompute = "no"'; expected "true" [PW1321]}}
  %0 = stablehlo.sine %arg0 {mhlo.frontend_attributes = {pw_recompute = "no"}} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
