// RUN: pw-opt %s -pw-partition -split-input-file -verify-diagnostics | FileCheck %s

// Ten rows over four devices: three each, of which the last has one. Nobody needs
// more for what is done row by row; rows that are none are zeros where they would
// be added up.
pw.slice @s mesh <"data" = 4>
func.func private @layer(%x: tensor<10x16xf32>, %w: tensor<16x8xf32>) -> (tensor<10x8xf32>, tensor<16x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<10x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<10x16xf32>, tensor<16x8xf32>) outs(%zero : tensor<10x8xf32>) -> tensor<10x8xf32>
  %y = math.tanh %h : tensor<10x8xf32>
  %start = arith.constant dense<0.0> : tensor<16x8xf32>
  %g = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %y : tensor<10x16xf32>, tensor<10x8xf32>) outs(%start : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y, %g : tensor<10x8xf32>, tensor<16x8xf32>
}
// CHECK-LABEL: func.func private @layer_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3x16xf32>, %[[W:.*]]: tensor<16x8xf32>) -> (tensor<3x8xf32>, tensor<16x8xf32>) attributes {pw.local_view, pw.pointwise}
// CHECK-NOT: pw.all
// CHECK: %[[H:.*]] = linalg.matmul ins(%[[X]], %[[W]] : tensor<3x16xf32>, tensor<16x8xf32>)
// CHECK: %[[Y:.*]] = math.tanh %[[H]] : tensor<3x8xf32>
// CHECK: %[[I:.*]] = pw.shard_index "data"
// CHECK: %[[BEGIN:.*]] = arith.muli %[[I]], %c3
// CHECK: %[[ROWS:.*]] = arith.subi %c10{{.*}}, %[[BEGIN]]
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<3x16xf32>)
// CHECK: %[[L:.*]] = linalg.index 0
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[L]], %[[ROWS]]
// CHECK: %[[ZERO:.*]] = arith.constant -0.000000e+00
// CHECK: arith.select %[[IS]], %{{.*}}, %[[ZERO]]
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<3x8xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[ZERO]]
// CHECK: %[[P:.*]] = linalg.matmul {{.*}} ins(%[[A]], %[[B]] :
// CHECK: %[[G:.*]] = pw.all_reduce %[[P]] add over ["data"] : tensor<16x8xf32>
// CHECK: return %[[Y]], %[[G]]
!x = !pw.array<10x16xf32, @s, [{"data"}, {}]>
!w = !pw.array<16x8xf32, @s, [{}, {}]>
!y = !pw.array<10x8xf32, @s, [{"data"}, {}]>
pw.program @step(%x: !x, %w: !w) -> (!y, !w) {
  %0:2 = pw.call @layer(%x, %w) : (!x, !w) -> (!y, !w)
  pw.return %0#0, %0#1 : !y, !w
}

// -----

// A mean: what is not there is not added. Of a largest number it is the smallest
// there is.
pw.slice @s mesh <"x" = 2>
func.func private @mean(%x: tensor<5x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<5x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %five = arith.constant dense<5.0> : tensor<4xf32>
  %mean = arith.divf %sum, %five : tensor<4xf32>
  %least = arith.constant dense<0xFF800000> : tensor<4xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<5x4xf32>) outs(%least : tensor<4xf32>) dimensions = [0]
  return %mean, %max : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func private @mean_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>)
// CHECK: %[[S:.*]] = linalg.generic {{.*}}"reduction"{{.*}} ins(%[[X]] : tensor<3x4xf32>)
// CHECK: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK: %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[ADDED:.*]] = arith.select %{{.*}}, %[[IN]], %[[NONE]]
// CHECK: arith.addf %{{.*}}, %[[ADDED]]
// CHECK: %[[D:.*]] = arith.divf %[[S]]
// CHECK: %[[M:.*]] = linalg.generic {{.*}}"reduction"{{.*}} ins(%[[X]] : tensor<3x4xf32>)
// CHECK: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NONE]]
// CHECK: arith.maximumf
// CHECK: pw.all_reduce %[[D]] add over ["x"]
// CHECK: pw.all_reduce %[[M]] max over ["x"]
!x = !pw.array<5x4xf32, @s, [{"x"}, {}]>
!m = !pw.array<4xf32, @s, [{}]>
pw.program @means(%x: !x) -> (!m, !m) {
  %0:2 = pw.call @mean(%x) : (!x) -> (!m, !m)
  pw.return %0#0, %0#1 : !m, !m
}

// -----

// Padding is the identity of reductions of bits and of unsigned numbers, too.
pw.slice @s mesh <"x" = 2>
func.func private @bits(%x: tensor<5x4xi16>) -> (tensor<4xi16>, tensor<4xi16>, tensor<4xi16>) {
  %none = arith.constant dense<0> : tensor<4xi16>
  %all = arith.constant dense<-1> : tensor<4xi16>
  %and = linalg.reduce { arith.andi } ins(%x : tensor<5x4xi16>) outs(%all : tensor<4xi16>) dimensions = [0]
  %least = linalg.reduce { arith.minui } ins(%x : tensor<5x4xi16>) outs(%all : tensor<4xi16>) dimensions = [0]
  %xor = linalg.reduce { arith.xori } ins(%x : tensor<5x4xi16>) outs(%none : tensor<4xi16>) dimensions = [0]
  return %and, %least, %xor : tensor<4xi16>, tensor<4xi16>, tensor<4xi16>
}
// CHECK-LABEL: func.func private @bits_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xi16>)
// CHECK: %[[AND:.*]] = linalg.generic
// CHECK: %[[ALL:.*]] = arith.constant -1 : i16
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[ALL]]
// CHECK: arith.andi
// CHECK: %[[LEAST:.*]] = linalg.generic
// CHECK: %[[ALL:.*]] = arith.constant -1 : i16
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[ALL]]
// CHECK: arith.minui
// CHECK: %[[XOR:.*]] = linalg.generic
// CHECK: %[[NONE:.*]] = arith.constant 0 : i16
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NONE]]
// CHECK: arith.xori
// CHECK: pw.all_reduce %[[AND]] and over ["x"]
// CHECK: pw.all_reduce %[[LEAST]] umin over ["x"]
// CHECK: pw.all_reduce %[[XOR]] xor over ["x"]
!x = !pw.array<5x4xui16, @s, [{"x"}, {}]>
!m = !pw.array<4xui16, @s, [{}]>
pw.program @bits_of(%x: !x) -> (!m, !m, !m) {
  %0:3 = pw.call @bits(%x) : (!x) -> (!m, !m, !m)
  pw.return %0#0, %0#1, %0#2 : !m, !m, !m
}

// -----

// Nobody divides by padding, nor looks up, nor checks what is in it. A divisor that
// is known needs no care.
pw.slice @s mesh <"x" = 2>
func.func private @divide(%x: tensor<5xi32>, %t: tensor<4xi32>) -> (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>) {
  %c = arith.constant dense<60> : tensor<5xi32>
  %0 = arith.divsi %c, %x : tensor<5xi32>
  %1 = arith.remsi %x, %c : tensor<5xi32>
  %e = tensor.empty() : tensor<5xi32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%a: i32, %b: i32):
    %three = arith.constant 3 : i32
    %positive = arith.cmpi sgt, %a, %three : i32
    cf.assert %positive, "x is small"
    %rest = arith.remui %three, %a : i32
    %i = arith.index_cast %rest : i32 to index
    %v = tensor.extract %t[%i] : tensor<4xi32>
    linalg.yield %v : i32
  } -> tensor<5xi32>
  return %0, %1, %2 : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>
}
// CHECK-LABEL: func.func private @divide_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3xi32>, %[[T:.*]]: tensor<4xi32>)
// CHECK-NOT: pw.all_gather
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<3xi32>)
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[ONE]]
// CHECK: arith.divsi %{{.*}}, %[[M]] : tensor<3xi32>
// CHECK: arith.remsi %[[X]], %{{.*}} : tensor<3xi32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<3xi32>)
// CHECK: ^bb0(%[[A:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[IS:.*]] = arith.cmpi slt
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[OK:.*]] = arith.select %[[IS]], %{{.*}}, %[[TRUE]]
// CHECK: cf.assert %[[OK]]
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[BY:.*]] = arith.select %[[IS]], %[[A]], %[[ONE]]
// CHECK: arith.remui %{{.*}}, %[[BY]]
// CHECK: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK: %[[AT:.*]] = arith.select %[[IS]], %{{.*}}, %[[FIRST]]
// CHECK: tensor.extract %[[T]][%[[AT]]]
!x = !pw.array<5xi32, @s, [{"x"}]>
!t = !pw.array<4xi32, @s, [{}]>
pw.program @divisions(%x: !x, %t: !t) -> (!x, !x, !x) {
  %0:3 = pw.call @divide(%x, %t) : (!x, !t) -> (!x, !x, !x)
  pw.return %0#0, %0#1, %0#2 : !x, !x, !x
}

// -----

// The smallest number divided by -1 is an error that padding may not raise either,
// nor a power of zero, nor a shift by too much, if it is not known by how much.
pw.slice @s mesh <"x" = 2>
func.func private @negate(%x: tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>) {
  %c = arith.constant dense<-1> : tensor<5xi32>
  %0 = arith.divsi %x, %c : tensor<5xi32>
  %1 = math.ipowi %x, %c : tensor<5xi32>
  %two = arith.constant dense<2> : tensor<5xi32>
  %2 = arith.shrsi %x, %two : tensor<5xi32>
  %3 = arith.shli %2, %x : tensor<5xi32>
  return %0, %1, %3 : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>
}
// CHECK-LABEL: func.func private @negate_sharded
// CHECK: %[[M:.*]] = linalg.generic
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[ONE]]
// CHECK: arith.divsi %{{.*}}, %[[M]] : tensor<3xi32>
// CHECK: %[[B:.*]] = linalg.generic
// CHECK: math.ipowi %[[B]], %{{.*}} : tensor<3xi32>
// CHECK-NOT: linalg.generic
// CHECK: %[[S:.*]] = arith.shrsi %{{.*}} : tensor<3xi32>
// CHECK: %[[N:.*]] = linalg.generic
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[ZERO]]
// CHECK: arith.shli %[[S]], %[[N]] : tensor<3xi32>
!x = !pw.array<5xi32, @s, [{"x"}]>
pw.program @negations(%x: !x) -> (!x, !x, !x) {
  %0:3 = pw.call @negate(%x) : (!x) -> (!x, !x, !x)
  pw.return %0#0, %0#1, %0#2 : !x, !x, !x
}

// -----

// How often a loop runs may come from padding, so nobody computes that in place.
pw.slice @s mesh <"x" = 2>
func.func private @repeat(%x: tensor<5xi64>) -> tensor<5xi64> {
  %e = tensor.empty() : tensor<5xi64>
  // expected-remark@+1 {{'linalg.generic' needs all of dimension 0 of operand 0, which is gathered: its 5 elements are not cut into 2 equal blocks}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<5xi64>) outs(%e : tensor<5xi64>) {
  ^bb0(%a: i64, %b: i64):
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %s = scf.for %i = %c0 to %a step %c1 iter_args(%t = %c0) -> i64 : i64 {
      %n = arith.addi %t, %i : i64
      scf.yield %n : i64
    }
    linalg.yield %s : i64
  } -> tensor<5xi64>
  return %0 : tensor<5xi64>
}
// CHECK-LABEL: func.func private @repeat_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3xi64>) -> tensor<3xi64>
// CHECK: %[[G:.*]] = pw.all_gather %[[X]] dim 0 over ["x"] : tensor<3xi64> -> tensor<6xi64>
// CHECK: %[[V:.*]] = tensor.extract_slice %[[G]][0] [5] [1]
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<5xi64>)
// CHECK: tensor.pad %[[R]] low[0] high[1]
// CHECK: tensor.extract_slice {{.*}} : tensor<6xi64> to tensor<3xi64>
!x = !pw.array<5xi64, @s, [{"x"}]>
pw.program @repeats(%x: !x) -> !x {
  %0 = pw.call @repeat(%x) : (!x) -> !x
  pw.return %0 : !x
}

// -----

// Padding goes along where a dimension is left alone, and would be in the middle of
// what two are together.
pw.slice @s mesh <"x" = 2>
func.func private @shapes(%x: tensor<5x4xf32>) -> (tensor<5x2x2xf32>, tensor<5x2xf32>, tensor<20xf32>) {
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [5, 2, 2] : tensor<5x4xf32> into tensor<5x2x2xf32>
  %1 = tensor.extract_slice %x[0, 1] [5, 2] [1, 1] : tensor<5x4xf32> to tensor<5x2xf32>
  // expected-remark@+1 {{'tensor.collapse_shape' needs all of dimension 0 of operand 0, which is gathered: its 5 elements are not cut into 2 equal blocks}}
  %2 = tensor.collapse_shape %x [[0, 1]] : tensor<5x4xf32> into tensor<20xf32>
  return %0, %1, %2 : tensor<5x2x2xf32>, tensor<5x2xf32>, tensor<20xf32>
}
// CHECK-LABEL: func.func private @shapes_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>) -> (tensor<3x2x2xf32>, tensor<3x2xf32>, tensor<10xf32>)
// CHECK: tensor.expand_shape %[[X]] {{.*}} : tensor<3x4xf32> into tensor<3x2x2xf32>
// CHECK: tensor.extract_slice %[[X]][0, 1] [3, 2] [1, 1]
// CHECK: pw.all_gather %[[X]] dim 0
// CHECK: tensor.collapse_shape %{{.*}} : tensor<5x4xf32> into tensor<20xf32>
!x = !pw.array<5x4xf32, @s, [{"x"}, {}]>
!y = !pw.array<5x2x2xf32, @s, [{"x"}, {}, {}]>
!z = !pw.array<5x2xf32, @s, [{"x"}, {}]>
!f = !pw.array<20xf32, @s, [{"x"}]>
pw.program @reshapes(%x: !x) -> (!y, !z, !f) {
  %0:3 = pw.call @shapes(%x) : (!x) -> (!y, !z, !f)
  pw.return %0#0, %0#1, %0#2 : !y, !z, !f
}

// -----

// Blocks of another dimension are exchanged as of an even one, with padding before,
// and without it behind.
pw.slice @s mesh <"x" = 2>
func.func private @same(%x: tensor<5x7xf32>) -> tensor<5x7xf32> { return %x : tensor<5x7xf32> }
// CHECK-LABEL: func.func private @same_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3x7xf32>) -> tensor<5x4xf32>
// CHECK: %[[P:.*]] = tensor.pad %[[X]] low[0, 0] high[0, 1]
// CHECK: %[[E:.*]] = pw.all_to_all %[[P]] split 1 concat 0 over ["x"] : tensor<3x8xf32> -> tensor<6x4xf32>
// CHECK: %[[Y:.*]] = tensor.extract_slice %[[E]][0, 0] [5, 4] [1, 1]
// CHECK: return %[[Y]]
pw.program @exchange(%x: !pw.array<5x7xf32, @s, [{"x"}, {}]>) -> (!pw.array<5x7xf32, @s, [{}, {"x"}]>) {
  %0 = pw.call @same(%x) : (!pw.array<5x7xf32, @s, [{"x"}, {}]>) -> !pw.array<5x7xf32, @s, [{}, {"x"}]>
  pw.return %0 : !pw.array<5x7xf32, @s, [{}, {"x"}]>
}

// -----

// Blocks of eleven rows over four devices are blocks of those over two; of ten they
// are not: six and five of them begin elsewhere than three, three and so on.
pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @eleven(%x: tensor<11xf32>) -> tensor<11xf32> { return %x : tensor<11xf32> }
func.func private @ten(%x: tensor<10xf32>) -> tensor<10xf32> { return %x : tensor<10xf32> }
// CHECK-LABEL: func.func private @eleven_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>) -> tensor<6xf32>
// CHECK-NEXT: %[[G:.*]] = pw.all_gather %[[X]] dim 0 over ["y"] : tensor<3xf32> -> tensor<6xf32>
// CHECK-NEXT: return %[[G]]
// CHECK-LABEL: func.func private @ten_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>) -> tensor<5xf32>
// CHECK: %[[G:.*]] = pw.all_gather %[[X]] dim 0 over ["x", "y"] : tensor<3xf32> -> tensor<12xf32>
// CHECK: %[[ALL:.*]] = tensor.extract_slice %[[G]][0] [10] [1]
// CHECK: tensor.extract_slice %[[ALL]][%{{.*}}] [5] [1]
pw.program @blocks(%x: !pw.array<11xf32, @s, [{"x", "y"}]>, %y: !pw.array<10xf32, @s, [{"x", "y"}]>)
    -> (!pw.array<11xf32, @s, [{"x"}]>, !pw.array<10xf32, @s, [{"x"}]>) {
  %0 = pw.call @eleven(%x) : (!pw.array<11xf32, @s, [{"x", "y"}]>) -> !pw.array<11xf32, @s, [{"x"}]>
  %1 = pw.call @ten(%y) : (!pw.array<10xf32, @s, [{"x", "y"}]>) -> !pw.array<10xf32, @s, [{"x"}]>
  pw.return %0, %1 : !pw.array<11xf32, @s, [{"x"}]>, !pw.array<10xf32, @s, [{"x"}]>
}

// -----

// Numbers of loops are those of the whole array, whose blocks begin at multiples of
// the first one's size.
pw.slice @s mesh <"x" = 3>
func.func private @iota(%x: tensor<7xi64>) -> tensor<7xi64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<7xi64>) {
  ^bb0(%a: i64):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i64
    %s = arith.addi %a, %c : i64
    linalg.yield %s : i64
  } -> tensor<7xi64>
  return %0 : tensor<7xi64>
}
// CHECK-LABEL: func.func private @iota_sharded
// CHECK-SAME: (%{{.*}}: tensor<3xi64>)
// CHECK: %[[O:.*]] = arith.muli %{{.*}}, %c3
// CHECK: %[[L:.*]] = linalg.index 0
// CHECK: arith.addi %[[L]], %[[O]] : index
!x = !pw.array<7xi64, @s, [{"x"}]>
pw.program @numbers(%x: !x) -> !x {
  %0 = pw.call @iota(%x) : (!x) -> !x
  pw.return %0 : !x
}

// -----

// A dimension with fewer elements than blocks is cut all the same: some shards have
// padding alone. So is one in the middle.
pw.slice @s mesh <"x" = 4>
pw.slice @one mesh <"x" = 1>
func.func private @few(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
  %0 = arith.negf %x : tensor<3xf32>
  // expected-remark@+1 {{dimension 0 of 3 elements is cut into 4 blocks, 1 of which have none}}
  %1 = pw.constrain %0 [{"x"}] : tensor<3xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %2 = linalg.reduce { arith.mulf } ins(%1 : tensor<3xf32>) outs(%one : tensor<f32>) dimensions = [0]
  return %1, %2 : tensor<3xf32>, tensor<f32>
}
// CHECK: func.func private @few(%[[X:.*]]: tensor<3xf32>)
// CHECK-NEXT: arith.negf %[[X]]
// CHECK-NOT: pw.constrain
// CHECK: func.func private @few_sharded(%[[X:.*]]: tensor<1xf32>) -> (tensor<1xf32>, tensor<f32>)
// CHECK: arith.negf %[[X]] : tensor<1xf32>
// CHECK: %[[NONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NONE]]
// CHECK: pw.all_reduce %{{.*}} mul over ["x"]
!x = !pw.array<3xf32, @s, [{"x"}]>
!y = !pw.array<f32, @s, []>
!x1 = !pw.array<3xf32, @one, [{"x"}]>
!y1 = !pw.array<f32, @one, []>
pw.program @elements(%x: !x, %y: !x1) -> (!x, !y, !x1, !y1) {
  // expected-remark@+2 {{operand 0 of 'few' is '!pw.array<3xf32, @s, [{"x"}]>': dimension 0 of 3 elements is cut into 4 blocks, 1 of which have none}}
  // expected-remark@+1 {{result 0 of 'few' is '!pw.array<3xf32, @s, [{"x"}]>': dimension 0 of 3 elements is cut into 4 blocks, 1 of which have none}}
  %0:2 = pw.call @few(%x) : (!x) -> (!x, !y)
  %1:2 = pw.call @few(%y) : (!x1) -> (!x1, !y1)
  pw.return %0#0, %0#1, %1#0, %1#1 : !x, !y, !x1, !y1
}

// -----

// Nothing is cut into blocks of nothing; what has no elements gets no padding.
pw.slice @s mesh <"x" = 2>
func.func private @nothing(%x: tensor<0x5xf32>) -> (tensor<0x5xf32>, tensor<5xf32>) {
  %0 = arith.negf %x : tensor<0x5xf32>
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<0x5xf32>) outs(%zero : tensor<5xf32>) dimensions = [0]
  return %0, %1 : tensor<0x5xf32>, tensor<5xf32>
}
// CHECK-LABEL: func.func private @nothing_sharded
// CHECK-SAME: (%[[X:.*]]: tensor<0x5xf32>) -> (tensor<0x3xf32>, tensor<5xf32>)
// CHECK-NOT: linalg.index
// CHECK-NOT: tensor.pad
// CHECK: return
!x = !pw.array<0x5xf32, @s, [{"x"}, {}]>
!y = !pw.array<0x5xf32, @s, [{}, {"x"}]>
!z = !pw.array<5xf32, @s, [{}]>
pw.program @nothings(%x: !x) -> (!y, !z) {
  %0:2 = pw.call @nothing(%x) : (!x) -> (!y, !z)
  pw.return %0#0, %0#1 : !y, !z
}

// -----

// Indices in padding become the first; of a table with padding nobody looks that up.
pw.slice @s mesh <"x" = 2>
func.func private @rows(%t: tensor<701x8xf32>, %i: tensor<5x1xi32>) -> tensor<5x8xf32> {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<701x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}
// CHECK-LABEL: func.func private @rows_sharded
// CHECK-SAME: (%[[T:.*]]: tensor<701x8xf32>, %[[I:.*]]: tensor<3x1xi32>) -> tensor<3x8xf32>
// CHECK: %[[J:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<3x1xi32>)
// CHECK: %[[FIRST:.*]] = arith.constant 0 : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[FIRST]]
// CHECK: tensor.gather %[[T]][%[[J]]]
// CHECK-LABEL: func.func private @rows_sharded_0
// CHECK-SAME: (%[[T:.*]]: tensor<351x8xf32>, %[[I:.*]]: tensor<5x1xi32>) -> tensor<5x8xf32>
// CHECK: %[[J:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<5x1xi32>)
// CHECK-DAG: %[[MINE:.*]] = arith.select
// CHECK-DAG: arith.constant 701 : index
// CHECK: arith.select %{{.*}}, %[[MINE]], %{{.*}} : index
// CHECK: tensor.gather %[[T]][%[[J]]]
// CHECK: pw.all_reduce %{{.*}} add over ["x"] : tensor<5x8xf32>
pw.program @lookups(%t: !pw.array<701x8xf32, @s, [{}, {}]>, %i: !pw.array<5x1xi32, @s, [{"x"}, {}]>, %u: !pw.array<701x8xf32, @s, [{"x"}, {}]>, %j: !pw.array<5x1xi32, @s, [{}, {}]>)
    -> (!pw.array<5x8xf32, @s, [{"x"}, {}]>, !pw.array<5x8xf32, @s, [{}, {}]>) {
  %0 = pw.call @rows(%t, %i) : (!pw.array<701x8xf32, @s, [{}, {}]>, !pw.array<5x1xi32, @s, [{"x"}, {}]>) -> !pw.array<5x8xf32, @s, [{"x"}, {}]>
  %1 = pw.call @rows(%u, %j) : (!pw.array<701x8xf32, @s, [{"x"}, {}]>, !pw.array<5x1xi32, @s, [{}, {}]>) -> !pw.array<5x8xf32, @s, [{}, {}]>
  pw.return %0, %1 : !pw.array<5x8xf32, @s, [{"x"}, {}]>, !pw.array<5x8xf32, @s, [{}, {}]>
}

// -----

// Table and indices are both cut, over axes of their own: indices in padding become
// the first before they are looked for in the block.
pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @both(%t: tensor<701x8xf32>, %i: tensor<5x1xi32>) -> tensor<5x8xf32> {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<701x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}
// CHECK-LABEL: func.func private @both_sharded
// CHECK-SAME: (%[[T:.*]]: tensor<351x8xf32>, %[[I:.*]]: tensor<3x1xi32>) -> tensor<3x8xf32>
// CHECK: %[[J:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<3x1xi32>)
// CHECK: %[[FIRST:.*]] = arith.constant 0 : i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[FIRST]] : i32
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[J]] : tensor<3x1xi32>)
// CHECK: tensor.gather %[[T]][%[[B]]]
// CHECK: pw.all_reduce %{{.*}} add over ["x"] : tensor<3x8xf32>
pw.program @cut_both(%t: !pw.array<701x8xf32, @s, [{"x"}, {}]>, %i: !pw.array<5x1xi32, @s, [{"y"}, {}]>) -> (!pw.array<5x8xf32, @s, [{"y"}, {}]>) {
  %0 = pw.call @both(%t, %i) : (!pw.array<701x8xf32, @s, [{"x"}, {}]>, !pw.array<5x1xi32, @s, [{"y"}, {}]>) -> !pw.array<5x8xf32, @s, [{"y"}, {}]>
  pw.return %0 : !pw.array<5x8xf32, @s, [{"y"}, {}]>
}
