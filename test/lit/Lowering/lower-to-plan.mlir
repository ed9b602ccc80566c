// RUN: pw-opt %s --split-input-file --pw-lower-to-plan | FileCheck %s
// RUN: pw-opt %s --split-input-file --pw-lower-to-plan | pw-opt --split-input-file --verify-each -o /dev/null
// RUN: pw-opt %s --split-input-file --pw-lower-to-plan="steps-in-flight=4 credits=3" | FileCheck %s --check-prefix=W4

// Values become buffers, calls gangs, movements a send and a recv. What moves, is
// fed or fetched has a slot per step in flight. Calls of one function share a kernel.

pw.slice @front mesh <"d" = 2>
pw.slice @back mesh <"d" = 2> kind "cpu" apart_from [@front]
pw.bind @front to island 0 devices base 0 strides [1]
pw.bind @back to island 1 devices [3, 1]
// CHECK-NOT: func.func private @double
func.func private @double(%v: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %0 = arith.addf %v, %v : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @other() { return }

// CHECK: func.func @other
// CHECK-LABEL: plan.program @forward source "{{.*}}lower-to-plan.mlir" producer "pathways {{.*}}" in_flight 2 {
// CHECK-NEXT: plan.slice @front mesh <"d" = 2> kind "cpu" island 0 strides [1]
// CHECK-NEXT: plan.slice @back mesh <"d" = 2> kind "cpu" island 1 devices [3, 1]
// CHECK-NEXT: plan.layout 0 tensor<8xf32> [{"d"}]
// CHECK-NEXT: plan.kernel @double {
// CHECK-NEXT:   plan.segment @double.run (tensor<4xf32>, out tensor<4xf32>)
// CHECK-NEXT:   func.func {{.*}}@double.run(
// CHECK:        return
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: plan.buffer @x on @front layout 0 at [[X:[0-9]+]] bytes 16 stride 256 credits 2
// CHECK-NEXT: plan.buffer @double on @front layout 0 at 0 bytes 16 stride 128 credits 1
// CHECK-NEXT: plan.buffer @double.1 on @front layout 0 at {{[0-9]+}} bytes 16 stride 256 credits 2
// CHECK-NEXT: plan.buffer @double.1.1 on @back
// CHECK-NEXT: plan.buffer @double.2 on @back
// CHECK-NEXT: plan.feed @x.feed on @front argument @x -> @x cost {{[0-9]+}} at "{{.*}}lower-to-plan.mlir:[[@LINE+26]]:
// CHECK-NEXT: plan.gang @double on @front kernel @double reads [@x] writes [@double] cost {{[0-9]+}} at "{{.*}}lower-to-plan.mlir:[[@LINE+27]]:8" {
// CHECK-NEXT:   plan.run @double.run [@x, @double]
// CHECK-NEXT: }
// CHECK-NEXT: plan.gang @double.1 on @front kernel @double reads [@double] writes [@double.1]
// CHECK:      plan.send @double.1.send on @front @double.1 to @double.1.recv
// CHECK-NEXT: plan.recv @double.1.recv on @back @double.1.1 from @double.1.send
// CHECK-NEXT: plan.gang @double.2 on @back kernel @double reads [@double.1.1] writes [@double.2]
// CHECK:      plan.fetch @y.fetch on @back @double.2 -> result @y
// CHECK-NEXT: plan.edge @x.feed -> @double data same
// CHECK-NEXT: plan.edge @double -> @x.feed credit same tokens 2
// CHECK-NEXT: plan.edge @double -> @double.1 data same
// CHECK-NEXT: plan.edge @double.1 -> @double credit same tokens 1
// CHECK-NEXT: plan.edge @double.1 -> @double.1.send data same
// CHECK-NEXT: plan.edge @double.1.send -> @double.1 credit same tokens 2
// CHECK-NEXT: plan.edge @double.1.send -> @double.1.recv data pieces
// CHECK-NEXT: plan.edge @double.1.recv -> @double.2 data same
// CHECK-NEXT: plan.edge @double.2 -> @double.1.send credit pieces tokens 2
// CHECK-NEXT: plan.edge @double.2 -> @y.fetch data same
// CHECK-NEXT: plan.edge @y.fetch -> @double.2 credit same tokens 2
// CHECK-NEXT: plan.argument @x feed @x.feed
// CHECK-NEXT: plan.result @y fetch @y.fetch
// CHECK-NEXT: }
// W4-LABEL: plan.program @forward {{.*}} in_flight 4
// W4: plan.buffer @x on @front {{.*}} credits 3
// W4: plan.buffer @double on @front {{.*}} credits 1
pw.program @forward(%x: !pw.array<8xf32, @front, [{"d"}]>)
    -> (!pw.array<8xf32, @back, [{"d"}]> {pw.name = "y"}) {
  %0 = pw.call @double(%x) : (!pw.array<8xf32, @front, [{"d"}]>) -> !pw.array<8xf32, @front, [{"d"}]>
  %1 = pw.call @double(%0) : (!pw.array<8xf32, @front, [{"d"}]>) -> !pw.array<8xf32, @front, [{"d"}]>
  %2 = pw.transfer %1 : !pw.array<8xf32, @front, [{"d"}]> -> !pw.array<8xf32, @back, [{"d"}]>
  %3 = pw.call @double(%2) : (!pw.array<8xf32, @back, [{"d"}]>) -> !pw.array<8xf32, @back, [{"d"}]>
  pw.return %3 : !pw.array<8xf32, @back, [{"d"}]>
}

// -----

// Between collectives there are segments, and temporaries that only the gang
// touches. Unused results and arguments have buffers as well; what is returned
// twice, or is an argument, is fetched as often.

pw.slice @s mesh <"d" = 2>
pw.bind @s to island 0 devices base 0 strides [1]
func.func private @f(%v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {pw.local_view} {
  %0 = arith.addf %v, %v : tensor<4xf32>
  %1 = pw.all_reduce %0 max over ["d"] : tensor<4xf32>
  %2 = arith.mulf %1, %v : tensor<4xf32>
  %3 = pw.permute %2 shift 1 over ["d"] : tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: plan.program @segments
// CHECK: plan.gang @f on @s kernel @f reads [@x] writes [@f.out0, @f.out1, @f.tmp, @f.tmp.1]
// CHECK-NEXT:   plan.run @f.run[[A:[^ ]*]] [@x, @f.tmp]
// CHECK-NEXT:   plan.collective all_reduce @f.tmp -> @f.tmp.1 over ["d"] reduce max
// CHECK-NEXT:   plan.run @f.run[[B:[^ ]*]] [{{.*}}@f.out0]
// CHECK-NEXT:   plan.collective permute @f.out0 -> @f.out1 over ["d"] shift 1
// CHECK-NEXT: }
// CHECK: plan.fetch @result0.fetch on @s @f.out0 -> result @result0
// CHECK: plan.fetch @result1.fetch on @s @f.out0 -> result @result1
// CHECK: plan.fetch @result2.fetch on @s @x -> result @result2
pw.program @segments(%x: !pw.array<8xf32, @s, [{"d"}]>, %unused: !pw.array<8xf32, @s, [{}]>)
    -> (!pw.array<8xf32, @s, [{"d"}]>, !pw.array<8xf32, @s, [{"d"}]>, !pw.array<8xf32, @s, [{"d"}]>) {
  %0:2 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{"d"}]>) -> (!pw.array<8xf32, @s, [{"d"}]>, !pw.array<8xf32, @s, [{"d"}]>)
  pw.return %0#0, %0#0, %x : !pw.array<8xf32, @s, [{"d"}]>, !pw.array<8xf32, @s, [{"d"}]>, !pw.array<8xf32, @s, [{"d"}]>
}

// -----

// A carried argument is fed from what the step before made, one token later. What a
// step makes of it lies where it does, and has one slot; so does an argument that is
// carried as it is, which passes poison on to the next firing of its own feed.

pw.slice @s mesh <>
pw.bind @s to island 0 devices base 0 strides []
func.func private @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @steps
// CHECK: plan.buffer @w on @s layout 0 at [[W:[0-9]+]] bytes 16 {{.*}} credits 1
// CHECK: plan.buffer @x on @s {{.*}} credits 2
// CHECK: plan.buffer @k on @s {{.*}} credits 1
// CHECK: plan.buffer @add on @s layout 0 at [[W]] bytes 16 {{.*}} credits 1
// CHECK-NOT: plan.buffer
// CHECK-DAG: plan.feed @w.feed on @s argument @w -> @w carried @add
// CHECK-DAG: plan.feed @k.feed on @s argument @k -> @k carried @k
// CHECK-DAG: plan.alias @w -> @add
// CHECK-DAG: plan.edge @add -> @w.feed data same tokens 1
// CHECK-DAG: plan.edge @w.feed -> @add credit same{{$}}
// CHECK-DAG: plan.edge @result0.fetch -> @w.feed reuse same tokens 1
// CHECK-DAG: plan.edge @k.feed -> @k.feed data same tokens 1
// CHECK: plan.argument @w feed @w.feed carried @result0
// CHECK-NEXT: plan.argument @x feed @x.feed stepped
// CHECK-NEXT: plan.argument @k feed @k.feed carried @result1
// CHECK-NEXT: plan.result @result0 fetch @result0.fetch
// CHECK-NEXT: plan.result @result1 fetch @result1.fetch stepped
pw.program @steps(%w: !pw.array<4xf32, @s, [{}]> {pw.carried = 0 : i64}, %x: !pw.array<4xf32, @s, [{}]> {pw.stepped}, %k: !pw.array<4xf32, @s, [{}]> {pw.carried = 1 : i64})
    -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]> {pw.stepped}) {
  %0 = pw.call @add(%w, %x) donate(%w) : (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return %0, %k : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @s, [{}]>
}

// -----

// `after` is an edge from all shards to all shards, with its way back.

pw.slice @s mesh <>
pw.slice @t mesh <>
pw.bind @s to island 0 devices base 0 strides []
pw.bind @t to island 0 devices base 1 strides []
func.func private @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: plan.program @control
// CHECK: plan.edge @neg -> @neg.1 control all
// CHECK-NEXT: plan.edge @neg.1 -> @neg credit all tokens 2
pw.program @control(%x: !pw.array<4xf32, @s, [{}]>, %y: !pw.array<4xf32, @t, [{}]>)
    -> (!pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>) {
  %0 = pw.call @neg(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  %1 = pw.call @neg(%y) after(%0 : !pw.array<4xf32, @s, [{}]>) : (!pw.array<4xf32, @t, [{}]>) -> !pw.array<4xf32, @t, [{}]>
  pw.return %0, %1 : !pw.array<4xf32, @s, [{}]>, !pw.array<4xf32, @t, [{}]>
}

// -----

// Code that knows where it is depends on the mesh; code that does not, does not.

pw.slice @s mesh <"a" = 2>
pw.slice @t mesh <"b" = 2, "a" = 2>
pw.bind @s to island 0 devices base 0 strides [1]
pw.bind @t to island 0 devices base 2 strides [2, 1]
func.func private @where(%v: tensor<4xi32>) -> tensor<4xi32> attributes {pw.local_view} {
  %i = pw.shard_index "a" : index
  %0 = arith.index_cast %i : index to i32
  %1 = tensor.splat %0 : tensor<4xi32>
  return %1 : tensor<4xi32>
}
func.func private @anywhere(%v: tensor<4xi32>) -> tensor<4xi32> attributes {pw.local_view} {
  %0 = arith.addi %v, %v : tensor<4xi32>
  return %0 : tensor<4xi32>
}
// CHECK-LABEL: plan.program @kernels
// CHECK: plan.kernel @where coordinates 1 {
// CHECK: plan.kernel @where.1 coordinates 2 {
// CHECK: plan.kernel @anywhere {
// CHECK-NOT: plan.kernel
// CHECK: plan.gang @where on @s kernel @where reads
// CHECK: plan.gang @where.1 on @t kernel @where.1 reads
// CHECK: plan.gang @anywhere on @s kernel @anywhere reads
// CHECK: plan.gang @anywhere.1 on @t kernel @anywhere reads
pw.program @kernels(%x: !pw.array<8xi32, @s, [{"a"}]>, %y: !pw.array<8xi32, @t, [{"a"}]>)
    -> (!pw.array<8xi32, @s, [{"a"}]>, !pw.array<8xi32, @t, [{"a"}]>) {
  %0 = pw.call @where(%x) : (!pw.array<8xi32, @s, [{"a"}]>) -> !pw.array<8xi32, @s, [{"a"}]>
  %1 = pw.call @where(%y) : (!pw.array<8xi32, @t, [{"a"}]>) -> !pw.array<8xi32, @t, [{"a"}]>
  %2 = pw.call @anywhere(%0) : (!pw.array<8xi32, @s, [{"a"}]>) -> !pw.array<8xi32, @s, [{"a"}]>
  %3 = pw.call @anywhere(%1) : (!pw.array<8xi32, @t, [{"a"}]>) -> !pw.array<8xi32, @t, [{"a"}]>
  pw.return %2, %3 : !pw.array<8xi32, @s, [{"a"}]>, !pw.array<8xi32, @t, [{"a"}]>
}
