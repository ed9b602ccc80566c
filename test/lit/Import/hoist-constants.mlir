// Constants of a number of bytes become arguments with their values, once each.
// RUN: pw-opt %s --pw-hoist-constants=min-bytes=16 | FileCheck %s
// CHECK: func.func public @main(
// CHECK-SAME: %arg0: tensor<4xf32>,
// CHECK-SAME: %arg1: tensor<4xf32> {pw.constant = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>},
// CHECK-SAME: %arg2: tensor<16xi1> {pw.constant = dense<[true, false, false, true, true, false, false, true, true, true, true, true, false, false, false, false]> : tensor<16xi1>},
// CHECK-SAME: %arg3: tensor<4xui32> {pw.constant = dense_resource<blob> : tensor<4xui32>},
// CHECK-SAME: %arg4: tensor<2x2xf32> {pw.constant = dense<{{\[}}[5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>})
// CHECK: stablehlo.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK: stablehlo.constant dense<[1, 2]> : tensor<2xi32>
// CHECK: stablehlo.constant dense_resource<missing> : tensor<4xf32>
// CHECK: stablehlo.constant dense_resource<bits> : tensor<16xi1>
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg1 : tensor<4xf32>
// CHECK: stablehlo.add %[[SUM]], %arg1 : tensor<4xf32>
// CHECK: stablehlo.while
// CHECK: stablehlo.add %{{.*}}, %arg4 : tensor<2x2xf32>
// CHECK: func.func private @called
// CHECK: stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>

// The program has them behind the others; positions of options do not count them.
// RUN: pw-opt %s --pw-hoist-constants=min-bytes=16 --pw-import-program="carry=0:0" | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: pw.program @main(%x: !pw.array<4xf32, @devices, [{}]> {pw.carried = 0 : i64}, %constant0: !pw.array<4xf32, @devices, [{}]> {pw.constant = dense<
// PROGRAM-NOT: func.func private @main.body({{.*}}pw.constant
// RUN: not pw-opt %s --pw-hoist-constants=min-bytes=16 --pw-import-program="carry=1:0" 2>&1 | FileCheck %s --check-prefix=POSITION
// POSITION: error: carry: there is no argument 1, as '1' says; there are 1 arguments
// Small ones stay.
// RUN: pw-opt %s --pw-hoist-constants | FileCheck %s --check-prefix=SMALL
// SMALL-NOT: pw.constant

func.func public @main(%arg0: tensor<4xf32> loc("x")) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<16xi1>, tensor<4xui32>, tensor<4xf32>, tensor<2xi32>, tensor<4xf32>, tensor<16xi1>) {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
  %2 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %3 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %4 = stablehlo.constant dense<[true, false, false, true, true, false, false, true, true, true, true, true, false, false, false, false]> : tensor<16xi1>
  %5 = stablehlo.constant dense_resource<blob> : tensor<4xui32>
  %6 = stablehlo.constant dense_resource<missing> : tensor<4xf32>
  %7 = stablehlo.constant dense_resource<bits> : tensor<16xi1>
  %8 = stablehlo.add %arg0, %0 : tensor<4xf32>
  %9 = stablehlo.add %8, %3 : tensor<4xf32>
  %10 = stablehlo.constant dense<0.0> : tensor<2x2xf32>
  %11 = stablehlo.constant dense<false> : tensor<i1>
  %12 = stablehlo.while(%i = %10) : tensor<2x2xf32>
  cond {
    stablehlo.return %11 : tensor<i1>
  } do {
    %13 = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
    %14 = stablehlo.add %i, %13 : tensor<2x2xf32>
    stablehlo.return %14 : tensor<2x2xf32>
  }
  %15 = call @called(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %9, %12, %4, %5, %15, %2, %6, %7 : tensor<4xf32>, tensor<2x2xf32>, tensor<16xi1>, tensor<4xui32>, tensor<4xf32>, tensor<2xi32>, tensor<4xf32>, tensor<16xi1>
}
func.func private @called(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x0800000001000000020000000300000004000000",
      bits: "0x0100000001000100010001000100010001000100010001000100010001000100"
    }
  }
#-}
