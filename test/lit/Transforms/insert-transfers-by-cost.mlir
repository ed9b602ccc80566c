// RUN: pw-opt %s -pw-insert-transfers=topology=2x2x4 -split-input-file | FileCheck %s
// RUN: pw-opt %s -pw-explain-reshard=topology=2x2x4 -split-input-file -verify-diagnostics -o /dev/null

// Copies on another island: each byte crosses the DCN once and is gathered there.
pw.slice @a mesh <"x" = 8>
pw.slice @b mesh <"d" = 2, "e" = 4>
pw.bind @a to island 0 devices base 0 strides [1]
pw.bind @b to island 1 devices base 0 strides [4, 1]
// CHECK-LABEL: pw.program @copies
// CHECK-NEXT: %[[A:.*]] = pw.transfer %x : {{.*}} -> !pw.array<1048576xf32, @b, [{"d", "e"}]>
// CHECK-NEXT: %[[B:.*]] = pw.call @pw_all_gather_dim0_131072xf32_d_e(%[[A]]) : {{.*}} -> !pw.array<1048576xf32, @b, [{}]>
// CHECK-NEXT: %[[C:.*]] = pw.transfer %x : {{.*}} -> !pw.array<1048576xf32, @b, [{"d", "e"}]>
// CHECK-NEXT: %[[D:.*]] = pw.call @pw_all_gather_dim0_131072xf32_e(%[[C]]) : {{.*}} -> !pw.array<1048576xf32, @b, [{"d"}]>
// CHECK-NEXT: %[[E:.*]] = pw.transfer %y : {{.*}} -> !pw.array<8xf32, @b, [{}]>
// CHECK-NEXT: pw.return %[[B]], %[[D]], %[[E]]
pw.program @copies(%x: !pw.array<1048576xf32, @a, [{"x"}]>, %y: !pw.array<8xf32, @a, [{"x"}]>)
    -> (!pw.array<1048576xf32, @b, [{}]>, !pw.array<1048576xf32, @b, [{"d"}]>, !pw.array<8xf32, @b, [{}]>) {
  // expected-remark@+2 {{takes pieces to the other slice cut [{d, e}], then all-gather dim 0 over d, e: 16777216 bytes over ICI and 4194304 over the DCN, 4718592 bytes at a shard, 390489 ns}}
  // expected-note@+1 {{not pieces to the other slice cut [{}]: 0 bytes over ICI and 33554432 over the DCN, 4718592 bytes at a shard, 2695355 ns}}
  %0 = pw.reshard %x : !pw.array<1048576xf32, @a, [{"x"}]> -> !pw.array<1048576xf32, @b, [{}]>
  // Over the axes that hold copies.
  // expected-remark@+2 {{takes pieces to the other slice cut [{d, e}], then all-gather dim 0 over e}}
  // expected-note@+1 {{not pieces to the other slice cut [{d}]}}
  %1 = pw.reshard %x : !pw.array<1048576xf32, @a, [{"x"}]> -> !pw.array<1048576xf32, @b, [{"d"}]>
  // What is small is not worth another step.
  // expected-remark@+2 {{takes pieces to the other slice cut [{}]: 0 bytes over ICI and 256 over the DCN, 36 bytes at a shard, 11021 ns}}
  // expected-note@+1 {{not pieces to the other slice cut [{e}], then all-gather dim 0 over e}}
  %2 = pw.reshard %y : !pw.array<8xf32, @a, [{"x"}]> -> !pw.array<8xf32, @b, [{}]>
  pw.return %0, %1, %2 : !pw.array<1048576xf32, @b, [{}]>, !pw.array<1048576xf32, @b, [{"d"}]>, !pw.array<8xf32, @b, [{}]>
}
// CHECK: func.func private @pw_all_gather_dim0_131072xf32_d_e(%[[X:.*]]: tensor<131072xf32>) -> tensor<1048576xf32> attributes {pw.local_view, pw.pointwise}
// CHECK-NEXT: %[[G:.*]] = pw.all_gather %[[X]] dim 0 over ["d", "e"]
// CHECK-NEXT: return %[[G]]
// CHECK: func.func private @pw_all_gather_dim0_131072xf32_e(

// -----

// What devices of a host have in common goes to it once; on one host pieces do
// the same. A dimension that is whole in the end has no padding.
pw.slice @far mesh <"x" = 8>
pw.slice @near mesh <"x" = 4>
pw.bind @far to island 0 devices base 0 strides [1]
pw.bind @near to island 1 devices base 0 strides [1]
// CHECK-LABEL: pw.program @hosts
// CHECK-NEXT: %[[A:.*]] = pw.call @pw_all_gather_dim0_131072xf32_x(%x)
// CHECK-NEXT: %[[B:.*]] = pw.transfer %y
// CHECK-NEXT: %[[C:.*]] = pw.call @pw_all_gather_dim0_131072xf32_x_0(%z)
pw.program @hosts(%x: !pw.array<1048576xf32, @far, [{"x"}]>, %y: !pw.array<1048576xf32, @near, [{"x"}]>, %z: !pw.array<1048573xf32, @far, [{"x"}]>)
    -> (!pw.array<1048576xf32, @far, [{}]>, !pw.array<1048576xf32, @near, [{}]>, !pw.array<1048573xf32, @far, [{}]>) {
  // expected-remark@+2 {{takes all-gather dim 0 over x: 16777216 bytes over ICI}}
  // expected-note@+1 {{not pieces cut [{}]: 29360128 bytes over ICI}}
  %0 = pw.reshard %x : !pw.array<1048576xf32, @far, [{"x"}]> -> !pw.array<1048576xf32, @far, [{}]>
  // expected-remark@+2 {{takes pieces cut [{}]: 12582912 bytes over ICI}}
  // expected-note@+1 {{not all-gather dim 0 over x: 12582912 bytes over ICI}}
  %1 = pw.reshard %y : !pw.array<1048576xf32, @near, [{"x"}]> -> !pw.array<1048576xf32, @near, [{}]>
  // expected-remark@+2 {{takes all-gather dim 0 over x}}
  // expected-note@+1 {{not pieces cut [{}]}}
  %2 = pw.reshard %z : !pw.array<1048573xf32, @far, [{"x"}]> -> !pw.array<1048573xf32, @far, [{}]>
  pw.return %0, %1, %2 : !pw.array<1048576xf32, @far, [{}]>, !pw.array<1048576xf32, @near, [{}]>, !pw.array<1048573xf32, @far, [{}]>
}
// CHECK: func.func private @pw_all_gather_dim0_131072xf32_x_0(%[[X:.*]]: tensor<131072xf32>) -> tensor<1048573xf32>
// CHECK-NEXT: %[[G:.*]] = pw.all_gather %[[X]] dim 0 over ["x"] : tensor<131072xf32> -> tensor<1048576xf32>
// CHECK-NEXT: tensor.extract_slice %[[G]][0] [1048573] [1]

// -----

// Large contributions for another slice are scattered, then each block is sent
// from where it is; small ones are reduced for all.
pw.slice @a mesh <"m" = 4>
pw.slice @b mesh <"d" = 4>
pw.bind @a to island 0 devices base 0 strides [1]
pw.bind @b to island 1 devices base 0 strides [1]
// CHECK-LABEL: pw.program @contributions
// CHECK-NEXT: %[[A:.*]] = pw.call @pw_reduce_scatter_dim1_add_3x16384xf32_m(%x) : {{.*}} -> !pw.array<3x16384xf32, @a, [{}, {"m"}]>
// CHECK-NEXT: pw.transfer %[[A]] : {{.*}} -> !pw.array<3x16384xf32, @b, [{}, {"d"}]>
// CHECK-NEXT: %[[B:.*]] = pw.call @pw_all_reduce_add_4xf32_m(%y)
// CHECK-NEXT: pw.transfer %[[B]]
pw.program @contributions(%x: !pw.array<3x16384xf32, @a, [{}, {}] partial add {"m"}>, %y: !pw.array<4xf32, @a, [{}] partial add {"m"}>)
    -> (!pw.array<3x16384xf32, @b, [{}, {"d"}]>, !pw.array<4xf32, @b, [{"d"}]>) {
  // expected-remark@+2 {{takes reduce-scatter dim 1 over m, then pieces to the other slice cut [{}, {d}]}}
  // expected-note@+1 0+ {{not }}
  %0 = pw.reshard %x : !pw.array<3x16384xf32, @a, [{}, {}] partial add {"m"}> -> !pw.array<3x16384xf32, @b, [{}, {"d"}]>
  // expected-remark@+2 {{takes all-reduce over m, then pieces to the other slice cut [{d}]}}
  // expected-note@+1 0+ {{not }}
  %1 = pw.reshard %y : !pw.array<4xf32, @a, [{}] partial add {"m"}> -> !pw.array<4xf32, @b, [{"d"}]>
  pw.return %0, %1 : !pw.array<3x16384xf32, @b, [{}, {"d"}]>, !pw.array<4xf32, @b, [{"d"}]>
}

// -----

// An axis of size 1 is another type and no movement; slices without a binding
// move pieces at once.
pw.slice @a mesh <"x" = 4, "one" = 1>
pw.bind @a to island 0 devices base 0 strides [1, 0]
// CHECK-LABEL: pw.program @one
// CHECK-NEXT: pw.transfer %x : !pw.array<4096xf32, @a, [{"x"}]> -> !pw.array<4096xf32, @a, [{"x", "one"}]>
// CHECK-NEXT: pw.return
pw.program @one(%x: !pw.array<4096xf32, @a, [{"x"}]>) -> (!pw.array<4096xf32, @a, [{"x", "one"}]>) {
  // expected-remark@+1 {{takes pieces cut [{x, one}]: 0 bytes over ICI and 0 over the DCN}}
  %0 = pw.reshard %x : !pw.array<4096xf32, @a, [{"x"}]> -> !pw.array<4096xf32, @a, [{"x", "one"}]>
  pw.return %0 : !pw.array<4096xf32, @a, [{"x", "one"}]>
}
