// Several steps of a module: state is carried, a batch has one value for each
// step, and so has a result.
// REQUIRES: pw-run
// RUN: pw-run %s --topology=1x1x1 --steps=3 --carry=state:[0] --stepped=batch,[1] \
// RUN:   --input="state['n']=0" --input="state['sum']=1,2" \
// RUN:   --input='batch=[[1,1],[10,20],[100,200]]' | FileCheck %s
// CHECK: result[0]['n']: ui8 = 3
// CHECK-NEXT: result[0]['sum']: 2xf32 = [112, 223]
// CHECK-NEXT: result[1]: 3xf32 = [2, 30, 300]
// CHECK-NEXT: [SUCCESS] 3 steps

// Without --carry each step has the values of the launch.
// RUN: pw-run %s --topology=1x1x1 --steps=3 --carry=none --stepped=batch \
// RUN:   --input="state['n']=0" --input="state['sum']=1,2" \
// RUN:   --input='batch=[[1,1],[10,20],[100,200]]' | FileCheck %s --check-prefix=FRESH
// FRESH: result[0]['n']: ui8 = 1
// FRESH-NEXT: result[0]['sum']: 2xf32 = [101, 202]

// Donated arguments need other values in the next step.
// RUN: not pw-run %s --topology=1x1x1 --steps=3 --input="state['n']=0" \
// RUN:   --input="state['sum']=1,2" --input=batch=1 2>&1 | FileCheck %s --check-prefix=CHOOSE
// CHOOSE: pw-run: error: --steps=3: 2 arguments, the first of them 0, are donated, so the next step needs other values; give --carry=0-1:0-1, which tf.aliasing_output suggests, or --carry=none if no argument takes a result [PW1311]
// RUN: pw-run %s --topology=1x1x1 --steps=3 --compile-only

// A plan has what it was compiled with.
// RUN: pw-run %s --topology=1x1x1 --carry=0-1:0-1 --stepped=batch,[1] --compile-only --emit-plan=%t.plan
// RUN: pw-run %t.plan --steps=3 --input="state['n']=0" --input="state['sum']=1,2" \
// RUN:   --input='batch=[[1,1],[10,20],[100,200]]' | FileCheck %s
// RUN: not pw-run %t.plan --carry=0:0 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: error: --carry: {{.*}}.plan is a plan; the flag is for StableHLO
// RUN: not pw-run %S/Inputs/axpy.mlir --topology=1x1x4 --elided=zeros 2>&1 | FileCheck %s --check-prefix=PW
// PW: error: {{.*}}axpy.mlir: is no module of StableHLO, which elided 'zeros' is for

// RUN: not pw-run %s --topology=1x1x1 --carry=state:[9] --input=batch=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: carry: no result is named '[9]'{{.*}}[PW1311]

module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<ui8> {tf.aliasing_output = 0 : i32} loc("state['n']"),
                         %arg1: tensor<2xf32> {tf.aliasing_output = 1 : i32} loc("state['sum']"),
                         %arg2: tensor<2xf32> loc("batch"))
      -> (tensor<ui8> {jax.result_info = "result[0]['n']"},
          tensor<2xf32> {jax.result_info = "result[0]['sum']"},
          tensor<f32> {jax.result_info = "result[1]"}) {
    %one = stablehlo.constant dense<1> : tensor<ui8>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.add %arg0, %one : tensor<ui8>
    %sum = stablehlo.add %arg1, %arg2 : tensor<2xf32>
    %loss = stablehlo.reduce(%arg2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %n, %sum, %loss : tensor<ui8>, tensor<2xf32>, tensor<f32>
  }
}
