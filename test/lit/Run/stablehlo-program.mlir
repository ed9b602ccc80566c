// A module of StableHLO is a program: with the names of its locations and of
// its results, in every form of use.
// REQUIRES: pw-run
// RUN: pw-run %s --topology=1x1x1 --input="state['w']=1,2,3,4" --input=arg1=5 | FileCheck %s
// CHECK: result['w']: 4xf32 = [2, 4, 6, 8]
// CHECK-NEXT: result1: ui8 = 250
// CHECK-NEXT: [SUCCESS] 1 step{{$}}

// RUN: pw-run %s --topology=1x1x1 --dry-run | FileCheck %s --check-prefix=DRY
// DRY: peak bytes
// RUN: pw-run %s --topology=1x1x1 --compile-only --emit-plan=%t.plan
// RUN: pw-run %t.plan --input="state['w']=1,2,3,4" --input=arg1=5 | FileCheck %s
// RUN: pw-run %s --topology=1x1x1 --compile-only --emit-plan=%t.again
// RUN: cmp %t.plan %t.again

// RUN: pw-run %s --topology=1x1x1 --compile-only --explain-import \
// RUN:   | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: op{{ +}}count{{ +}}became
// EXPLAIN: stablehlo.add{{ +}}2{{ +}}{{.*}}arith.add
// EXPLAIN: func.call{{ +}}1
// RUN: pw-run %S/Inputs/axpy.mlir --topology=1x1x4 --compile-only --explain-import 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// NONE: the program was not imported

module @jit_update attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("state['w']"),
                         %arg1: tensor<ui8>)
      -> (tensor<4xf32> {jax.result_info = "result['w']"}, tensor<ui8> {jax.result_info = ""}) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    %1 = call @next(%arg1) : (tensor<ui8>) -> tensor<ui8>
    return %0, %1 : tensor<4xf32>, tensor<ui8>
  }
  func.func private @next(%arg0: tensor<ui8>) -> tensor<ui8> {
    %c = stablehlo.constant dense<245> : tensor<ui8>
    %0 = stablehlo.add %arg0, %c : tensor<ui8>
    return %0 : tensor<ui8>
  }
}
