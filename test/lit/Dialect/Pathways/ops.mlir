// Every operation and attribute prints what it parses, in both syntaxes and in
// bytecode.
// RUN: pw-opt %s > %t.once && pw-opt %t.once | diff %t.once - && FileCheck %s < %t.once
// RUN: pw-opt %s --mlir-print-op-generic | pw-opt | diff %t.once -
// RUN: pw-opt %s --emit-bytecode -o %t.bc && pw-opt %t.bc | diff %t.once -

// CHECK: module attributes {test.expect = [#pw.expect<eq, result 1>, #pw.expect<close, result 2, min_ulp 1, max_ulp 3>, #pw.expect<close, result 3>, #pw.expect<almost_eq, result 4, tolerance 1.000000e-03>], test.mesh = #pw.mesh<>, test.mesh2 = #pw.mesh<"a b" = 3>, test.sharding = #pw.sharding<[{"x", "y"}, {}] partial min {"z"}>}
module attributes {
  test.expect = [#pw.expect<eq, result 1>, #pw.expect<close, result 2, min_ulp 1, max_ulp 3>,
                 #pw.expect<close, result 3>, #pw.expect<almost_eq, result 4, tolerance 1.0e-3>],
  test.mesh = #pw.mesh<>, test.mesh2 = #pw.mesh<"a b" = 3>,
  test.sharding = #pw.sharding<[{"x", "y"}, {}] partial min {"z"}>} {

// CHECK: pw.slice @front mesh <"data" = 2, "model" = 2>
pw.slice @front mesh <"data" = 2, "model" = 2>
// CHECK: pw.slice @back mesh <"data" = 4> kind "cpu" apart_from [@front]
pw.slice @back mesh <"data" = 4> kind "cpu" apart_from [@front]
// CHECK: pw.slice @one mesh <> with [@front]
pw.slice @one mesh <> with [@front]

// CHECK: pw.bind @front to island 0 devices base 0 strides [2, 1]{{$}}
pw.bind @front to island 0 devices base 0 strides [2, 1]
// CHECK: pw.bind @back to island 1 devices [3, 1, 2, 0]
pw.bind @back to island 1 devices [3, 1, 2, 0]
// CHECK: pw.slice @wide mesh <"x" = 2, "y" = 3> spans 2 islands kind "cpu"
pw.slice @wide mesh <"x" = 2, "y" = 3> spans 2 islands kind "cpu"
// CHECK: pw.bind @wide to island 1 devices base 0 strides [3, 1] span 3 also islands [0] bases [4]
pw.bind @wide to island 1 devices base 0 strides [3, 1] span 3 also islands [0] bases [4]
// CHECK: pw.slice @wider mesh <"x" = 3> spans 3 islands
pw.slice @wider mesh <"x" = 3> spans 3 islands
// CHECK: pw.bind @wider to island 1 devices [5, 6, 5] also islands [0, 2]
pw.bind @wider to island 1 devices [5, 6, 5] also islands [0, 2]
// CHECK: pw.bind @one to island 0 devices base 4 strides [] span 3
pw.bind @one to island 0 devices base 4 strides [] span 3

// CHECK-LABEL: func.func private @local
func.func private @local(%x: tensor<4x8xf32> {pw.accepts_partial}) -> tensor<4x8xf32>
    attributes {pw.local_view} {
  // CHECK: pw.all_reduce %{{.*}} add over ["model"] : tensor<4x8xf32>
  %0 = pw.all_reduce %x add over ["model"] : tensor<4x8xf32>
  // CHECK: pw.all_gather %{{.*}} dim 0 over ["data"] : tensor<4x8xf32> -> tensor<8x8xf32>
  %1 = pw.all_gather %0 dim 0 over ["data"] : tensor<4x8xf32> -> tensor<8x8xf32>
  // CHECK: pw.reduce_scatter %{{.*}} max dim 0 over ["data"] : tensor<8x8xf32> -> tensor<4x8xf32>
  %2 = pw.reduce_scatter %1 max dim 0 over ["data"] : tensor<8x8xf32> -> tensor<4x8xf32>
  // CHECK: pw.all_to_all %{{.*}} split 0 concat 1 over ["model"] : tensor<4x8xf32> -> tensor<2x16xf32>
  %3 = pw.all_to_all %2 split 0 concat 1 over ["model"] : tensor<4x8xf32> -> tensor<2x16xf32>
  %4 = pw.all_to_all %3 split 1 concat 0 over ["model"] : tensor<2x16xf32> -> tensor<4x8xf32>
  // CHECK: pw.permute %{{.*}} shift -1 over ["data", "model"] wrap : tensor<4x8xf32>
  %5 = pw.permute %4 shift -1 over ["data", "model"] wrap : tensor<4x8xf32>
  // CHECK: pw.permute %{{.*}} shift 1 over ["data"] : tensor<4x8xf32>
  %6 = pw.permute %5 shift 1 over ["data"] : tensor<4x8xf32>
  // CHECK: pw.permute %{{.*}} pairs {{\[\[}}0, 1], [1, 0], [1, 3]] over ["data", "model"] : tensor<4x8xf32>
  %7 = pw.permute %6 pairs [[0, 1], [1, 0], [1, 3]] over ["data", "model"] : tensor<4x8xf32>
  // CHECK: pw.broadcast %{{.*}} from 1 over ["model"] : tensor<4x8xf32>
  %8 = pw.broadcast %7 from 1 over ["model"] : tensor<4x8xf32>
  // CHECK: pw.step_index : index
  %step = pw.step_index : index
  // CHECK: pw.shard_index "model" : index
  %i = pw.shard_index "model" : index
  // CHECK: pw.valid_extent %{{.*}}, 1 : tensor<4x8xf32>
  %n = pw.valid_extent %x, 1 : tensor<4x8xf32>
  return %8 : tensor<4x8xf32>
}

// CHECK: func.func private @global{{.*}} attributes {pw.pointwise}
func.func private @global(%x: tensor<f32>) -> tensor<f32> attributes {pw.pointwise} {
  return %x : tensor<f32>
}

// Names of arguments are their SSA names; others are printed.
// CHECK-LABEL: pw.program @names(
// CHECK-SAME: %x: !pw.array<f32, @one, []>,
// CHECK-SAME: %arg1: !pw.array<f32, @one, []>,
// CHECK-SAME: %a_b: !pw.array<f32, @one, []> {pw.name = "a b"},
// CHECK-SAME: %x_0: !pw.array<f32, @one, []> {pw.name = "x 0", pw.stepped})
// CHECK-SAME: -> (!pw.array<f32, @one, []> {pw.name = "r", pw.stepped}, !pw.array<f32, @one, []>)
pw.program @names(%x: !pw.array<f32, @one, []>, %1: !pw.array<f32, @one, []>,
                  %y: !pw.array<f32, @one, []> {pw.name = "a b"},
                  %z: !pw.array<f32, @one, []> {pw.name = "x 0", pw.stepped})
    -> (!pw.array<f32, @one, []> {pw.name = "r", pw.stepped}, !pw.array<f32, @one, []>)
    attributes {test.note} {
  // CHECK: pw.return %x, %arg1 : !pw.array<f32, @one, []>, !pw.array<f32, @one, []>
  pw.return %x, %1 : !pw.array<f32, @one, []>, !pw.array<f32, @one, []>
}

// CHECK: pw.program @empty() {
// CHECK-NEXT: pw.return
pw.program @empty() {
  pw.return
}

// CHECK-LABEL: pw.program private @body
pw.program private @body(%x: !pw.array<8x8xf32, @front, [{"data"}, {}] partial add {"model"}>,
                         %w: !pw.array<f32, @one, []> {pw.carried = 0 : i64})
    -> (!pw.array<f32, @one, []>, !pw.array<8x8xf32, @back, [{}, {"data"}]>) {
  // CHECK: %[[W:.*]] = pw.call @global(%w) donate(%w) : (!pw.array<f32, @one, []>) -> !pw.array<f32, @one, []>
  %0 = pw.call @global(%w) donate(%w) : (!pw.array<f32, @one, []>) -> !pw.array<f32, @one, []>
  // CHECK: %[[X:.*]] = pw.call @local(%x) after(%[[W]] : !pw.array<f32, @one, []>) label "0F" {test.note = 1 : i64} :
  // CHECK-SAME: (!pw.array<8x8xf32, @front, [{"data"}, {}] partial add {"model"}>) -> !pw.array<8x8xf32, @front, [{"data"}, {}]>
  %1 = pw.call @local(%x) after(%0 : !pw.array<f32, @one, []>) label "0F" {test.note = 1}
      : (!pw.array<8x8xf32, @front, [{"data"}, {}] partial add {"model"}>) -> !pw.array<8x8xf32, @front, [{"data"}, {}]>
  // CHECK: %[[R:.*]] = pw.reshard %[[X]] : !pw.array<8x8xf32, @front, [{"data"}, {}]> -> !pw.array<8x8xf32, @back, [{"data"}, {}]>
  %2 = pw.reshard %1 : !pw.array<8x8xf32, @front, [{"data"}, {}]> -> !pw.array<8x8xf32, @back, [{"data"}, {}]>
  // CHECK: %[[T:.*]] = pw.transfer %[[R]] : !pw.array<8x8xf32, @back, [{"data"}, {}]> -> !pw.array<8x8xf32, @back, [{}, {"data"}]>
  %3 = pw.transfer %2 : !pw.array<8x8xf32, @back, [{"data"}, {}]> -> !pw.array<8x8xf32, @back, [{}, {"data"}]>
  // CHECK: pw.copy %[[T]] : !pw.array<8x8xf32, @back, [{}, {"data"}]>
  %4 = pw.copy %3 : !pw.array<8x8xf32, @back, [{}, {"data"}]>
  pw.return %0, %4 : !pw.array<f32, @one, []>, !pw.array<8x8xf32, @back, [{}, {"data"}]>
}

// An uneven operand of a body that asks what is valid.
func.func private @sum(%x: tensor<3xi8>) -> tensor<3xi8> attributes {pw.local_view} {
  %n = pw.valid_extent %x, 0 : tensor<3xi8>
  return %x : tensor<3xi8>
}
pw.program @uneven(%x: !pw.array<5xi8, @front, [{"model"}]>, %e: !pw.array<0x3xbf16, @back, [{"data"}, {}]>)
    -> (!pw.array<5xi8, @front, [{"model"}]>) {
  %0 = pw.call @sum(%x) : (!pw.array<5xi8, @front, [{"model"}]>) -> !pw.array<5xi8, @front, [{"model"}]>
  pw.return %0 : !pw.array<5xi8, @front, [{"model"}]>
}
// Both signs of integers become signless tensors.
// CHECK-LABEL: func.func private @bits
func.func private @bits(%x: tensor<4xi32>, %y: tensor<4xi16>) -> tensor<4xi32> attributes {pw.local_view} {
  // CHECK: pw.all_reduce %{{.*}} umax over ["model"] : tensor<4xi32>
  %0 = pw.all_reduce %x umax over ["model"] : tensor<4xi32>
  // CHECK: pw.all_reduce %{{.*}} umin over ["model"] : tensor<4xi32>
  %1 = pw.all_reduce %0 umin over ["model"] : tensor<4xi32>
  // CHECK: pw.all_reduce %{{.*}} and over ["model"] : tensor<4xi16>
  %2 = pw.all_reduce %y and over ["model"] : tensor<4xi16>
  // CHECK: pw.all_reduce %{{.*}} or over ["model"] : tensor<4xi16>
  %3 = pw.all_reduce %2 or over ["model"] : tensor<4xi16>
  // CHECK: pw.reduce_scatter %{{.*}} xor dim 0 over ["model"] : tensor<4xi16> -> tensor<2xi16>
  %4 = pw.reduce_scatter %3 xor dim 0 over ["model"] : tensor<4xi16> -> tensor<2xi16>
  return %1 : tensor<4xi32>
}
// CHECK-LABEL: pw.program @signs
// CHECK-SAME: (%x: !pw.array<8xui32, @front, [{"data"}]>, %y: !pw.array<8xi16, @front, [{"data"}]>, %z: !pw.array<4xui8, @front, [{}] partial umax {"data"}>, %w: !pw.array<4xui64, @front, [{}] partial xor {"model"}>)
pw.program @signs(%x: !pw.array<8xui32, @front, [{"data"}]>, %y: !pw.array<8xi16, @front, [{"data"}]>, %z: !pw.array<4xui8, @front, [{}] partial umax {"data"}>, %w: !pw.array<4xui64, @front, [{}] partial xor {"model"}>) -> !pw.array<8xi32, @front, [{"data"}]> {
  // CHECK: pw.call @bits(%x, %y) : (!pw.array<8xui32, @front, [{"data"}]>, !pw.array<8xi16, @front, [{"data"}]>) -> !pw.array<8xui32, @front, [{"data"}]>
  %0 = pw.call @bits(%x, %y) : (!pw.array<8xui32, @front, [{"data"}]>, !pw.array<8xi16, @front, [{"data"}]>) -> !pw.array<8xui32, @front, [{"data"}]>
  // CHECK: pw.call @bits(%{{.*}}, %y) : (!pw.array<8xui32, @front, [{"data"}]>, !pw.array<8xi16, @front, [{"data"}]>) -> !pw.array<8xi32, @front, [{"data"}]>
  %1 = pw.call @bits(%0, %y) : (!pw.array<8xui32, @front, [{"data"}]>, !pw.array<8xi16, @front, [{"data"}]>) -> !pw.array<8xi32, @front, [{"data"}]>
  pw.return %1 : !pw.array<8xi32, @front, [{"data"}]>
}
// Open dimensions, and all of them when nothing is written.
// CHECK-LABEL: func.func private @constrained
func.func private @constrained(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: pw.constrain %{{.*}} [{"data", ?}, {}] : tensor<8x8xf32>
  %0 = pw.constrain %x [{"data", ?}, {}] : tensor<8x8xf32>
  // CHECK: pw.constrain %{{.*}} [{?}, {?}] : tensor<8x8xf32>
  %1 = pw.constrain %0 [{?}, {?}] : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: func.func private @manual
func.func private @manual(%x: tensor<8x8xf32>, %s: tensor<f32>) -> (tensor<8x8xf32>, tensor<4x8xf32>) {
  // CHECK: %[[M:.*]]:2 = pw.manual(%arg0, %arg1) over ["data"] in {{\[\[}}{"data", ?}, {?}], []] out {{\[\[}}{"data", "model"}, {}], [{}, {}] partial add {"data"}] (%arg2: tensor<4x8xf32>, %arg3: tensor<f32>) {
  %0:2 = pw.manual(%x, %s) over ["data"] in [[{"data", ?}, {?}], []] out [[{"data", "model"}, {}], [{}, {}] partial add {"data"}]
      (%a: tensor<4x8xf32>, %b: tensor<f32>) {
    // CHECK-NEXT: pw.shard_index "data"
    %i = pw.shard_index "data" : index
    // CHECK-NEXT: pw.all_reduce %arg2 add over ["data"] : tensor<4x8xf32>
    %1 = pw.all_reduce %a add over ["data"] : tensor<4x8xf32>
    // CHECK-NEXT: pw.constrain %{{.*}} [{?}, {"model"}] : tensor<4x8xf32>
    %2 = pw.constrain %1 [{?}, {"model"}] : tensor<4x8xf32>
    // CHECK-NEXT: pw.manual() over ["model"] in [] out {{\[\[}}]] () {
    %3 = pw.manual() over ["model"] in [] out [[]] () {
      // CHECK: pw.yield %{{.*}} : tensor<f32>
      %c = arith.constant dense<1.0> : tensor<f32>
      pw.yield %c : tensor<f32>
      // CHECK-NEXT: } : () -> tensor<f32>
    } : () -> tensor<f32>
    // CHECK-NEXT: pw.yield %{{.*}}, %arg2 : tensor<4x8xf32>, tensor<4x8xf32>
    pw.yield %2, %a : tensor<4x8xf32>, tensor<4x8xf32>
    // CHECK-NEXT: } {test.note} : (tensor<8x8xf32>, tensor<f32>) -> (tensor<8x8xf32>, tensor<4x8xf32>)
  } {test.note} : (tensor<8x8xf32>, tensor<f32>) -> (tensor<8x8xf32>, tensor<4x8xf32>)
  return %0#0, %0#1 : tensor<8x8xf32>, tensor<4x8xf32>
}
// CHECK-LABEL: pw.program @open
// CHECK-SAME: (%x: !pw.array<8x8xf32, @front, [{"data", ?}, {?}]>, %y: !pw.array<8x8xf32, @front>, %z: !pw.array<8x8xf32, @front>, %w: !pw.array<f32, @one, []>)
// CHECK-SAME: -> !pw.array<8x8xf32, @front, [{}, {?}]>
pw.program @open(%x: !pw.array<8x8xf32, @front, [{"data", ?}, {?}]>, %y: !pw.array<8x8xf32, @front, [{?}, {?}]>, %z: !pw.array<8x8xf32, @front>, %w: !pw.array<f32, @one>) -> !pw.array<8x8xf32, @front, [{}, {?}]> {
  %0 = pw.call @constrained(%x) : (!pw.array<8x8xf32, @front, [{"data", ?}, {?}]>) -> !pw.array<8x8xf32, @front, [{}, {?}]>
  pw.return %0 : !pw.array<8x8xf32, @front, [{}, {?}]>
}
// CHECK-LABEL: func.func private @numbered
func.func private @numbered(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: pw.iteration_index : index
  %i = pw.iteration_index : index
  return %x : tensor<8xf32>
}
// CHECK-LABEL: pw.program @loop
pw.program @loop(%x: !pw.array<8xf32, @one, [{}]>, %xs: !pw.array<2x8xf32, @one>) -> !pw.array<2x8xf32, @one, [{}, {}]> {
  // CHECK-NEXT: %[[L:.*]]:2 = pw.for 2 schedule "1f1b" label "1F" (%arg0 = %x carried : !pw.array<8xf32, @one, [{}]>, %arg1 = %xs stepped : !pw.array<2x8xf32, @one> -> !pw.array<8xf32, @one>, %arg2 = %xs stepped reversed : !pw.array<2x8xf32, @one> -> !pw.array<8xf32, @one>) -> (!pw.array<2x8xf32, @one, [{}, {}]> stepped reversed, !pw.array<8xf32, @one, [{}]> carried) attributes {test.note} {
  %ys, %y = pw.for 2 schedule "1f1b" label "1F" (%a = %x carried : !pw.array<8xf32, @one, [{}]>, %b = %xs stepped : !pw.array<2x8xf32, @one> -> !pw.array<8xf32, @one>, %c = %xs stepped reversed : !pw.array<2x8xf32, @one> -> !pw.array<8xf32, @one>)
      -> (!pw.array<2x8xf32, @one, [{}, {}]> stepped reversed, !pw.array<8xf32, @one, [{}]> carried) attributes {test.note} {
    // CHECK-NEXT: pw.call @numbered(%arg0) donate(%arg0) label "0F" cell "0B" recompute :
    %0 = pw.call @numbered(%a) donate(%a) label "0F" cell "0B" recompute : (!pw.array<8xf32, @one, [{}]>) -> !pw.array<8xf32, @one, [{}]>
    // CHECK-NEXT: %[[I:.*]] = pw.for 1 -> (!pw.array<1x8xf32, @one, [{}, {}]> stepped) {
    %1 = pw.for 1 -> (!pw.array<1x8xf32, @one, [{}, {}]> stepped) {
      // CHECK-NEXT: pw.yield %{{.*}} : !pw.array<8xf32, @one, [{}]>
      pw.yield %0 : !pw.array<8xf32, @one, [{}]>
    }
    // CHECK: pw.yield %{{.*}}, %{{.*}} : !pw.array<8xf32, @one, [{}]>, !pw.array<8xf32, @one, [{}]>
    pw.yield %0, %0 : !pw.array<8xf32, @one, [{}]>, !pw.array<8xf32, @one, [{}]>
  }
  // CHECK: pw.return %[[L]]#0
  pw.return %ys : !pw.array<2x8xf32, @one, [{}, {}]>
}
// CHECK-LABEL: pw.program @branch
pw.program @branch(%p: !pw.array<i1, @one, []>, %x: !pw.array<8xf32, @one, [{}]>) -> !pw.array<8xf32, @one, [{}]> {
  // CHECK-NEXT: %[[B:.*]]:2 = pw.if %p : !pw.array<i1, @one, []> -> (!pw.array<8xf32, @one, [{}]>, !pw.array<i1, @one, []>) attributes {test.note} {
  %y, %q = pw.if %p : !pw.array<i1, @one, []> -> (!pw.array<8xf32, @one, [{}]>, !pw.array<i1, @one, []>) attributes {test.note} {
    // CHECK-NEXT: %[[C:.*]] = pw.call @numbered(%x) after(%p : !pw.array<i1, @one, []>) if(%p : !pw.array<i1, @one, []>) donate(%x) label "0F" :
    %0 = pw.call @numbered(%x) after(%p : !pw.array<i1, @one, []>) if(%p : !pw.array<i1, @one, []>) donate(%x) label "0F" : (!pw.array<8xf32, @one, [{}]>) -> !pw.array<8xf32, @one, [{}]>
    // CHECK-NEXT: pw.call @numbered(%x) unless(%p : !pw.array<i1, @one, []>) into(0 = %[[C]]) :
    %1 = pw.call @numbered(%x) unless(%p : !pw.array<i1, @one, []>) into(0 = %0) : (!pw.array<8xf32, @one, [{}]>) -> !pw.array<8xf32, @one, [{}]>
    // CHECK-NEXT: pw.yield
    pw.yield %1, %p : !pw.array<8xf32, @one, [{}]>, !pw.array<i1, @one, []>
    // CHECK-NEXT: } else {
  } else {
    // CHECK-NEXT: pw.yield %x, %p
    pw.yield %x, %p : !pw.array<8xf32, @one, [{}]>, !pw.array<i1, @one, []>
  }
  // CHECK: pw.return %[[B]]#0
  pw.return %y : !pw.array<8xf32, @one, [{}]>
}
// CHECK-LABEL: pw.program @while
pw.program @while(%p: !pw.array<i1, @one, []>) -> !pw.array<i1, @one, []> {
  // CHECK-NEXT: pw.for 2 label "1F" while (%arg0 = %p carried : !pw.array<i1, @one, []>) -> (!pw.array<i1, @one, []> carried) {
  %y = pw.for 2 label "1F" while (%a = %p carried : !pw.array<i1, @one, []>) -> (!pw.array<i1, @one, []> carried) {
    pw.yield %a : !pw.array<i1, @one, []>
  }
  // CHECK: %[[T:.*]] = pw.transfer %p unless(%p : !pw.array<i1, @one, []>) : !pw.array<i1, @one, []> -> !pw.array<i1, @front, []>
  %t = pw.transfer %p unless(%p : !pw.array<i1, @one, []>) : !pw.array<i1, @one, []> -> !pw.array<i1, @front, []>
  // CHECK-NEXT: pw.transfer %[[T]] if(%[[T]] : !pw.array<i1, @front, []>) :
  %u = pw.transfer %t if(%t : !pw.array<i1, @front, []>) : !pw.array<i1, @front, []> -> !pw.array<i1, @one, []>
  pw.return %y : !pw.array<i1, @one, []>
}
}
