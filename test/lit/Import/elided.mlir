// Constants that the text elides get values, which depend on the seed alone.
// RUN: pw-opt %s --pw-fill-elided=values=zeros | FileCheck %s --check-prefix=ZEROS
// ZEROS-DAG: %{{.*}} = stablehlo.constant dense<0.000000e+00> : tensor<4x2xf32>
// ZEROS-DAG: %{{.*}} = stablehlo.constant dense<0.000000e+00> : tensor<3xbf16>
// ZEROS-DAG: %{{.*}} = stablehlo.constant dense<0> : tensor<5xui8>
// ZEROS-DAG: %{{.*}} = stablehlo.constant dense<false> : tensor<9xi1>
// ZEROS-DAG: %{{.*}} = stablehlo.constant dense<> : tensor<2x3x0xf32>
// ZEROS-NOT: __elided__

// RUN: pw-opt %s --pw-fill-elided=values=random:7 | FileCheck %s --check-prefix=RANDOM
// RANDOM-DAG: stablehlo.constant dense<{{\[}}[{{-?0\.[0-9]+}}, {{-?0\.[0-9]+}}],{{.*}}> : tensor<4x2xf32>
// RANDOM-DAG: stablehlo.constant dense<[{{[0-9.e+-]+}}, {{[0-9.e+-]+}}, {{[0-9.e+-]+}}]> : tensor<3xbf16>
// RANDOM-DAG: stablehlo.constant dense<[{{[01], [01], [01], [01], [01]}}]> : tensor<5xui8>
// RANDOM-DAG: stablehlo.constant dense<[{{(true|false)(, (true|false))*}}]> : tensor<9xi1>
// RANDOM-DAG: stablehlo.constant dense<1.000000e+00> : tensor<f32>
// RANDOM-NOT: __elided__
// RUN: pw-opt %s --pw-fill-elided=values=random:7 -o %t.first
// RUN: pw-opt %s --pw-fill-elided=values=random:7 -o %t.second
// RUN: cmp %t.first %t.second
// RUN: pw-opt %s --pw-fill-elided=values=random:8 -o %t.other
// RUN: not cmp %t.first %t.other

// RUN: not pw-opt %s --pw-fill-elided 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not pw-opt %s --pw-import-stablehlo 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: elided.mlir:[[#@LINE+8]]:{{[0-9]+}}: error: 'stablehlo.constant' op is the first of 5 constants that have no values in the text, which elides them; the option 'elided' makes some: zeros or random:SEED [PW1312]

// RUN: not pw-opt %s --pw-fill-elided=values=ones 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: elided: expected zeros or random:SEED with a seed from 0 to 2^64 - 1, got 'ones' [PW1312]
// RUN: not pw-opt %s --pw-fill-elided=values=random:-1 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: got 'random:-1' [PW1312]

func.func public @main() -> (tensor<4x2xf32>, tensor<3xbf16>, tensor<5xui8>, tensor<9xi1>, tensor<2x3x0xf32>, tensor<f32>) {
  %0 = stablehlo.constant dense_resource<__elided__> : tensor<4x2xf32>
  %1 = stablehlo.constant dense_resource<__elided__> : tensor<3xbf16>
  %2 = stablehlo.constant dense_resource<__elided__> : tensor<5xui8>
  %3 = stablehlo.constant dense_resource<__elided__> : tensor<9xi1>
  %4 = stablehlo.constant dense_resource<__elided__> : tensor<2x3x0xf32>
  %5 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x2xf32>, tensor<3xbf16>, tensor<5xui8>, tensor<9xi1>, tensor<2x3x0xf32>, tensor<f32>
}
