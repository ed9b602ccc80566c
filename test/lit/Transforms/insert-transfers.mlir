// RUN: pw-opt %s -pw-insert-transfers -split-input-file | FileCheck %s
// RUN: pw-opt %s -pw-insert-transfers -pw-explain-movement -split-input-file -o %t 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: pw-opt %s -pw-insert-transfers -split-input-file | pw-opt -pw-insert-transfers -split-input-file | FileCheck %s

pw.slice @a mesh <"x" = 2, "m" = 2>
pw.slice @b mesh <"x" = 4>
pw.slice @c mesh <"x" = 4>
pw.bind @a to island 0 devices base 0 strides [2, 1]
pw.bind @b to island 1 devices base 0 strides [1]
pw.bind @c to island 0 devices base 4 strides [1]

// CHECK-LABEL: pw.program @move
pw.program @move(%x: !pw.array<8x4xf32, @a, [{"x"}, {"m"}]>)
    -> (!pw.array<8x4xf32, @b, [{"x"}, {}]>, !pw.array<8x4xf32, @c, [{}, {}]>,
        !pw.array<8x4xf32, @a, [{"x"}, {}]>, !pw.array<8x4xf32, @a, [{"m"}, {"x"}]>) {
  // Between islands, once.
  // CHECK: pw.transfer %x
  // BYTES: moves 0 bytes over ICI and 128 over the DCN
  %0 = pw.reshard %x : !pw.array<8x4xf32, @a, [{"x"}, {"m"}]> -> !pw.array<8x4xf32, @b, [{"x"}, {}]>
  // Within an island, to each of four copies.
  // CHECK: pw.transfer %x
  // BYTES: moves 512 bytes over ICI and 0 over the DCN
  %1 = pw.reshard %x : !pw.array<8x4xf32, @a, [{"x"}, {"m"}]> -> !pw.array<8x4xf32, @c, [{}, {}]>
  // Each shard has half of its block.
  // CHECK: pw.transfer %x
  // BYTES: moves 128 bytes over ICI and 0 over the DCN
  %2 = pw.reshard %x : !pw.array<8x4xf32, @a, [{"x"}, {"m"}]> -> !pw.array<8x4xf32, @a, [{"x"}, {}]>
  // Two of four shards keep theirs.
  // CHECK: pw.transfer %x
  // BYTES: moves 64 bytes over ICI and 0 over the DCN
  %3 = pw.reshard %x : !pw.array<8x4xf32, @a, [{"x"}, {"m"}]> -> !pw.array<8x4xf32, @a, [{"m"}, {"x"}]>
  // CHECK-NOT: pw.reshard
  pw.return %0, %1, %2, %3 : !pw.array<8x4xf32, @b, [{"x"}, {}]>, !pw.array<8x4xf32, @c, [{}, {}]>,
        !pw.array<8x4xf32, @a, [{"x"}, {}]>, !pw.array<8x4xf32, @a, [{"m"}, {"x"}]>
}

// A shard that has the source takes its own copy: nothing moves.
// CHECK-LABEL: pw.program @slice
// CHECK: pw.transfer %x
// BYTES: moves 0 bytes over ICI and 0 over the DCN
pw.program @slice(%x: !pw.array<7xf64, @a, [{}]>) -> (!pw.array<7xf64, @a, [{"m"}]>) {
  %0 = pw.reshard %x : !pw.array<7xf64, @a, [{}]> -> !pw.array<7xf64, @a, [{"m"}]>
  pw.return %0 : !pw.array<7xf64, @a, [{"m"}]>
}

// Reduced where it is, then moved; equal ones share a function.
// CHECK-LABEL: pw.program @reduce
// CHECK: %[[R:.*]] = pw.call @pw_all_reduce_add_2x8xf32_m(%x) : (!pw.array<4x8xf32, @a, [{"x"}, {}] partial add {"m"}>) -> !pw.array<4x8xf32, @a, [{"x"}, {}]>
// CHECK: %[[T:.*]] = pw.transfer %[[R]]
// BYTES: moves 0 bytes over ICI and 128 over the DCN
// CHECK: %[[S:.*]] = pw.call @pw_all_reduce_add_2x8xf32_m(%x)
// CHECK: pw.return %[[T]], %[[S]]
pw.program @reduce(%x: !pw.array<4x8xf32, @a, [{"x"}, {}] partial add {"m"}>)
    -> (!pw.array<4x8xf32, @b, [{"x"}, {}]>, !pw.array<4x8xf32, @a, [{"x"}, {}]>) {
  %0 = pw.reshard %x : !pw.array<4x8xf32, @a, [{"x"}, {}] partial add {"m"}> -> !pw.array<4x8xf32, @b, [{"x"}, {}]>
  %1 = pw.reshard %x : !pw.array<4x8xf32, @a, [{"x"}, {}] partial add {"m"}> -> !pw.array<4x8xf32, @a, [{"x"}, {}]>
  pw.return %0, %1 : !pw.array<4x8xf32, @b, [{"x"}, {}]>, !pw.array<4x8xf32, @a, [{"x"}, {}]>
}

// The same partial type on both sides is no work at all.
// CHECK-LABEL: pw.program @nothing
// CHECK-NEXT: pw.return %x
pw.program @nothing(%x: !pw.array<4xf32, @a, [{}] partial add {"m"}>) -> (!pw.array<4xf32, @a, [{}] partial add {"m"}>) {
  %0 = pw.reshard %x : !pw.array<4xf32, @a, [{}] partial add {"m"}> -> !pw.array<4xf32, @a, [{}] partial add {"m"}>
  pw.return %0 : !pw.array<4xf32, @a, [{}] partial add {"m"}>
}

// A partial result keeps the value at coordinates 0.
// CHECK-LABEL: pw.program @contribute
// CHECK: %[[T:.*]] = pw.transfer %x : !pw.array<8xf32, @b, [{"x"}]> -> !pw.array<8xf32, @a, [{}]>
// BYTES: moves 0 bytes over ICI and 128 over the DCN
// CHECK: pw.call @pw_contribute_max_8xf32_x_m(%[[T]]) : (!pw.array<8xf32, @a, [{}]>) -> !pw.array<8xf32, @a, [{}] partial max {"x", "m"}>
pw.program @contribute(%x: !pw.array<8xf32, @b, [{"x"}]>, %y: !pw.array<i1, @a, []>)
    -> (!pw.array<8xf32, @a, [{}] partial max {"x", "m"}>, !pw.array<i1, @a, [] partial min {"m"}>) {
  %0 = pw.reshard %x : !pw.array<8xf32, @b, [{"x"}]> -> !pw.array<8xf32, @a, [{}] partial max {"x", "m"}>
  // CHECK: pw.call @pw_contribute_min_i1_m(%y)
  %1 = pw.reshard %y : !pw.array<i1, @a, []> -> !pw.array<i1, @a, [] partial min {"m"}>
  pw.return %0, %1 : !pw.array<8xf32, @a, [{}] partial max {"x", "m"}>, !pw.array<i1, @a, [] partial min {"m"}>
}

// CHECK: func.func private @pw_all_reduce_add_2x8xf32_m(%[[X:.*]]: tensor<2x8xf32> {pw.accepts_partial}) -> tensor<2x8xf32> attributes {pw.local_view, pw.pointwise}
// CHECK-NEXT: %[[R:.*]] = pw.all_reduce %[[X]] add over ["m"] : tensor<2x8xf32>
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @pw_contribute_max_8xf32_x_m(%{{.*}}: tensor<8xf32>) -> tensor<8xf32> attributes {pw.local_view, pw.pointwise}
// CHECK-DAG: pw.shard_index "x" : index
// CHECK-DAG: pw.shard_index "m" : index
// CHECK-DAG: arith.constant 0xFF800000 : f32
// CHECK: arith.select
// CHECK: func.func private @pw_contribute_min_i1_m
// CHECK: arith.constant true

// -----

// Bound to devices that are shared: pieces on one device do not move.
pw.slice @a mesh <"x" = 4>
pw.slice @b mesh <"x" = 4>
pw.bind @a to island 0 devices base 0 strides [1] span 2
pw.bind @b to island 0 devices [0, 1, 0, 1]
// CHECK-LABEL: pw.program @shared
// CHECK: pw.transfer %x
// BYTES: moves 0 bytes over ICI and 0 over the DCN
// CHECK: pw.transfer %x
// BYTES: moves 64 bytes over ICI and 0 over the DCN
pw.program @shared(%x: !pw.array<8xf32, @a, [{"x"}]>) -> (!pw.array<8xf32, @b, [{"x"}]>, !pw.array<8xf32, @b, [{}]>) {
  %0 = pw.reshard %x : !pw.array<8xf32, @a, [{"x"}]> -> !pw.array<8xf32, @b, [{"x"}]>
  %1 = pw.reshard %x : !pw.array<8xf32, @a, [{"x"}]> -> !pw.array<8xf32, @b, [{}]>
  pw.return %0, %1 : !pw.array<8xf32, @b, [{"x"}]>, !pw.array<8xf32, @b, [{}]>
}

// -----

// Generated names give way to those of the program, and counts saturate.
pw.slice @a mesh <"x" = 16777216>
pw.slice @b mesh <"x" = 16777216>
pw.bind @a to island 0 devices base 0 strides [1] span 8
pw.bind @b to island 1 devices base 0 strides [1] span 8
func.func private @pw_all_reduce_add_f32_x() { return }
// CHECK-LABEL: pw.program @large
// CHECK: pw.call @pw_all_reduce_add_f32_x_0(%x)
// CHECK: pw.transfer %y
// BYTES: moves 0 bytes over ICI and 9223372036854775807 over the DCN
// CHECK: pw.transfer %y
// BYTES: moves 9223372036854775807 bytes over ICI and 0 over the DCN
pw.program @large(%x: !pw.array<f32, @a, [] partial add {"x"}>, %y: !pw.array<281474976710656xf64, @a, [{"x"}]>)
    -> (!pw.array<f32, @a, []>, !pw.array<281474976710656xf64, @b, [{}]>, !pw.array<281474976710656xf64, @a, [{}]>) {
  %0 = pw.reshard %x : !pw.array<f32, @a, [] partial add {"x"}> -> !pw.array<f32, @a, []>
  %1 = pw.reshard %y : !pw.array<281474976710656xf64, @a, [{"x"}]> -> !pw.array<281474976710656xf64, @b, [{}]>
  %2 = pw.reshard %y : !pw.array<281474976710656xf64, @a, [{"x"}]> -> !pw.array<281474976710656xf64, @a, [{}]>
  pw.return %0, %1, %2 : !pw.array<f32, @a, []>, !pw.array<281474976710656xf64, @b, [{}]>, !pw.array<281474976710656xf64, @a, [{}]>
}

// -----

// A result that is cut over partial axes, on the same slice: contributions are
// scattered as they are reduced, over the partial axes as named.
pw.slice @a mesh <"x" = 2, "m" = 3, "n" = 2>
pw.slice @b mesh <"m" = 2>
pw.bind @a to island 0 devices base 0 strides [6, 2, 1]
pw.bind @b to island 0 devices base 12 strides [1]

// The shards' blocks are the result's.
// CHECK-LABEL: pw.program @scatter
// CHECK-NEXT: %[[A:.*]] = pw.call @pw_reduce_scatter_dim0_add_12x4xf32_m(%x) : (!pw.array<12x4xf32, @a, [{}, {}] partial add {"m"}>) -> !pw.array<12x4xf32, @a, [{"m"}, {}]>
// CHECK-NEXT: %[[B:.*]] = pw.call @pw_reduce_scatter_dim1_add_6x12xf32_n_m(%y) : (!pw.array<12x12xf32, @a, [{"x"}, {}] partial add {"n", "m"}>) -> !pw.array<12x12xf32, @a, [{"x"}, {"n", "m"}]>
// Behind the axes that cut already, also where not all shards are full.
// CHECK-NEXT: %[[C:.*]] = pw.call @pw_reduce_scatter_dim0_max_6xf32_m(%z) : (!pw.array<11xf32, @a, [{"x"}] partial max {"m"}>) -> !pw.array<11xf32, @a, [{"x", "m"}]>
// CHECK-NEXT: pw.return %[[A]], %[[B]], %[[C]]
pw.program @scatter(%x: !pw.array<12x4xf32, @a, [{}, {}] partial add {"m"}>,
                    %y: !pw.array<12x12xf32, @a, [{"x"}, {}] partial add {"n", "m"}>,
                    %z: !pw.array<11xf32, @a, [{"x"}] partial max {"m"}>)
    -> (!pw.array<12x4xf32, @a, [{"m"}, {}]>, !pw.array<12x12xf32, @a, [{"x"}, {"n", "m"}]>,
        !pw.array<11xf32, @a, [{"x", "m"}]>) {
  %0 = pw.reshard %x : !pw.array<12x4xf32, @a, [{}, {}] partial add {"m"}> -> !pw.array<12x4xf32, @a, [{"m"}, {}]>
  %1 = pw.reshard %y : !pw.array<12x12xf32, @a, [{"x"}, {}] partial add {"n", "m"}> -> !pw.array<12x12xf32, @a, [{"x"}, {"n", "m"}]>
  %2 = pw.reshard %z : !pw.array<11xf32, @a, [{"x"}] partial max {"m"}> -> !pw.array<11xf32, @a, [{"x", "m"}]>
  pw.return %0, %1, %2 : !pw.array<12x4xf32, @a, [{"m"}, {}]>, !pw.array<12x12xf32, @a, [{"x"}, {"n", "m"}]>, !pw.array<11xf32, @a, [{"x", "m"}]>
}

// Another order, fewer axes, axes of two dimensions, an axis in front of those
// that cut already: the tree is that of the axes as named, the rest moves.
// CHECK-LABEL: pw.program @rest
// CHECK-NEXT: %[[A:.*]] = pw.call @pw_reduce_scatter_dim0_add_12x12xf16_m_n(%x) : (!pw.array<12x12xf16, @a, [{}, {}] partial add {"m", "n"}>) -> !pw.array<12x12xf16, @a, [{"m", "n"}, {}]>
// CHECK-NEXT: %[[B:.*]] = pw.transfer %[[A]] {{.*}} -> !pw.array<12x12xf16, @a, [{"n", "m"}, {}]>
// CHECK-NEXT: %[[C:.*]] = pw.call @pw_reduce_scatter_dim1_add_12x12xf16_m_n(%x) : (!pw.array<12x12xf16, @a, [{}, {}] partial add {"m", "n"}>) -> !pw.array<12x12xf16, @a, [{}, {"m", "n"}]>
// CHECK-NEXT: %[[D:.*]] = pw.transfer %[[C]] {{.*}} -> !pw.array<12x12xf16, @a, [{"x"}, {"m"}]>
// CHECK-NEXT: %[[E:.*]] = pw.call @pw_reduce_scatter_dim0_add_12x12xf16_m_n(%x)
// CHECK-NEXT: %[[F:.*]] = pw.transfer %[[E]] {{.*}} -> !pw.array<12x12xf16, @a, [{"m"}, {"n"}]>
// CHECK-NEXT: %[[G:.*]] = pw.call @pw_reduce_scatter_dim0_add_12xf64_n(%y) : (!pw.array<24xf64, @a, [{"x"}] partial add {"n"}>) -> !pw.array<24xf64, @a, [{"x", "n"}]>
// CHECK-NEXT: %[[H:.*]] = pw.transfer %[[G]] {{.*}} -> !pw.array<24xf64, @a, [{"n", "x"}]>
pw.program @rest(%x: !pw.array<12x12xf16, @a, [{}, {}] partial add {"m", "n"}>,
                 %y: !pw.array<24xf64, @a, [{"x"}] partial add {"n"}>)
    -> (!pw.array<12x12xf16, @a, [{"n", "m"}, {}]>, !pw.array<12x12xf16, @a, [{"x"}, {"m"}]>,
        !pw.array<12x12xf16, @a, [{"m"}, {"n"}]>, !pw.array<24xf64, @a, [{"n", "x"}]>) {
  %0 = pw.reshard %x : !pw.array<12x12xf16, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<12x12xf16, @a, [{"n", "m"}, {}]>
  %1 = pw.reshard %x : !pw.array<12x12xf16, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<12x12xf16, @a, [{"x"}, {"m"}]>
  %2 = pw.reshard %x : !pw.array<12x12xf16, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<12x12xf16, @a, [{"m"}, {"n"}]>
  %3 = pw.reshard %y : !pw.array<24xf64, @a, [{"x"}] partial add {"n"}> -> !pw.array<24xf64, @a, [{"n", "x"}]>
  pw.return %0, %1, %2, %3 : !pw.array<12x12xf16, @a, [{"n", "m"}, {}]>, !pw.array<12x12xf16, @a, [{"x"}, {"m"}]>, !pw.array<12x12xf16, @a, [{"m"}, {"n"}]>, !pw.array<24xf64, @a, [{"n", "x"}]>
}

// Of two dimensions the one that is cut equally, and of two such the one that
// leaves nothing to move; a partial result is masked behind that.
// CHECK-LABEL: pw.program @dimension
// CHECK-NEXT: %[[A:.*]] = pw.call @pw_reduce_scatter_dim1_add_4x6xf32_m_n(%x)
// CHECK-NEXT: %[[B:.*]] = pw.transfer %[[A]]
// CHECK-NEXT: %[[C:.*]] = pw.call @pw_reduce_scatter_dim1_add_6x12xf32_n(%y) : (!pw.array<6x12xf32, @a, [{}, {}] partial add {"n"}>) -> !pw.array<6x12xf32, @a, [{}, {"n"}]>
// CHECK-NEXT: %[[D:.*]] = pw.call @pw_contribute_add_6x6xf32_m(%[[C]]) : (!pw.array<6x12xf32, @a, [{}, {"n"}]>) -> !pw.array<6x12xf32, @a, [{}, {"n"}] partial add {"m"}>
pw.program @dimension(%x: !pw.array<4x6xf32, @a, [{}, {}] partial add {"m", "n"}>,
                      %y: !pw.array<6x12xf32, @a, [{}, {}] partial add {"n"}>)
    -> (!pw.array<4x6xf32, @a, [{"m"}, {"n"}]>, !pw.array<6x12xf32, @a, [{}, {"n"}] partial add {"m"}>) {
  %0 = pw.reshard %x : !pw.array<4x6xf32, @a, [{}, {}] partial add {"m", "n"}> -> !pw.array<4x6xf32, @a, [{"m"}, {"n"}]>
  %1 = pw.reshard %y : !pw.array<6x12xf32, @a, [{}, {}] partial add {"n"}> -> !pw.array<6x12xf32, @a, [{}, {"n"}] partial add {"m"}>
  pw.return %0, %1 : !pw.array<4x6xf32, @a, [{"m"}, {"n"}]>, !pw.array<6x12xf32, @a, [{}, {"n"}] partial add {"m"}>
}

// Blocks that are not equal, that are none, a cut over other axes, another
// slice: all is reduced everywhere.
// CHECK-LABEL: pw.program @everywhere
// CHECK-NEXT: pw.call @pw_all_reduce_add_7xf32_m
// CHECK-NEXT: pw.transfer
// CHECK-NEXT: pw.call @pw_all_reduce_add_0xf32_m
// CHECK-NEXT: pw.transfer
// CHECK-NEXT: pw.call @pw_all_reduce_add_12xf32_m
// CHECK-NEXT: pw.transfer
// CHECK-NEXT: pw.call @pw_all_reduce_add_12xf32_m
// CHECK-NEXT: pw.transfer
pw.program @everywhere(%x: !pw.array<7xf32, @a, [{}] partial add {"m"}>, %y: !pw.array<0xf32, @a, [{}] partial add {"m"}>,
                       %z: !pw.array<12xf32, @a, [{}] partial add {"m"}>)
    -> (!pw.array<7xf32, @a, [{"m"}]>, !pw.array<0xf32, @a, [{"m"}]>, !pw.array<12xf32, @a, [{"x"}]>, !pw.array<12xf32, @b, [{"m"}]>) {
  %0 = pw.reshard %x : !pw.array<7xf32, @a, [{}] partial add {"m"}> -> !pw.array<7xf32, @a, [{"m"}]>
  %1 = pw.reshard %y : !pw.array<0xf32, @a, [{}] partial add {"m"}> -> !pw.array<0xf32, @a, [{"m"}]>
  %2 = pw.reshard %z : !pw.array<12xf32, @a, [{}] partial add {"m"}> -> !pw.array<12xf32, @a, [{"x"}]>
  %3 = pw.reshard %z : !pw.array<12xf32, @a, [{}] partial add {"m"}> -> !pw.array<12xf32, @b, [{"m"}]>
  pw.return %0, %1, %2, %3 : !pw.array<7xf32, @a, [{"m"}]>, !pw.array<0xf32, @a, [{"m"}]>, !pw.array<12xf32, @a, [{"x"}]>, !pw.array<12xf32, @b, [{"m"}]>
}

// Groups of another size have another function.
// CHECK-LABEL: pw.program @sizes
// CHECK-NEXT: pw.call @pw_reduce_scatter_dim0_add_12xf32_m(%x)
// CHECK-NEXT: pw.call @pw_reduce_scatter_dim0_add_12xf32_m_0(%y)
pw.program @sizes(%x: !pw.array<12xf32, @a, [{}] partial add {"m"}>, %y: !pw.array<12xf32, @b, [{}] partial add {"m"}>)
    -> (!pw.array<12xf32, @a, [{"m"}]>, !pw.array<12xf32, @b, [{"m"}]>) {
  %0 = pw.reshard %x : !pw.array<12xf32, @a, [{}] partial add {"m"}> -> !pw.array<12xf32, @a, [{"m"}]>
  %1 = pw.reshard %y : !pw.array<12xf32, @b, [{}] partial add {"m"}> -> !pw.array<12xf32, @b, [{"m"}]>
  pw.return %0, %1 : !pw.array<12xf32, @a, [{"m"}]>, !pw.array<12xf32, @b, [{"m"}]>
}

// CHECK: func.func private @pw_reduce_scatter_dim0_add_12x4xf32_m(%[[X:.*]]: tensor<12x4xf32> {pw.accepts_partial}) -> tensor<4x4xf32> attributes {pw.local_view, pw.pointwise}
// CHECK-NEXT: %[[R:.*]] = pw.reduce_scatter %[[X]] add dim 0 over ["m"] : tensor<12x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @pw_reduce_scatter_dim1_add_6x12xf32_n_m
// CHECK-NEXT: pw.reduce_scatter %{{.*}} add dim 1 over ["n", "m"] : tensor<6x12xf32> -> tensor<6x2xf32>
// CHECK: func.func private @pw_reduce_scatter_dim0_add_12xf32_m_0
// CHECK-NEXT: pw.reduce_scatter %{{.*}} add dim 0 over ["m"] : tensor<12xf32> -> tensor<6xf32>
