// How tensors change their layouts inside of functions is told beside what moves
// between them, and follows from the text: machines have no say.

// RUN: pw-opt %s -pw-partition=explain-reshards -verify-diagnostics -o /dev/null
// RUN: pw-run %s --topology=1x1x4 --explain-reshard --compile-only | FileCheck %s
// RUN: pw-run %s --topology=1x4x1 --explain-reshard --compile-only | FileCheck %s
// CHECK: reshards-in-bodies.mlir:[[#]]:[[#]]: tensor<64x64xf32> #pw.sharding<[{"x"}, {"y"}]> -> #pw.sharding<[{}, {"y"}]>
// CHECK-NEXT: taken route steps ici bytes dcn bytes peak bytes ns
// CHECK-NEXT: yes all-gather dim 0 over x 1 ~16384 ~0 12288 2512
// CHECK: tensor<64x64xf32> #pw.sharding<[{"y"}, {}]> -> #pw.sharding<[{"y"}, {"x"}]>
// CHECK-NEXT: taken
// CHECK-NEXT: yes slice dim 1 over x 1 ~0 ~0 12288 0
// CHECK: tensor<64x64xf32> #pw.sharding<[{}, {"x"}] partial add {"y"}> -> #pw.sharding<[{"y"}, {"x"}]>
// CHECK-NEXT: taken
// CHECK-NEXT: yes reduce-scatter dim 0 over y 1 ~16384 ~0 12288 2512
// CHECK-NEXT: all-reduce over y, then slice dim 0 over y 2 ~32768 ~0 16384 3024
// CHECK: !pw.array<64x64xf32, @s, [{"y"}, {"x"}]> -> !pw.array<64x64xf32, @s, [{}, {}]>
// CHECK-NEXT: taken
// CHECK-NEXT: yes {{(all-gather|pieces)}}

pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-remark@+2 {{takes all-gather dim 0 over x: about 16384 bytes over ICI and 0 over the DCN, 12288 bytes at a shard, 2512 ns}}
  // expected-remark@+1 {{takes slice dim 1 over x}}
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-remark@+2 {{takes reduce-scatter dim 0 over y}}
  // expected-note@+1 {{not all-reduce over y, then slice dim 0 over y: about 32768 bytes}}
  return %0 : tensor<64x64xf32>
}
pw.program @p(%a: !pw.array<64x64xf32, @s, [{"x"}, {"y"}]>, %b: !pw.array<64x64xf32, @s, [{"y"}, {}]>) -> (!pw.array<64x64xf32, @s, [{}, {}]>) {
  %c = pw.call @f(%a, %b) : (!pw.array<64x64xf32, @s, [{"x"}, {"y"}]>, !pw.array<64x64xf32, @s, [{"y"}, {}]>) -> !pw.array<64x64xf32, @s, [{"y"}, {"x"}]>
  %d = pw.reshard %c : !pw.array<64x64xf32, @s, [{"y"}, {"x"}]> -> !pw.array<64x64xf32, @s, [{}, {}]>
  pw.return %d : !pw.array<64x64xf32, @s, [{}, {}]>
}
