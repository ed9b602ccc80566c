// A step of training in two stages gives, on two islands, what the same module
// without marks gives on one device: on threads, in processes and in the
// simulation.
// RUN: rm -rf %t && mkdir -p %t
// RUN: sed -e "s/ {mhlo.frontend_attributes = [^}]*}}//" %root/examples/stablehlo/pipeline.mlir > %t/unmarked.mlir
// RUN: not grep "pw_slice = " %t/unmarked.mlir
// RUN: pw-run %t/unmarked.mlir --topology=1x1x1 --input="state['first']=random:1" --input="state['second']=random:2" --input=x=random:3 --input=y=random:4 --output="result[0]['first']=@%t/first.npy" --output="result[0]['second']=@%t/second.npy" --output="result[1]=@%t/loss.npy"
// RUN: pw-run %root/examples/stablehlo/pipeline.mlir --topology=2x1x1 --input="state['first']=random:1" --input="state['second']=random:2" --input=x=random:3 --input=y=random:4 --expected="result[0]['first']=@%t/first.npy" --expected="result[0]['second']=@%t/second.npy" --expected="result[1]=@%t/loss.npy" --rtol=0 --atol=1e-5 --explain-placement | FileCheck %s
// CHECK: s0
// CHECK: s1
// CHECK: [SUCCESS] 1 step
// RUN: pw-run %root/examples/stablehlo/pipeline.mlir --topology=2x1x1 --world=sim --seed=3 --input="state['first']=random:1" --input="state['second']=random:2" --input=x=random:3 --input=y=random:4 --expected="result[0]['first']=@%t/first.npy" --expected="result[0]['second']=@%t/second.npy" --expected="result[1]=@%t/loss.npy" --rtol=0 --atol=1e-5
// RUN: pw-run %root/examples/stablehlo/pipeline.mlir --topology=2x1x1 --processes --input="state['first']=random:1" --input="state['second']=random:2" --input=x=random:3 --input=y=random:4 --expected="result[0]['first']=@%t/first.npy" --expected="result[0]['second']=@%t/second.npy" --expected="result[1]=@%t/loss.npy" --rtol=0 --atol=1e-5
// RUN: pw-run %root/examples/stablehlo/pipeline.mlir --topology=1x1x1 --oversubscribe --input="state['first']=random:1" --input="state['second']=random:2" --input=x=random:3 --input=y=random:4 --expected="result[0]['first']=@%t/first.npy" --expected="result[0]['second']=@%t/second.npy" --expected="result[1]=@%t/loss.npy" --rtol=0 --atol=1e-5

// Actions are named by slices and labels. Calls of different micro-batches
// share their kernels.
// RUN: pw-run %root/examples/stablehlo/pipeline.mlir --topology=2x1x1 --compile-only --emit-plan-text=- | grep plan.gang | FileCheck %s --check-prefix=PLAN
// PLAN: plan.gang @s0.0F on @s0 kernel @main.s0.0F
// PLAN: plan.gang @s0.1F on @s0 kernel @main.s0.0F
// PLAN: plan.gang @s1.0F on @s1 kernel @main.s1.0F
// PLAN: plan.gang @s0.2F on @s0 kernel @main.s0.0F
// PLAN: plan.gang @s1.0B on @s1 kernel @main.s1.0B
// PLAN: plan.gang @s0.0B on @s0 kernel @main.s0.0B
