// Which way each op takes, and which ones are left to plain loops: the same whether the
// code is compiled or found. A plan has no bodies any more.

// DEFINE: %{run} = pw-run --topology=1x1x1 --compile-only --explain-kernels
// RUN: rm -rf %t && mkdir %t
// RUN: %{run} %s 2>&1 | FileCheck %s
// RUN: %{run} %s --kernel-cache=%t/cache --emit-plan=%t/plan 2>&1 | FileCheck %s
// RUN: %{run} %s --kernel-cache=%t/cache 2>&1 | FileCheck %s
// RUN: %{run} %t/plan | FileCheck %s --check-prefix=PLAN
// RUN: pw-opt %s --pw-compile="topology=1x1x1 explain-kernels" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: pw-opt %s --pw-compile="topology=1x1x1" -o /dev/null 2>&1 | count 0

// What would gain less than 4 times gets no remark.
// REMARK-COUNT-2: remark: plain loop
// REMARK-NOT: remark

// CHECK: explain-kernels.mlir:[[#SIN:]]:8: remark: plain loop: calls the C library for math.sin; vectors would be about {{[0-9]+}} times as fast
// CHECK: explain-kernels.mlir:[[#MAX:]]:8: remark: plain loop: elements of operand 1 are not contiguous; vectors would be about {{[0-9]+}} times as fast

// CHECK: kernel place op path
// Neither what sums begin with nor padding is made.
// CHECK-NEXT: fast {{.*}} linalg.fill no loop of its own
// CHECK-NEXT: fast {{.*}} tensor.pad no loop of its own
// CHECK-NEXT: fast {{.*}} linalg.conv_2d_nhwc_hwcf windows, fill
// CHECK-NEXT: fast {{.*}} linalg.matmul product
// CHECK-NEXT: fast {{.*}} arith.addf reduction in lanes, transposed in tiles, vectors
// CHECK-NEXT: fast {{.*}} linalg.reduce reduction in lanes
// CHECK-NEXT: fast {{.*}} linalg.reduce vectors
// CHECK-NEXT: fast {{.*}} linalg.transpose transposed in tiles
// CHECK-NEXT: fast {{.*}} arith.divsi one element at a time, because integers are divided
// CHECK-NEXT: plain {{.*}}:[[#SIN]]:8 math.sin plain loop: calls the C library for math.sin
// CHECK-NEXT: plain {{.*}}:[[#MAX]]:8 linalg.generic plain loop: elements of operand 1 are not contiguous
// CHECK-NEXT: plain {{.*}} linalg.transpose plain loop: elements of operand 0 are not contiguous
// CHECK-NEXT: 12 ops, 3 in plain loops

// PLAN: 2 kernels
// PLAN-NOT: plain loops

pw.slice @s mesh <"x" = 1>

func.func private @fast(%x: tensor<2x9x11x16xf32>, %w: tensor<3x3x16x24xf32>, %a: tensor<64x48xf32>, %b: tensor<48x32xf32>, %n: tensor<64xi32>)
    -> (tensor<2x9x11x24xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32x64xf32>, tensor<64xi32>)
    attributes {pw.local_view} {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<2x9x11x24xf32>
  %c0 = linalg.fill ins(%zero : f32) outs(%none : tensor<2x9x11x24xf32>) -> tensor<2x9x11x24xf32>
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x9x11x16xf32> to tensor<2x11x13x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<2x11x13x16xf32>, tensor<3x3x16x24xf32>)
      outs(%c0 : tensor<2x9x11x24xf32>) -> tensor<2x9x11x24xf32>
  %m0 = arith.constant dense<0.0> : tensor<64x32xf32>
  %m = linalg.matmul ins(%a, %b : tensor<64x48xf32>, tensor<48x32xf32>)
      outs(%m0 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %e = arith.addf %m, %m : tensor<64x32xf32>
  %r0 = arith.constant dense<0.0> : tensor<64xf32>
  %rows = linalg.reduce { arith.addf } ins(%e : tensor<64x32xf32>) outs(%r0 : tensor<64xf32>) dimensions = [1]
  %s0 = arith.constant dense<0.0> : tensor<32xf32>
  %columns = linalg.reduce { arith.addf } ins(%e : tensor<64x32xf32>) outs(%s0 : tensor<32xf32>) dimensions = [0]
  %t0 = tensor.empty() : tensor<32x64xf32>
  %t = linalg.transpose ins(%e : tensor<64x32xf32>) outs(%t0 : tensor<32x64xf32>) permutation = [1, 0]
  %q = arith.divsi %n, %n : tensor<64xi32>
  return %c, %rows, %columns, %t, %q
      : tensor<2x9x11x24xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32x64xf32>, tensor<64xi32>
}

func.func private @plain(%x: tensor<100xf64>, %a: tensor<64x48xf32>, %b: tensor<48x32xf32>, %y: tensor<3x3xf64>)
    -> (tensor<100xf64>, tensor<64x32xf32>, tensor<3x3xf64>) attributes {pw.local_view} {
  %s = math.sin %x : tensor<100xf64>
  %least = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x48xf32>, tensor<48x32xf32>) outs(%least : tensor<64x32xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.addf %0, %1 : f32
    %4 = arith.maximumf %2, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x32xf32>
  %t0 = tensor.empty() : tensor<3x3xf64>
  %t = linalg.transpose ins(%y : tensor<3x3xf64>) outs(%t0 : tensor<3x3xf64>) permutation = [1, 0]
  return %s, %m, %t : tensor<100xf64>, tensor<64x32xf32>, tensor<3x3xf64>
}

!x = !pw.array<2x9x11x16xf32, @s, [{}, {}, {}, {}]>
!w = !pw.array<3x3x16x24xf32, @s, [{}, {}, {}, {}]>
!a = !pw.array<64x48xf32, @s, [{}, {}]>
!b = !pw.array<48x32xf32, @s, [{}, {}]>
!n = !pw.array<64xi32, @s, [{}]>
!d = !pw.array<100xf64, @s, [{}]>
!e = !pw.array<3x3xf64, @s, [{}, {}]>
!c = !pw.array<2x9x11x24xf32, @s, [{}, {}, {}, {}]>
!rows = !pw.array<64xf32, @s, [{}]>
!columns = !pw.array<32xf32, @s, [{}]>
!t = !pw.array<32x64xf32, @s, [{}, {}]>
!m = !pw.array<64x32xf32, @s, [{}, {}]>
pw.program @main(%x: !x, %w: !w, %a: !a, %b: !b, %n: !n, %d: !d, %e: !e)
    -> (!c, !rows, !columns, !t, !n, !d, !m, !e) {
  %0:5 = pw.call @fast(%x, %w, %a, %b, %n) : (!x, !w, !a, !b, !n) -> (!c, !rows, !columns, !t, !n)
  %1:3 = pw.call @plain(%d, %a, %b, %e) : (!d, !a, !b, !e) -> (!d, !m, !e)
  pw.return %0#0, %0#1, %0#2, %0#3, %0#4, %1#0, %1#1, %1#2 : !c, !rows, !columns, !t, !n, !d, !m, !e
}
