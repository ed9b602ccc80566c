// RUN: pw-opt %s -pw-partition -split-input-file -verify-diagnostics | FileCheck %s

// A pair of products cut by columns, then by rows: one sum for both, of blocks of
// rows.
pw.slice @s mesh <"data" = 2, "model" = 2>
func.func private @mlp(%x: tensor<8x16xf32>, %v: tensor<16x32xf32>, %w: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x32xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul ins(%x, %v : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %floor = arith.constant dense<0.0> : tensor<8x32xf32>
  %r = arith.maximumf %h, %floor : tensor<8x32xf32>
  %e1 = tensor.empty() : tensor<8x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%r, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%f1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
// CHECK-LABEL: pw.program @forward
// CHECK: pw.call @mlp_sharded(%x, %v, %w)
// The old one is gone.
// CHECK-NOT: @mlp(
// CHECK: func.func private @mlp_sharded(%[[X:.*]]: tensor<4x16xf32>, %[[V:.*]]: tensor<16x16xf32>, %[[W:.*]]: tensor<16x16xf32>) -> tensor<4x16xf32> attributes {pw.local_view}
// CHECK: %[[H:.*]] = linalg.matmul ins(%[[X]], %[[V]]
// CHECK: %[[R:.*]] = arith.maximumf %[[H]]
// CHECK: %[[P:.*]] = linalg.matmul ins(%[[R]], %[[W]]
// CHECK: %[[Y:.*]] = pw.all_reduce %[[P]] add over ["model"] : tensor<4x16xf32>
// CHECK-NOT: pw.
// CHECK: return %[[Y]]
pw.program @forward(%x: !pw.array<8x16xf32, @s, [{"data"}, {}]>, %v: !pw.array<16x32xf32, @s, [{}, {"model"}]>,
                    %w: !pw.array<32x16xf32, @s, [{"model"}, {}]>) -> (!pw.array<8x16xf32, @s, [{"data"}, {}]>) {
  %0 = pw.call @mlp(%x, %v, %w)
      : (!pw.array<8x16xf32, @s, [{"data"}, {}]>, !pw.array<16x32xf32, @s, [{}, {"model"}]>, !pw.array<32x16xf32, @s, [{"model"}, {}]>)
      -> !pw.array<8x16xf32, @s, [{"data"}, {}]>
  pw.return %0 : !pw.array<8x16xf32, @s, [{"data"}, {}]>
}

// -----

// The gradient of a weight over rows of data: a sum for everyone, or a block of
// it for each where that is what is wanted. One function for each.
pw.slice @s mesh <"data" = 4>
func.func private @gradient(%x: tensor<8x16xf32>, %dy: tensor<8x4xf32>) -> tensor<16x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x4xf32>
  %xt = tensor.empty() : tensor<16x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x16xf32>) outs(%xt : tensor<16x8xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%t, %dy : tensor<16x8xf32>, tensor<8x4xf32>) outs(%zero : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %g : tensor<16x4xf32>
}
// CHECK-LABEL: pw.program @gradients
// CHECK: pw.call @gradient_sharded(
// CHECK: pw.call @gradient_sharded_0(
// CHECK: pw.call @gradient_sharded(
// CHECK: func.func private @gradient_sharded(%{{.*}}: tensor<2x16xf32>, %{{.*}}: tensor<2x4xf32>) -> tensor<16x4xf32>
// CHECK: linalg.transpose
// CHECK: linalg.matmul
// CHECK: pw.all_reduce %{{.*}} add over ["data"] : tensor<16x4xf32>
// CHECK-NOT: pw.
// CHECK: func.func private @gradient_sharded_0(%{{.*}}: tensor<2x16xf32>, %{{.*}}: tensor<2x4xf32>) -> tensor<4x4xf32>
// CHECK: pw.reduce_scatter %{{.*}} add dim 0 over ["data"] : tensor<16x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT: return
pw.program @gradients(%x: !pw.array<8x16xf32, @s, [{"data"}, {}]>, %dy: !pw.array<8x4xf32, @s, [{"data"}, {}]>)
    -> (!pw.array<16x4xf32, @s, [{}, {}]>, !pw.array<16x4xf32, @s, [{"data"}, {}]>, !pw.array<16x4xf32, @s, [{}, {}]>) {
  %0 = pw.call @gradient(%x, %dy) : (!pw.array<8x16xf32, @s, [{"data"}, {}]>, !pw.array<8x4xf32, @s, [{"data"}, {}]>) -> !pw.array<16x4xf32, @s, [{}, {}]>
  %1 = pw.call @gradient(%x, %dy) : (!pw.array<8x16xf32, @s, [{"data"}, {}]>, !pw.array<8x4xf32, @s, [{"data"}, {}]>) -> !pw.array<16x4xf32, @s, [{"data"}, {}]>
  %2 = pw.call @gradient(%x, %dy) : (!pw.array<8x16xf32, @s, [{"data"}, {}]>, !pw.array<8x4xf32, @s, [{"data"}, {}]>) -> !pw.array<16x4xf32, @s, [{}, {}]>
  pw.return %0, %1, %2 : !pw.array<16x4xf32, @s, [{}, {}]>, !pw.array<16x4xf32, @s, [{"data"}, {}]>, !pw.array<16x4xf32, @s, [{}, {}]>
}

// -----

// An axis that goes from one dimension to another: everyone exchanges blocks.
pw.slice @s mesh <"x" = 2, "one" = 1>
func.func private @same(%x: tensor<4x6xf32>) -> tensor<4x6xf32> { return %x : tensor<4x6xf32> }
// CHECK: func.func private @same_sharded(%[[X:.*]]: tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: %[[Y:.*]] = pw.all_to_all %[[X]] split 1 concat 0 over ["x"]
// CHECK-NEXT: return %[[Y]]
pw.program @exchange(%x: !pw.array<4x6xf32, @s, [{"x", "one"}, {}]>) -> (!pw.array<4x6xf32, @s, [{"one"}, {"x"}]>) {
  %0 = pw.call @same(%x) : (!pw.array<4x6xf32, @s, [{"x", "one"}, {}]>) -> !pw.array<4x6xf32, @s, [{"one"}, {"x"}]>
  pw.return %0 : !pw.array<4x6xf32, @s, [{"one"}, {"x"}]>
}

// -----

// Axes that swap do not bring all of a large array together: where there is
// another dimension, blocks go over that one.
pw.slice @s mesh <"x" = 2, "y" = 4>
func.func private @same(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> { return %x : tensor<1024x1024xf32> }
// CHECK: func.func private @same_sharded(%[[X:.*]]: tensor<128x1024xf32>) -> tensor<128x1024xf32>
// CHECK-NEXT: %[[A:.*]] = pw.all_to_all %[[X]] split 1 concat 0 over ["y"] : tensor<128x1024xf32> -> tensor<512x256xf32>
// CHECK-NEXT: %[[B:.*]] = pw.all_to_all %[[A]] split 1 concat 0 over ["x"] : tensor<512x256xf32> -> tensor<1024x128xf32>
// CHECK-NEXT: %[[C:.*]] = pw.all_to_all %[[B]] split 0 concat 1 over ["y", "x"] : tensor<1024x128xf32> -> tensor<128x1024xf32>
// CHECK-NEXT: return %[[C]]
pw.program @swap(%x: !pw.array<1024x1024xf32, @s, [{"x", "y"}, {}]>) -> (!pw.array<1024x1024xf32, @s, [{"y", "x"}, {}]>) {
  %0 = pw.call @same(%x) : (!pw.array<1024x1024xf32, @s, [{"x", "y"}, {}]>) -> !pw.array<1024x1024xf32, @s, [{"y", "x"}, {}]>
  pw.return %0 : !pw.array<1024x1024xf32, @s, [{"y", "x"}, {}]>
}

// -----

// Without, shards of axes of one size shift until all have theirs. What is small
// is gathered and cut.
pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @large(%x: tensor<1048576xf32>) -> tensor<1048576xf32> { return %x : tensor<1048576xf32> }
func.func private @small(%x: tensor<16xf32>) -> tensor<16xf32> { return %x : tensor<16xf32> }
// CHECK: func.func private @large_sharded(%[[X:.*]]: tensor<262144xf32>) -> tensor<262144xf32>
// CHECK-DAG: %[[I:.*]] = pw.shard_index "x"
// CHECK-DAG: %[[J:.*]] = pw.shard_index "y"
// CHECK: %[[A:.*]] = pw.permute %[[X]] shift 3 over ["x", "y"] wrap
// CHECK: %[[IS:.*]] = arith.cmpi eq
// CHECK: %[[B:.*]] = arith.select %[[IS]], %[[A]], %[[X]] : tensor<262144xf32>
// CHECK: %[[C:.*]] = pw.permute %[[X]] shift 1 over ["x", "y"] wrap
// CHECK: arith.select %{{.*}}, %[[C]], %[[B]] : tensor<262144xf32>
// CHECK-NOT: pw.
// CHECK: func.func private @small_sharded(%[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[G:.*]] = pw.all_gather %[[X]] dim 0 over ["x", "y"]
// CHECK: tensor.extract_slice %[[G]]
pw.program @shift(%x: !pw.array<1048576xf32, @s, [{"x", "y"}]>, %y: !pw.array<16xf32, @s, [{"x", "y"}]>)
    -> (!pw.array<1048576xf32, @s, [{"y", "x"}]>, !pw.array<16xf32, @s, [{"y", "x"}]>) {
  %0 = pw.call @large(%x) : (!pw.array<1048576xf32, @s, [{"x", "y"}]>) -> !pw.array<1048576xf32, @s, [{"y", "x"}]>
  %1 = pw.call @small(%y) : (!pw.array<16xf32, @s, [{"x", "y"}]>) -> !pw.array<16xf32, @s, [{"y", "x"}]>
  pw.return %0, %1 : !pw.array<1048576xf32, @s, [{"y", "x"}]>, !pw.array<16xf32, @s, [{"y", "x"}]>
}

// -----

// Numbers of loops are those of the whole array.
pw.slice @s mesh <"x" = 2, "y" = 3>
func.func private @iota(%x: tensor<12xi32>) -> tensor<12xi32> {
  %e = tensor.empty() : tensor<12xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<12xi32>) outs(%e : tensor<12xi32>) {
  ^bb0(%a: i32, %b: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %s = arith.addi %a, %c : i32
    linalg.yield %s : i32
  } -> tensor<12xi32>
  return %0 : tensor<12xi32>
}
// CHECK: func.func private @iota_sharded(
// CHECK-DAG: %[[I:.*]] = pw.shard_index "y"
// CHECK-DAG: %[[J:.*]] = pw.shard_index "x"
// CHECK: %[[N:.*]] = arith.addi
// CHECK: %[[O:.*]] = arith.muli %[[N]], %{{.*}} : index
// CHECK: %[[L:.*]] = linalg.index 0
// CHECK: arith.addi %[[L]], %[[O]] : index
pw.program @numbers(%x: !pw.array<12xi32, @s, [{"y", "x"}]>) -> (!pw.array<12xi32, @s, [{"y", "x"}]>) {
  %0 = pw.call @iota(%x) : (!pw.array<12xi32, @s, [{"y", "x"}]>) -> !pw.array<12xi32, @s, [{"y", "x"}]>
  pw.return %0 : !pw.array<12xi32, @s, [{"y", "x"}]>
}

// -----

// What has no rule is computed whole; what a body calls is part of it. A sum that
// starts from something has it once.
pw.slice @s mesh <"x" = 2>
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @mixed(%x: tensor<4xf32>, %start: tensor<f32>) -> (tensor<f32>, tensor<2xf32>) {
  %t = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.reduce ins(%t : tensor<4xf32>) outs(%start : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }
  %c1 = arith.constant 1 : index
  // expected-remark@+1 {{'tensor.extract' has no sharding rule, so its operands are gathered whole}}
  %one = tensor.extract %t[%c1] : tensor<4xf32>
  %part = tensor.splat %one : tensor<2xf32>
  return %sum, %part : tensor<f32>, tensor<2xf32>
}
// CHECK: func.func private @mixed_sharded(%[[X:.*]]: tensor<2xf32>, %[[S:.*]]: tensor<f32>)
// CHECK: %[[T:.*]] = arith.addf %[[X]], %[[X]]
// CHECK: %[[N:.*]] = arith.constant dense<-0.000000e+00> : tensor<f32>
// CHECK: %[[P:.*]] = linalg.reduce ins(%[[T]] : tensor<2xf32>) outs(%[[N]]
// CHECK: %[[A:.*]] = pw.all_reduce %[[P]] add over ["x"] : tensor<f32>
// CHECK: arith.addf %[[S]], %[[A]] : tensor<f32>
// CHECK: %[[G:.*]] = pw.all_gather %[[T]] dim 0 over ["x"]
// CHECK: %[[E:.*]] = tensor.extract %[[G]]
// CHECK: tensor.splat %[[E]] : tensor<2xf32>
pw.program @rest(%x: !pw.array<4xf32, @s, [{"x"}]>, %start: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []>, !pw.array<2xf32, @s, [{}]>) {
  %0:2 = pw.call @mixed(%x, %start) : (!pw.array<4xf32, @s, [{"x"}]>, !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []>, !pw.array<2xf32, @s, [{}]>)
  pw.return %0#0, %0#1 : !pw.array<f32, @s, []>, !pw.array<2xf32, @s, [{}]>
}

// -----

// Parts of a sum of narrow numbers are not narrow.
pw.slice @s mesh <"x" = 2>
func.func private @product(%a: tensor<2x4xbf16>, %b: tensor<4x2xbf16>) -> tensor<2x2xbf16> {
  %zero = arith.constant dense<0.0> : tensor<2x2xbf16>
  %0 = linalg.matmul ins(%a, %b : tensor<2x4xbf16>, tensor<4x2xbf16>) outs(%zero : tensor<2x2xbf16>) -> tensor<2x2xbf16>
  return %0 : tensor<2x2xbf16>
}
// CHECK: func.func private @product_sharded(
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: %[[P:.*]] = arith.addf %{{.*}} : f32
// CHECK: pw.all_reduce %{{.*}} add over ["x"] : tensor<2x2xf32>
// CHECK: arith.truncf %{{.*}} : tensor<2x2xf32> to tensor<2x2xbf16>
pw.program @narrow(%a: !pw.array<2x4xbf16, @s, [{}, {"x"}]>, %b: !pw.array<4x2xbf16, @s, [{"x"}, {}]>) -> (!pw.array<2x2xbf16, @s, [{}, {}]>) {
  %0 = pw.call @product(%a, %b) : (!pw.array<2x4xbf16, @s, [{}, {"x"}]>, !pw.array<4x2xbf16, @s, [{"x"}, {}]>) -> !pw.array<2x2xbf16, @s, [{}, {}]>
  pw.return %0 : !pw.array<2x2xbf16, @s, [{}, {}]>
}

// -----

// On one device a global view is its local view; a local view stays.
pw.slice @one mesh <"x" = 1>
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> attributes {pw.local_view} { return %x : tensor<2xf32> }
// CHECK-LABEL: pw.program @stay
// CHECK: pw.call @f(%x)
// CHECK: pw.call @g(%y)
pw.program @stay(%x: !pw.array<4xf32, @one, [{"x"}]>, %y: !pw.array<4xf32, @s, [{"x"}]>) -> (!pw.array<4xf32, @one, [{"x"}]>, !pw.array<4xf32, @s, [{"x"}]>) {
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @one, [{"x"}]>) -> !pw.array<4xf32, @one, [{"x"}]>
  %1 = pw.call @g(%y) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return %0, %1 : !pw.array<4xf32, @one, [{"x"}]>, !pw.array<4xf32, @s, [{"x"}]>
}

// -----

// Numbers are everybody's; a check holds everywhere.
pw.slice @s mesh <"x" = 2>
func.func private @checked(%x: tensor<8xi32>, %n: tensor<i32>) -> tensor<8xi32> {
  %k = tensor.extract %n[] : tensor<i32>
  %c0 = arith.constant 0 : i32
  %ok = arith.cmpi sge, %k, %c0 : i32
  cf.assert %ok, "n is negative"
  %s = tensor.splat %k : tensor<8xi32>
  %q = arith.divsi %s, %x : tensor<8xi32>
  return %q : tensor<8xi32>
}
// CHECK: func.func private @checked_sharded(%[[X:.*]]: tensor<4xi32>, %[[N:.*]]: tensor<i32>)
// CHECK: %[[K:.*]] = tensor.extract %[[N]]
// CHECK: arith.cmpi sge, %[[K]]
// CHECK: cf.assert
// CHECK: %[[S:.*]] = tensor.splat %[[K]] : tensor<4xi32>
// CHECK: arith.divsi %[[S]], %[[X]] : tensor<4xi32>
pw.program @scalars(%x: !pw.array<8xi32, @s, [{"x"}]>, %n: !pw.array<i32, @s, []>) -> (!pw.array<8xi32, @s, [{"x"}]>) {
  %0 = pw.call @checked(%x, %n) : (!pw.array<8xi32, @s, [{"x"}]>, !pw.array<i32, @s, []>) -> !pw.array<8xi32, @s, [{"x"}]>
  pw.return %0 : !pw.array<8xi32, @s, [{"x"}]>
}

// -----

// A slice is cut along what it has all of.
pw.slice @s mesh <"x" = 2>
func.func private @sliced(%x: tensor<4x6xf32>) -> tensor<4x2xf32> {
  %0 = tensor.extract_slice %x[0, 1] [4, 2] [1, 2] : tensor<4x6xf32> to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// CHECK: func.func private @sliced_sharded(%[[X:.*]]: tensor<2x6xf32>)
// CHECK-NEXT: tensor.extract_slice %[[X]][0, 1] [2, 2] [1, 2] : tensor<2x6xf32> to tensor<2x2xf32>
pw.program @slices(%x: !pw.array<4x6xf32, @s, [{"x"}, {}]>) -> (!pw.array<4x2xf32, @s, [{"x"}, {}]>) {
  %0 = pw.call @sliced(%x) : (!pw.array<4x6xf32, @s, [{"x"}, {}]>) -> !pw.array<4x2xf32, @s, [{"x"}, {}]>
  pw.return %0 : !pw.array<4x2xf32, @s, [{"x"}, {}]>
}

// -----

// What it must have all of is gathered, and it says so.
pw.slice @s mesh <"x" = 2>
func.func private @window(%x: tensor<6xf32>, %k: tensor<3xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  // expected-remark@+1 {{'linalg.conv_1d' needs all of dimension 0 of operand 0, which is gathered}}
  %0 = linalg.conv_1d ins(%x, %k : tensor<6xf32>, tensor<3xf32>) outs(%zero : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func private @window_sharded(%[[X:.*]]: tensor<3xf32>, %[[K:.*]]: tensor<3xf32>)
// CHECK: %[[G:.*]] = pw.all_gather %[[X]] dim 0 over ["x"]
// CHECK: linalg.conv_1d ins(%[[G]], %[[K]]
pw.program @convolve(%x: !pw.array<6xf32, @s, [{"x"}]>, %k: !pw.array<3xf32, @s, [{}]>) -> (!pw.array<4xf32, @s, [{}]>) {
  %0 = pw.call @window(%x, %k) : (!pw.array<6xf32, @s, [{"x"}]>, !pw.array<3xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %0 : !pw.array<4xf32, @s, [{}]>
}

// -----

// Gradients of a value that three products read: what each contributes is added
// first, and summed up over "model" once; scaled and transposed before as well.
#xwt = affine_map<(m, n, k) -> (n, k)>
pw.slice @s mesh <"data" = 2, "model" = 2>
func.func private @backward(%dq: tensor<64x32xf32>, %dk: tensor<64x32xf32>, %dv: tensor<64x32xf32>, %q: tensor<48x32xf32>, %k: tensor<48x32xf32>, %v: tensor<48x32xf32>) -> tensor<48x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x48xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, #xwt, affine_map<(m, n, k) -> (m, n)>] ins(%dq, %q : tensor<64x32xf32>, tensor<48x32xf32>) outs(%zero : tensor<64x48xf32>) -> tensor<64x48xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, #xwt, affine_map<(m, n, k) -> (m, n)>] ins(%dk, %k : tensor<64x32xf32>, tensor<48x32xf32>) outs(%zero : tensor<64x48xf32>) -> tensor<64x48xf32>
  %2 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, #xwt, affine_map<(m, n, k) -> (m, n)>] ins(%dv, %v : tensor<64x32xf32>, tensor<48x32xf32>) outs(%zero : tensor<64x48xf32>) -> tensor<64x48xf32>
  %3 = arith.addf %0, %1 : tensor<64x48xf32>
  %4 = arith.addf %3, %2 : tensor<64x48xf32>
  %half = arith.constant dense<0.5> : tensor<64x48xf32>
  %5 = arith.mulf %half, %4 : tensor<64x48xf32>
  %e = tensor.empty() : tensor<48x64xf32>
  %6 = linalg.transpose ins(%5 : tensor<64x48xf32>) outs(%e : tensor<48x64xf32>) permutation = [1, 0]
  return %6 : tensor<48x64xf32>
}
// CHECK: func.func private @backward_sharded(%{{.*}}: tensor<32x16xf32>
// CHECK: linalg.matmul
// CHECK-NOT: pw.all_reduce
// CHECK: linalg.transpose
// CHECK: pw.all_reduce %{{.*}} add over ["model"] : tensor<48x32xf32>
// CHECK-NOT: pw.all_reduce
!d = !pw.array<64x32xf32, @s, [{"data"}, {"model"}]>
!w = !pw.array<48x32xf32, @s, [{}, {"model"}]>
!r = !pw.array<48x64xf32, @s, [{}, {"data"}]>
// CHECK: return
pw.program @gradients(%dq: !d, %dk: !d, %dv: !d, %q: !w, %k: !w, %v: !w) -> !r {
  %0 = pw.call @backward(%dq, %dk, %dv, %q, %k, %v) : (!d, !d, !d, !w, !w, !w) -> !r
  pw.return %0 : !r
}

// -----

// Sequence parallel: rows between the blocks are cut over "model" too, so the
// block's sum is scattered and its input gathered.
pw.slice @s mesh <"model" = 4>
func.func private @block(%x: tensor<64x32xf32>, %v: tensor<32x128xf32>, %w: tensor<128x32xf32>) -> tensor<64x32xf32> {
  %whole = pw.constrain %x [{}, {}] : tensor<64x32xf32>
  %z1 = arith.constant dense<0.0> : tensor<64x128xf32>
  %0 = linalg.matmul ins(%whole, %v : tensor<64x32xf32>, tensor<32x128xf32>) outs(%z1 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = math.tanh %0 : tensor<64x128xf32>
  %z2 = arith.constant dense<0.0> : tensor<64x32xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<64x128xf32>, tensor<128x32xf32>) outs(%z2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %3 = arith.addf %x, %2 : tensor<64x32xf32>
  return %3 : tensor<64x32xf32>
}
// CHECK: func.func private @block_sharded(%[[X:.*]]: tensor<16x32xf32>, %{{.*}}: tensor<32x32xf32>, %{{.*}}: tensor<32x32xf32>) -> tensor<16x32xf32>
// CHECK: pw.all_gather %[[X]] dim 0 over ["model"]
// CHECK: %[[S:.*]] = pw.reduce_scatter %{{.*}} add dim 0 over ["model"] : tensor<64x32xf32> -> tensor<16x32xf32>
// CHECK: arith.addf %[[X]], %[[S]] : tensor<16x32xf32>
!x = !pw.array<64x32xf32, @s, [{"model"}, {}]>
!v = !pw.array<32x128xf32, @s, [{}, {"model"}]>
!w = !pw.array<128x32xf32, @s, [{"model"}, {}]>
pw.program @sequence(%x: !x, %v: !v, %w: !w) -> !x {
  %0 = pw.call @block(%x, %v, %w) : (!x, !v, !w) -> !x
  pw.return %0 : !x
}

// -----

// A product cut in two dimensions reads its operands in one row and one column of
// the mesh.
pw.slice @s mesh <"r" = 2, "c" = 2>
func.func private @square(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
// CHECK: func.func private @square_sharded(%[[X:.*]]: tensor<32x32xf32>, %[[Y:.*]]: tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK-DAG: %[[A:.*]] = pw.all_gather %[[X]] dim 1 over ["c"] : tensor<32x32xf32> -> tensor<32x64xf32>
// CHECK-DAG: %[[B:.*]] = pw.all_gather %[[Y]] dim 0 over ["r"] : tensor<32x32xf32> -> tensor<64x32xf32>
// CHECK: %[[R:.*]] = linalg.matmul ins(%[[A]], %[[B]]
// CHECK: return %[[R]]
!x = !pw.array<64x64xf32, @s, [{"r"}, {"c"}]>
pw.program @two_dimensions(%x: !x, %y: !x) -> !x {
  %0 = pw.call @square(%x, %y) : (!x, !x) -> !x
  pw.return %0 : !x
}

// -----

// Loops and branches are cut as what they carry; what comes from outside is brought
// to a layout before them, so nobody waits for others inside.
pw.slice @s mesh <"x" = 2>
func.func private @loop(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>, %w: tensor<32x32xf32>, %n: tensor<i32>) -> (tensor<64x32xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tensor.extract %n[] : tensor<i32>
  %steps = arith.index_cast %count : i32 to index
  %one = arith.constant 1.0 : f32
  %0:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%a = %x, %s = %one) -> (tensor<64x32xf32>, f32) {
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %1 = linalg.matmul ins(%a, %w : tensor<64x32xf32>, tensor<32x32xf32>) outs(%zero : tensor<64x32xf32>) -> tensor<64x32xf32>
    %2 = arith.addf %s, %one : f32
    %is = arith.cmpf ogt, %2, %one : f32
    %3 = scf.if %is -> tensor<64x32xf32> {
      %4 = arith.addf %1, %y : tensor<64x32xf32>
      scf.yield %4 : tensor<64x32xf32>
    } else {
      scf.yield %1 : tensor<64x32xf32>
    }
    scf.yield %3, %2 : tensor<64x32xf32>, f32
  }
  %r = tensor.from_elements %0#1 : tensor<f32>
  return %0#0, %r : tensor<64x32xf32>, tensor<f32>
}
// CHECK: func.func private @loop_sharded(%[[X:.*]]: tensor<32x32xf32>, %[[Y:.*]]: tensor<64x16xf32>, %[[W:.*]]: tensor<16x32xf32>, %{{.*}}: tensor<i32>)
// CHECK-DAG: %[[V:.*]] = pw.all_gather %[[W]] dim 0
// CHECK-DAG: %[[Z:.*]] = pw.all_to_all %[[Y]]
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %{{.*}} = %{{.*}}) -> (tensor<32x32xf32>, f32)
// CHECK: %[[P:.*]] = linalg.matmul ins(%[[A]], %[[V]] :
// CHECK: scf.if {{.*}} -> (tensor<32x32xf32>)
// CHECK: arith.addf %[[P]], %[[Z]] : tensor<32x32xf32>
// CHECK-NOT: pw.all
// CHECK: return
!t = !pw.array<64x32xf32, @s, [{"x"}, {}]>
!y = !pw.array<64x32xf32, @s, [{}, {"x"}]>
!w = !pw.array<32x32xf32, @s, [{"x"}, {}]>
!n = !pw.array<i32, @s, []>
!f = !pw.array<f32, @s, []>
pw.program @loops(%x: !t, %y: !y, %w: !w, %n: !n) -> (!t, !f) {
  %0:2 = pw.call @loop(%x, %y, %w, %n) : (!t, !y, !w, !n) -> (!t, !f)
  pw.return %0#0, %0#1 : !t, !f
}

// -----

// How often a loop runs that counts on data is not known: nobody may wait in it.
pw.slice @s mesh <"x" = 2>
func.func private @sums(%x: tensor<64xf32>, %n: tensor<i32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tensor.extract %n[] : tensor<i32>
  %steps = arith.index_cast %count : i32 to index
  // expected-remark@+2 {{'scf.for' is not cut: shards would have to communicate inside it}}
  // expected-remark@+1 {{'scf.for' is computed whole by all devices, so its operands are gathered whole}}
  %0 = scf.for %i = %c0 to %steps step %c1 iter_args(%a = %x) -> tensor<64xf32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %sum = linalg.reduce { arith.addf } ins(%a : tensor<64xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %e = tensor.empty() : tensor<64xf32>
    // expected-note@+1 {{this operation needs the communication}}
    %all = linalg.broadcast ins(%sum : tensor<f32>) outs(%e : tensor<64xf32>) dimensions = [0]
    %1 = arith.divf %a, %all : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
// CHECK: func.func private @sums_sharded(%[[X:.*]]: tensor<32xf32>
// CHECK: %[[A:.*]] = pw.all_gather %[[X]] dim 0
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[A]]) -> (tensor<64xf32>)
!x = !pw.array<64xf32, @s, [{"x"}]>
!n = !pw.array<i32, @s, []>
pw.program @counts(%x: !x, %n: !n) -> !x {
  %0 = pw.call @sums(%x, %n) : (!x, !n) -> !x
  pw.return %0 : !x
}

// -----

// A sum that is returned as contributions is added up by whoever reads it: two
// gradients are added first. What is no sum is contributed by one shard.
pw.slice @s mesh <"d" = 2>
func.func private @gradient(%x: tensor<64x16xf32>, %y: tensor<64x8xf32>) -> (tensor<16x8xf32>, tensor<64x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %y : tensor<64x16xf32>, tensor<64x8xf32>) outs(%zero : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0, %y : tensor<16x8xf32>, tensor<64x8xf32>
}
func.func private @update(%w: tensor<16x8xf32>, %a: tensor<16x8xf32>, %b: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = arith.addf %a, %b : tensor<16x8xf32>
  %1 = arith.subf %w, %0 : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
// CHECK: func.func private @gradient_sharded
// CHECK-NOT: pw.all_reduce
// CHECK: %[[G:.*]] = linalg.matmul
// CHECK-NOT: pw.all_reduce
// CHECK: return %[[G]], %{{.*}} : tensor<16x8xf32>, tensor<32x8xf32>
// CHECK: func.func private @update_sharded(%[[W:.*]]: tensor<16x8xf32>, %[[A:.*]]: tensor<16x8xf32> {pw.accepts_partial}, %[[B:.*]]: tensor<16x8xf32> {pw.accepts_partial})
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[R:.*]] = pw.all_reduce %[[S]] add over ["d"]
// CHECK: arith.subf %[[W]], %[[R]]
// CHECK: func.func private @gradient_sharded_0
// CHECK: %[[F:.*]] = arith.cmpi eq
// CHECK: arith.select %[[F]], %{{.*}}, %{{.*}} : tensor<64x8xf32>
!x = !pw.array<64x16xf32, @s, [{"d"}, {}]>
!y = !pw.array<64x8xf32, @s, [{"d"}, {}]>
!z = !pw.array<64x8xf32, @s, [{}, {}] partial add {"d"}>
!p = !pw.array<16x8xf32, @s, [{}, {}] partial add {"d"}>
!w = !pw.array<16x8xf32, @s, [{}, {}]>
pw.program @sums(%x: !x, %y: !y, %w: !w) -> (!w, !w, !y) {
  %0, %y0 = pw.call @gradient(%x, %y) : (!x, !y) -> (!p, !y)
  %1 = pw.call @update(%w, %0, %0) : (!w, !p, !p) -> !w
  %2, %z = pw.call @gradient(%x, %y) : (!x, !y) -> (!p, !z)
  %3 = pw.reshard %2 : !p -> !w
  %4 = pw.reshard %z : !z -> !y
  pw.return %1, %3, %4 : !w, !w, !y
}

// -----

// A look-up is cut along what is looked up and along what of the table is taken
// whole.
pw.slice @s mesh <"data" = 2, "model" = 2>
func.func private @embed(%t: tensor<10x8xf32>, %i: tensor<4x6x1xi32>) -> (tensor<4x6x8xf32>, tensor<4x6x1x8xf32>) {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<10x8xf32>, tensor<4x6x1xi32>) -> tensor<4x6x8xf32>
  %1 = tensor.gather %t[%i] gather_dims([0]) : (tensor<10x8xf32>, tensor<4x6x1xi32>) -> tensor<4x6x1x8xf32>
  return %0, %1 : tensor<4x6x8xf32>, tensor<4x6x1x8xf32>
}
// CHECK: func.func private @embed_sharded(%[[T:.*]]: tensor<10x4xf32>, %[[I:.*]]: tensor<2x6x1xi32>)
// CHECK-NEXT: %[[A:.*]] = tensor.gather %[[T]][%[[I]]] gather_dims([0]) : (tensor<10x4xf32>, tensor<2x6x1xi32>) -> tensor<2x6x4xf32>
// CHECK-NEXT: %[[B:.*]] = tensor.gather %[[T]][%[[I]]] gather_dims([0]) : (tensor<10x4xf32>, tensor<2x6x1xi32>) -> tensor<2x6x1x4xf32>
// CHECK-NEXT: return %[[A]], %[[B]]
pw.program @lookups(%t: !pw.array<10x8xf32, @s, [{}, {"model"}]>, %i: !pw.array<4x6x1xi32, @s, [{"data"}, {}, {}]>)
    -> (!pw.array<4x6x8xf32, @s, [{"data"}, {}, {"model"}]>, !pw.array<4x6x1x8xf32, @s, [{"data"}, {}, {}, {"model"}]>) {
  %0:2 = pw.call @embed(%t, %i) : (!pw.array<10x8xf32, @s, [{}, {"model"}]>, !pw.array<4x6x1xi32, @s, [{"data"}, {}, {}]>)
      -> (!pw.array<4x6x8xf32, @s, [{"data"}, {}, {"model"}]>, !pw.array<4x6x1x8xf32, @s, [{"data"}, {}, {}, {"model"}]>)
  pw.return %0#0, %0#1 : !pw.array<4x6x8xf32, @s, [{"data"}, {}, {"model"}]>, !pw.array<4x6x1x8xf32, @s, [{"data"}, {}, {}, {"model"}]>
}

// -----

// A table that is cut along what it is looked up in stays where it is: one sum of
// what everybody has.
pw.slice @s mesh <"data" = 2, "model" = 2>
func.func private @rows(%t: tensor<10x8xf32>, %i: tensor<4x1xi32>) -> tensor<4x8xf32> {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<10x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK: func.func private @rows_sharded(%[[T:.*]]: tensor<5x8xf32>, %[[I:.*]]: tensor<2x1xi32>) -> tensor<2x8xf32>
// CHECK-NOT: pw.all_gather
// CHECK: pw.shard_index "model"
// CHECK: %[[J:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<2x1xi32>)
// CHECK: %[[R:.*]] = tensor.gather %[[T]][%[[J]]] gather_dims([0]) : (tensor<5x8xf32>, tensor<2x1xi64>) -> tensor<2x8xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[R]], %{{.*}} : tensor<2x8xf32>, tensor<2xi32>)
// CHECK: %[[Y:.*]] = pw.all_reduce %[[P]] add over ["model"] : tensor<2x8xf32>
// CHECK-NEXT: return %[[Y]]
pw.program @vocabulary(%t: !pw.array<10x8xf32, @s, [{"model"}, {}]>, %i: !pw.array<4x1xi32, @s, [{"data"}, {}]>) -> (!pw.array<4x8xf32, @s, [{"data"}, {}]>) {
  %0 = pw.call @rows(%t, %i) : (!pw.array<10x8xf32, @s, [{"model"}, {}]>, !pw.array<4x1xi32, @s, [{"data"}, {}]>) -> !pw.array<4x8xf32, @s, [{"data"}, {}]>
  pw.return %0 : !pw.array<4x8xf32, @s, [{"data"}, {}]>
}

// -----

// A loop that runs a constant number of times may communicate inside.
pw.slice @s mesh <"x" = 2>
func.func private @power(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<64xf32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %sum = linalg.reduce { arith.addf } ins(%a : tensor<64xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %e = tensor.empty() : tensor<64xf32>
    %all = linalg.broadcast ins(%sum : tensor<f32>) outs(%e : tensor<64xf32>) dimensions = [0]
    %1 = arith.divf %a, %all : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
// CHECK: func.func private @power_sharded(%[[X:.*]]: tensor<32xf32>)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[X]]) -> (tensor<32xf32>)
// CHECK: pw.all_reduce %{{.*}} add over ["x"] : tensor<f32>
!x = !pw.array<64xf32, @s, [{"x"}]>
pw.program @powers(%x: !x) -> !x {
  %0 = pw.call @power(%x) : (!x) -> !x
  pw.return %0 : !x
}

// -----

// A softmax is cut along all dimensions but that which it sums over, as the same
// written with reductions is.
pw.slice @s mesh <"d" = 2, "m" = 2>
func.func private @rows(%x: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %e = tensor.empty() : tensor<4x8x16xf32>
  %r = linalg.softmax dimension(2) ins(%x : tensor<4x8x16xf32>) outs(%e : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return %r : tensor<4x8x16xf32>
}
// CHECK: func.func private @rows_sharded(%[[X:.*]]: tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
// CHECK-NOT: pw.all_gather
// CHECK: linalg.softmax dimension(2) ins(%[[X]] : tensor<2x4x16xf32>)
// CHECK-NOT: pw.all_gather
!x = !pw.array<4x8x16xf32, @s, [{"m"}, {"d"}, {}]>
pw.program @softmax(%x: !x) -> !x {
  %0 = pw.call @rows(%x) : (!x) -> !x
  pw.return %0 : !x
}

// -----

// A tensor that a body reads by indices is an operand like others: it is gathered,
// with a remark.
pw.slice @s mesh <"x" = 2>
func.func private @look_up(%table: tensor<8xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  // expected-note@-1 {{the tensor is defined here}}
  %e = tensor.empty() : tensor<4xf32>
  // expected-remark@+1 {{'linalg.map' needs all of a 'tensor<8xf32>' that its body reads, which is gathered}}
  %r = linalg.map ins(%i : tensor<4xi32>) outs(%e : tensor<4xf32>)
    (%n: i32, %o: f32) {
      %k = arith.index_cast %n : i32 to index
      %v = tensor.extract %table[%k] : tensor<8xf32>
      linalg.yield %v : f32
    }
  return %r : tensor<4xf32>
}
// CHECK: func.func private @look_up_sharded(%[[T:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<2xi32>) -> tensor<2xf32>
// CHECK: %[[A:.*]] = pw.all_gather %[[T]] dim 0
// CHECK: linalg.map ins(%[[I]] : tensor<2xi32>)
// CHECK: tensor.extract %[[A]]
!t = !pw.array<8xf32, @s, [{"x"}]>
!i = !pw.array<4xi32, @s, [{"x"}]>
!r = !pw.array<4xf32, @s, [{"x"}]>
pw.program @captured(%t: !t, %i: !i) -> !r {
  %0 = pw.call @look_up(%t, %i) : (!t, !i) -> !r
  pw.return %0 : !r
}

// -----

// The same of an operation without a rule.
pw.slice @s mesh <"x" = 2>
func.func private @reverse(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@+1 {{'tensor.generate' has no sharding rule, so what its body reads is gathered whole}}
  %r = tensor.generate {
  ^bb0(%i: index):
    %c3 = arith.constant 3 : index
    %k = arith.subi %c3, %i : index
    %v = tensor.extract %x[%k] : tensor<4xf32>
    tensor.yield %v : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK: func.func private @reverse_sharded(%[[X:.*]]: tensor<2xf32>) -> tensor<2xf32>
// CHECK: %[[A:.*]] = pw.all_gather %[[X]] dim 0
// CHECK: tensor.generate
!x = !pw.array<4xf32, @s, [{"x"}]>
pw.program @generated(%x: !x) -> !x {
  %0 = pw.call @reverse(%x) : (!x) -> !x
  pw.return %0 : !x
}

// -----

// A size is known and is that of the whole array; nothing is gathered for it.
pw.slice @s mesh <"x" = 2>
func.func private @scaled(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<4xf32>
  %i = arith.index_cast %n : index to i32
  %f = arith.sitofp %i : i32 to f32
  %s = tensor.splat %f : tensor<4xf32>
  %r = arith.divf %x, %s : tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK: func.func private @scaled_sharded(%[[X:.*]]: tensor<2xf32>) -> tensor<2xf32>
// CHECK-NOT: pw.all_gather
// CHECK: %[[N:.*]] = arith.constant 4 : index
// CHECK: arith.index_cast %[[N]]
!x = !pw.array<4xf32, @s, [{"x"}]>
pw.program @sizes(%x: !x) -> !x {
  %0 = pw.call @scaled(%x) : (!x) -> !x
  pw.return %0 : !x
}

// -----

// Calls in loops and branches are inlined, so that these are cut as well.
pw.slice @s mesh <"x" = 2>
func.func private @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %x, %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @calls(%x: tensor<64xf32>, %p: tensor<i1>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %is = tensor.extract %p[] : tensor<i1>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<64xf32> {
    %1 = scf.if %is -> tensor<64xf32> {
      %2 = func.call @twice(%a) : (tensor<64xf32>) -> tensor<64xf32>
      scf.yield %2 : tensor<64xf32>
    } else {
      scf.yield %a : tensor<64xf32>
    }
    scf.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
// CHECK: func.func private @calls_sharded(%[[X:.*]]: tensor<32xf32>
// CHECK-NOT: pw.all
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]]) -> (tensor<32xf32>)
// CHECK: arith.addf %[[A]], %[[A]] : tensor<32xf32>
// CHECK: return
!v = !pw.array<64xf32, @s, [{"x"}]>
!p = !pw.array<i1, @s, []>
pw.program @calls_in_loops(%x: !v, %p: !p) -> !v {
  %0 = pw.call @calls(%x, %p) : (!v, !p) -> !v
  pw.return %0 : !v
}
