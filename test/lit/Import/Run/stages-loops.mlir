// A step of training with its micro-batches in a loop gives the bits of the step
// that writes them out, as does the loop without marks on one device, with each
// schedule, on threads, in processes and in the simulation.
// DEFINE: %{values} = --input="state['first']=random:1" --input="state['second']=random:2" --input=x=random:3 --input=y=random:4
// DEFINE: %{expected} = --expected="result[0]['first']=@%t/first.npy" --expected="result[0]['second']=@%t/second.npy" --expected="result[1]=@%t/loss.npy" --expected="result[2]=@%t/losses.npy" --rtol=0
// DEFINE: %{loop} = %root/examples/stablehlo/microbatches.mlir
// RUN: rm -rf %t && mkdir -p %t
// RUN: sed -e "s/ {mhlo.frontend_attributes = [^}]*}}//" %{loop} > %t/unmarked.mlir
// RUN: pw-run %root/examples/stablehlo/pipeline.mlir --topology=2x1x1 %{values} --output="result[0]['first']=@%t/first.npy" --output="result[0]['second']=@%t/second.npy" --output="result[1]=@%t/loss.npy"
// RUN: pw-run %t/unmarked.mlir --topology=1x1x1 %{values} --expected="result[0]['first']=@%t/first.npy" --expected="result[0]['second']=@%t/second.npy" --expected="result[1]=@%t/loss.npy" --rtol=0 --atol=0 --output="result[2]=@%t/losses.npy"
// RUN: pw-run %{loop} --topology=2x1x1 %{values} %{expected} --atol=0 | FileCheck %s
// RUN: pw-run %{loop} --topology=2x1x1 --schedule=gpipe %{values} %{expected} --atol=0 | FileCheck %s
// RUN: pw-run %{loop} --topology=2x1x1 --schedule=1f1b %{values} %{expected} --atol=0 | FileCheck %s
// RUN: pw-run %{loop} --topology=2x1x1 --schedule=1f1b --world=sim --seed=3 %{values} %{expected} --atol=0 | FileCheck %s
// RUN: pw-run %{loop} --topology=2x1x1 --schedule=1f1b --processes %{values} %{expected} --atol=0 | FileCheck %s
// RUN: pw-run %{loop} --topology=1x1x1 --oversubscribe --schedule=eager-1f1b %{values} %{expected} --atol=0 | FileCheck %s
// CHECK: [SUCCESS] 1 step

// A file has the order of a schedule, which is about the labels of the module.
// RUN: pw-run %{loop} --topology=2x1x1 --schedule=1f1b --emit-order=%t/order.csv --compile-only
// RUN: FileCheck %s --check-prefix=ORDER --input-file=%t/order.csv
// ORDER: 0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3
// ORDER: 1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3

// Slices may have a mesh, whose axis cuts the rows of each micro-batch.
// RUN: sed -e '/^module/a sdy.mesh @mesh = <["b"=2]>' -e 's/ loc("[xy]")/ {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}, {}]>}&/g' %{loop} > %t/mesh.mlir
// RUN: pw-run %t/mesh.mlir --topology=2x1x2 --schedule=1f1b %{values} %{expected} --atol=1e-5 | FileCheck %s

