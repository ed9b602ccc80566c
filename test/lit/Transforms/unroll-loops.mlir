// RUN: pw-opt %s -pw-unroll-loops | FileCheck %s

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
!xs = !pw.array<2x8xf32, @s, [{}, {"d"} ]>
!p = !pw.array<8xf32, @s, [{} ] partial add {"d"}>
!ps = !pw.array<2x8xf32, @s, [{}, {} ] partial add {"d"}>
!e = !pw.array<0xf32, @s, [{} ]>
!es = !pw.array<2x0xf32, @s, [{}, {} ]>

func.func private @f(%x: tensor<8xf32>, %a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %a : tensor<8xf32>, tensor<8xf32>
}
func.func private @numbered(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @inner(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @inner(%x: tensor<8xf32>) -> tensor<8xf32> {
  %i = pw.iteration_index : index
  return %x : tensor<8xf32>
}

// CHECK-LABEL: pw.program @straight
// CHECK: %[[X:.*]]:2 = pw.call @pw_split_2_4(%xs)
// CHECK-NEXT: %[[A:.*]]:2 = pw.call @f(%[[X]]#0, %z) donate(%z) label "F"
// CHECK-NEXT: %[[B:.*]]:2 = pw.call @f(%[[X]]#1, %[[A]]#1) donate(%[[A]]#1) label "F"
// CHECK-NEXT: %[[Y:.*]] = pw.call @pw_stack_4(%[[A]]#0, %[[B]]#0)
// CHECK-NEXT: pw.return %[[Y]], %[[B]]#1
pw.program @straight(%xs: !xs, %z: !x) -> (!xs, !x) {
  %ys, %s = pw.for 2 (%x = %xs stepped : !xs -> !x, %a = %z carried : !x) -> (!xs stepped, !x carried) {
    %y, %b = pw.call @f(%x, %a) donate(%a) label "F" : (!x, !x) -> (!x, !x)
    pw.yield %y, %b : !x, !x
  }
  pw.return %ys, %s : !xs, !x
}

// The other way round, with a value from above; equal functions are shared.
// CHECK-LABEL: pw.program @reversed
// CHECK: %[[X:.*]]:2 = pw.call @pw_split_2_4(%xs)
// CHECK-NEXT: %[[A:.*]]:2 = pw.call @f(%[[X]]#1, %z)
// CHECK-NEXT: %[[B:.*]]:2 = pw.call @f(%[[X]]#0, %z)
// CHECK-NEXT: %[[Y:.*]] = pw.call @pw_stack_4(%[[B]]#0, %[[A]]#0)
// CHECK-NEXT: pw.return %[[Y]]
pw.program @reversed(%xs: !xs, %z: !x) -> !xs {
  %ys = pw.for 2 (%x = %xs stepped reversed : !xs -> !x) -> (!xs stepped reversed) {
    %y, %b = pw.call @f(%x, %z) : (!x, !x) -> (!x, !x)
    pw.yield %y : !x
  }
  pw.return %ys : !xs
}

// Carried values may change places. The number is that of the innermost loop.
// CHECK-LABEL: pw.program @nested
// CHECK: %[[A:.*]] = pw.call @numbered_iteration0(%a)
// CHECK-NEXT: %[[B:.*]] = pw.call @numbered_iteration1(%b)
// CHECK-NEXT: %[[C:.*]] = pw.call @numbered_iteration2(%[[A]])
// CHECK-NEXT: %[[D:.*]] = pw.call @numbered_iteration0(%[[B]])
// CHECK-NEXT: %[[E:.*]] = pw.call @numbered_iteration0(%[[C]])
// CHECK-NEXT: %[[F:.*]] = pw.call @numbered_iteration1(%[[D]])
// CHECK-NEXT: %[[G:.*]] = pw.call @numbered_iteration2(%[[E]])
// CHECK-NEXT: %[[H:.*]] = pw.call @numbered_iteration1(%[[F]])
// CHECK-NEXT: pw.return %[[G]], %[[H]]
pw.program @nested(%a: !x, %b: !x) -> (!x, !x) {
  %0, %1 = pw.for 2 (%c = %a carried : !x, %d = %b carried : !x) -> (!x carried, !x carried) {
    %2, %3 = pw.for 3 label "L" (%e = %c carried : !x, %f = %d carried : !x) -> (!x carried, !x carried) {
      %4 = pw.call @numbered(%e) : (!x) -> !x
      pw.yield %f, %4 : !x, !x
    }
    %5 = pw.call @numbered(%2) : (!x) -> !x
    pw.yield %3, %5 : !x, !x
  }
  pw.return %0, %1 : !x, !x
}

// Contributions stay contributions, and arrays without elements have no offsets.
// CHECK-LABEL: pw.program @partial
// CHECK: pw.call @[[SPLIT:pw_split_2_8]](%ps)
// CHECK: pw.call @[[STACK:pw_stack_8]](
// CHECK: pw.call @[[NONE:pw_split_2_0]](%es)
pw.program @partial(%ps: !ps, %es: !es) -> (!ps, !es) {
  %0 = pw.for 2 (%p = %ps stepped : !ps -> !p) -> (!ps stepped) {
    pw.yield %p : !p
  }
  %1 = pw.for 2 (%e = %es stepped : !es -> !e) -> (!es stepped) {
    pw.yield %e : !e
  }
  pw.return %0, %1 : !ps, !es
}

// CHECK: func.func private @pw_split_2_4(%[[ALL:.*]]: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {pw.local_view, pw.pointwise}
// CHECK-NEXT: tensor.extract_slice %[[ALL]][0, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
// CHECK-NEXT: tensor.extract_slice %[[ALL]][1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
// CHECK: func.func private @pw_stack_4(%[[L:.*]]: tensor<4xf32>, %[[R:.*]]: tensor<4xf32>) -> tensor<2x4xf32>
// CHECK: tensor.insert_slice %[[L]] into %{{.*}}[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
// CHECK: tensor.insert_slice %[[R]] into %{{.*}}[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
// CHECK: func.func private @inner_iteration0
// CHECK-NEXT: arith.constant 0 : index
// CHECK: func.func private @numbered_iteration0
// CHECK-NEXT: call @inner_iteration0
// CHECK: func.func private @[[SPLIT]](%{{.*}}: tensor<2x8xf32> {pw.accepts_partial})
// CHECK: func.func private @[[STACK]](%{{.*}}: tensor<8xf32> {pw.accepts_partial}, %{{.*}}: tensor<8xf32> {pw.accepts_partial})
// CHECK: func.func private @[[NONE]](
// CHECK-NEXT: tensor.empty() : tensor<0xf32>
