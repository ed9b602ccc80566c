// Custom calls @pw.for become loops of the program, whose bodies are cut into calls.
// RUN: pw-opt %s --split-input-file --pw-import-program 2>&1 | FileCheck %s
// RUN: pw-opt %s --split-input-file --pw-import-stablehlo | pw-opt --split-input-file > /dev/null

// A carried argument is where the body first reads it, and is donated to its only reader.
// A value that the loop captures is moved before the loop. The result of a loop is moved
// to where it is used.
// CHECK-LABEL: module @stages
// CHECK: pw.program @main(%xs: !pw.array<3x4xf32, @s0, [{}, {}]>, %w: !pw.array<4xf32, @s0, [{}]>)
// CHECK-NEXT: %[[ZERO:.*]] = pw.call @main.s1() : () -> !pw.array<4xf32, @s1, [{}]>
// CHECK-NEXT: %[[W:.*]] = pw.reshard %w
// CHECK-NEXT: %[[L:.*]]:2 = pw.for 3 schedule "1f1b" (%[[A:.*]] = %[[ZERO]] carried : !pw.array<4xf32, @s1, [{}]>, %[[X:.*]] = %xs stepped : !pw.array<3x4xf32, @s0, [{}, {}]> -> !pw.array<4xf32, @s0, [{}]>)
// CHECK-SAME: -> (!pw.array<4xf32, @s1, [{}]> carried, !pw.array<3x4xf32, @s0, [{}, {}]> stepped reversed)
// CHECK-NEXT: %[[Y:.*]]:2 = pw.call @main.s0.0F(%[[X]], %w) label "0F" recompute
// CHECK-NEXT: %[[Y1:.*]] = pw.reshard %[[Y]]#0
// CHECK-NEXT: %[[B:.*]] = pw.call @main.s1.1F(%[[A]], %[[Y1]], %[[W]]) donate(%[[A]]) label "1F"
// CHECK-NEXT: pw.yield %[[B]], %[[Y]]#1
// CHECK: %[[S:.*]] = pw.call @main.s1{{.*}}(%[[L]]#0)
// CHECK-NEXT: pw.return %[[S]], %[[L]]#1
// CHECK-NOT: @body
module @stages {
  func.func public @main(%arg0: tensor<3x4xf32> loc("xs"), %arg1: tensor<4xf32> loc("w"))
      -> (tensor<4xf32>, tensor<3x4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
    %0:2 = "stablehlo.custom_call"(%zero, %arg0, %arg1) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body],
      backend_config = {trips = 3 : i64, operands = ["carried", "stepped", "captured"], results = ["carried", "stepped reversed"], schedule = "1f1b"}}>
      : (tensor<4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
    %1 = stablehlo.sine %0#0 {mhlo.frontend_attributes = {pw_slice = "s1"}} : tensor<4xf32>
    return %1, %0#1 : tensor<4xf32>, tensor<3x4xf32>
  }
  func.func private @body(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.multiply %arg1, %arg2 {mhlo.frontend_attributes = {pw_label = "0F", pw_recompute = "true", pw_slice = "s0"}} : tensor<4xf32>
    %1 = stablehlo.negate %0 {mhlo.frontend_attributes = {pw_label = "0F", pw_slice = "s0"}} : tensor<4xf32>
    %2 = stablehlo.add %arg0, %0 {mhlo.frontend_attributes = {pw_label = "1F", pw_slice = "s1"}} : tensor<4xf32>
    %3 = stablehlo.multiply %2, %arg2 {mhlo.frontend_attributes = {pw_label = "1F", pw_slice = "s1"}} : tensor<4xf32>
    return %3, %1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----
// Without slices the program has one. Loops nest. A carried value that is also captured, or
// whose first array the caller keeps, is not donated.
// CHECK-LABEL: module @nested
// CHECK: pw.slice @devices mesh <>
// CHECK: pw.for 2 (%[[X:.*]] = %x carried : !pw.array<4xf32, @devices, [{}]>)
// CHECK-NEXT: %[[I:.*]] = pw.for 5 label "0F" (%[[Y:.*]] = %[[X]] carried
// CHECK-NEXT: %[[Z:.*]] = pw.call @main.devices(%[[Y]], %[[X]]) :
// CHECK-NEXT: pw.yield %[[Z]]
// CHECK: pw.yield %[[I]]
module @nested {
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@outer],
      backend_config = {trips = 2 : i64, operands = ["carried"], results = ["carried"]}}> : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @outer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.custom_call"(%arg0, %arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@inner],
      backend_config = {trips = 5 : i64, operands = ["carried", "captured"], results = ["carried"], label = "0F"}}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @inner(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----
// An operand that is cut in its leading dimension is resharded before it is stepped.
// CHECK-LABEL: module @cut
// CHECK: %[[X:.*]] = pw.reshard %x : !pw.array<4x6xf32, @devices, [{"d"}, {}]> -> !pw.array<4x6xf32, @devices, [{}, {}]>
// CHECK-NEXT: pw.for 4 (%{{.*}} = %[[X]] stepped : !pw.array<4x6xf32, @devices, [{}, {}]> -> !pw.array<6xf32, @devices, [{}]>)
module @cut {
  sdy.mesh @mesh = <["d"=2]>
  func.func public @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>} loc("x")) -> tensor<4x6xf32> {
    %0 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body],
      backend_config = {trips = 4 : i64, operands = ["stepped"], results = ["stepped"]}}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
  func.func private @body(%arg0: tensor<6xf32>) -> tensor<6xf32> {
    %0 = stablehlo.sine %arg0 : tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----
// Loops may have the same body. The operations of each take the mark of their loop. What is
// captured may come first.
// CHECK-LABEL: module @shared
// CHECK: pw.program @main(%x: !pw.array<4xf32, @s0, [{}]>, %w: !pw.array<4xf32, @s0, [{}]>)
// CHECK-NEXT: %[[A:.*]] = pw.for 2 (%[[X:.*]] = %x carried
// CHECK-NEXT: pw.call @main.s0(%[[X]], %w) :
// CHECK: %[[MOVED:.*]] = pw.reshard %[[A]]
// CHECK-NEXT: %[[W:.*]] = pw.reshard %w
// CHECK-NEXT: pw.for 3 (%[[Y:.*]] = %[[MOVED]] carried
// CHECK-NEXT: pw.call @main.s1(%[[Y]], %[[W]]) donate(%[[Y]]) :
// CHECK-NOT: @body
module @shared {
  func.func public @main(%arg0: tensor<4xf32> loc("x"), %arg1: tensor<4xf32> loc("w")) -> tensor<4xf32> {
    %0 = "stablehlo.custom_call"(%arg1, %arg0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body],
      backend_config = {trips = 2 : i64, operands = ["captured", "carried"], results = ["carried"]}}>
      {mhlo.frontend_attributes = {pw_slice = "s0"}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.custom_call"(%arg1, %0) <{api_version = 4 : i32, call_target_name = "pw.for", called_computations = [@body],
      backend_config = {trips = 3 : i64, operands = ["captured", "carried"], results = ["carried"]}}>
      {mhlo.frontend_attributes = {pw_slice = "s1"}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @body(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.subtract %arg1, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
