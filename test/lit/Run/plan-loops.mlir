// A plan with a loop: its iterations run on two slices, add to a carried array in
// place, and read and write parts of whole arrays. Text and file are equal, and
// what runs has an action for each iteration.
// DEFINE: %{values} = --input=x=ramp --input=zero=0
// RUN: pw-opt %s | pw-opt | FileCheck %s
// RUN: pw-opt %s --pw-compile-kernels > %t.mlir
// RUN: pw-translate --plan-to-file %t.mlir -o %t.plan
// RUN: pw-translate --file-to-plan %t.plan | FileCheck %s
// RUN: pw-translate --file-to-plan %t.plan -o %t.again.mlir
// RUN: pw-translate --plan-to-file %t.again.mlir -o %t.again.plan
// RUN: cmp %t.plan %t.again.plan
// RUN: pw-run %t.plan --topology=1x1x2 %{values} | FileCheck %s --check-prefix=VALUES
// RUN: pw-run %t.mlir --topology=1x2x1 --steps=3 %{values} | FileCheck %s --check-prefix=VALUES
// RUN: pw-run %t.plan --topology=1x2x1 --world=sim --seed=3 %{values} \
// RUN:   | FileCheck %s --check-prefix=VALUES
// RUN: pw-run %t.plan --topology=1x2x1 --processes %{values} \
// RUN:   | FileCheck %s --check-prefix=VALUES
// VALUES: total: 32xf32 = [384, 392, 400, 408,
// VALUES: y: 4x32xf32 = {{\[\[}}-192, -194, {{.*}}], [-128, -130, {{.*}}], [-64, -66, {{.*}}], [-0, -2,

// RUN: pw-run %t.plan --topology=1x1x2 --world=sim --costs-only --trace=%t.json
// RUN: FileCheck %s --check-prefix=TRACE --input-file=%t.json
// TRACE-DAG: "double[0]"
// TRACE-DAG: "add[3]"

// CHECK: plan.buffer @x.parts on @s layout 1 at 0 bytes 128 stride 0 credits 1 in @rows slots 4 by 128
// CHECK: plan.buffer @before on @t layout 1 at 0 bytes 128 stride 0 credits 1 in @rows initial @zero next @sum
// CHECK: plan.buffer @total on @t layout 1 at 0 bytes 128 stride 0 credits 1 last @sum
// CHECK: plan.gang @double on @s kernel @double reads [@x.parts] writes [@twice] in @rows
// CHECK: plan.send @twice.send on @s @twice to @got.recv in @rows
// CHECK: plan.recv @got.recv on @t @got from @twice.send in @rows
// CHECK: plan.loop @rows trips 4
// CHECK-NEXT: plan.order in @rows on @s [@double] iterations [0] times 4 step 1
// CHECK-NEXT: plan.order in @rows on @t [@add] iterations [0] times 4 step 1
plan.program @sums in_flight 1 {
  plan.slice @s mesh <> kind "cpu" island 0 base 0 strides []
  plan.slice @t mesh <> kind "cpu" island 0 base 1 strides []
  plan.layout 0 tensor<4x32xf32> [{}, {}]
  plan.layout 1 tensor<32xf32> [{}]
  plan.kernel @double {
    plan.segment @double (tensor<32xf32>, out tensor<32xf32>)
    func.func @double(%x: tensor<32xf32>) -> tensor<32xf32> {
      %0 = arith.addf %x, %x : tensor<32xf32>
      return %0 : tensor<32xf32>
    }
  }
  plan.kernel @add {
    plan.segment @add (tensor<32xf32>, tensor<32xf32>, out tensor<32xf32>, out tensor<32xf32>)
    func.func @add(%sum: tensor<32xf32>, %x: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
      %0 = arith.addf %sum, %x : tensor<32xf32>
      %1 = arith.negf %x : tensor<32xf32>
      return %0, %1 : tensor<32xf32>, tensor<32xf32>
    }
  }
  plan.buffer @x on @s layout 0 at 0 bytes 512 stride 0 credits 1
  plan.buffer @x.parts on @s layout 1 at 0 bytes 128 stride 0 credits 1 in @rows slots 4 by 128
  plan.buffer @twice on @s layout 1 at 512 bytes 128 stride 0 credits 1 in @rows slots 2 by 128
  plan.buffer @zero on @t layout 1 at 0 bytes 128 stride 0 credits 1
  plan.buffer @got on @t layout 1 at 640 bytes 128 stride 0 credits 1 in @rows slots 2 by 128
  plan.buffer @before on @t layout 1 at 0 bytes 128 stride 0 credits 1 in @rows initial @zero next @sum
  plan.buffer @sum on @t layout 1 at 0 bytes 128 stride 0 credits 1 in @rows slots 1
  plan.buffer @y.parts on @t layout 1 at 512 bytes 128 stride 0 credits 1 in @rows slots 4 by -128
  plan.buffer @y on @t layout 0 at 128 bytes 512 stride 0 credits 1
  plan.buffer @total on @t layout 1 at 0 bytes 128 stride 0 credits 1 last @sum
  plan.feed @x.feed on @s argument @x -> @x
  plan.feed @zero.feed on @t argument @zero -> @zero
  plan.gang @x.split on @s reads [@x] writes [@x.parts] {
    plan.alias @x -> @x.parts
  }
  plan.gang @double on @s kernel @double reads [@x.parts] writes [@twice] in @rows {
    plan.run @double [@x.parts, @twice]
  }
  plan.send @twice.send on @s @twice to @got.recv in @rows
  plan.recv @got.recv on @t @got from @twice.send in @rows
  plan.gang @add on @t kernel @add reads [@before, @got] writes [@sum, @y.parts] in @rows {
    plan.run @add [@before, @got, @sum, @y.parts]
    plan.alias @before -> @sum
  }
  plan.gang @y.stack on @t reads [@y.parts] writes [@y] {
    plan.alias @y.parts -> @y
  }
  plan.fetch @total.fetch on @t @total -> result @total
  plan.fetch @y.fetch on @t @y -> result @y
  plan.argument @x feed @x.feed
  plan.argument @zero feed @zero.feed
  plan.result @total fetch @total.fetch
  plan.result @y fetch @y.fetch
  plan.loop @rows trips 4
  plan.order in @rows on @s [@double] iterations [0] times 4 step 1
  plan.order in @rows on @t [@add] iterations [0] times 4 step 1
}
