// A slice over several islands: the same bits as on one, wherever the runs lie.

// DEFINE: %{out} = --program=p --input=x=ramp --steps=2
// DEFINE: %{same} = %{out} --expected=sum=@%t.sum.npy --expected=part=@%t.part.npy --expected=moved=@%t.moved.npy --expected=all=@%t.all.npy --rtol=0 --atol=0
// RUN: sed 's/ spans 2 islands//' %s > %t.one.mlir
// RUN: pw-run %t.one.mlir %{out} --topology=1x2x4 --output=sum=@%t.sum.npy --output=part=@%t.part.npy --output=moved=@%t.moved.npy --output=all=@%t.all.npy
// RUN: pw-run %s %{same} --topology=2x2x2
// RUN: pw-run %s %{same} --topology=2x1x4
// RUN: pw-run %s %{same} --topology=2x4x1 --world=sim --seed=3
// RUN: pw-run %s %{same} --topology=2x2x2 --processes
// RUN: pw-run %s %{same} --topology=1x1x2 --oversubscribe 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: remark: slice 'wide' is on island0 more than once, but spans 2 islands; it acts as several islands
// As a plan, too.
// RUN: pw-run %s --program=p --topology=2x2x2 --compile-only --emit-plan=%t.plan --emit-plan-text=%t.plan.mlir
// RUN: pw-run %t.plan %{same} --topology=2x2x2
// RUN: pw-run %t.plan.mlir %{same} --topology=2x2x2
// RUN: not pw-run %t.plan --input=x=ramp --topology=1x2x4 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: 'wide' is bound to island 1, but the {{cluster|topology}} has 1 island
// RUN: not pw-run %s %{out} --topology=1x2x4 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: 'wide' needs 4 'cpu' devices on each of 2 islands, but island0 has 'wide'

// RUN: pw-run %s --program=p --topology=2x2x2 --dry-run --explain-placement | FileCheck %s --check-prefix=DRY
// DRY: wide {{ *}}pod=2 d=2 m=2 {{ *}}island0, island1 {{ *}}0-3; 0-3 {{ *}}
// DRY: ici island0
// DRY: ici island1
// DRY: dcn island0 -> island1
// DRY: dcn island1 -> island0

// Of a large sum over all ranks, which hosts of an island add up first, each
// island sends its bytes to the other once: half of them to be added there, half
// as the sum. 65536 numbers.
// RUN: pw-run %s --program=large --topology=2x2x2 --dry-run | FileCheck %s --check-prefix=ONCE
// ONCE: dcn island0 -> island1 {{ *}}262144{{$}}
// ONCE: dcn island1 -> island0 {{ *}}262144{{$}}

pw.slice @wide mesh <"pod" = 2, "d" = 2, "m" = 2> spans 2 islands

func.func private @body(%x: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<1xf32>, tensor<8xf32>, tensor<16xf32>) attributes {pw.local_view} {
  %third = arith.constant dense<0.33333334> : tensor<8xf32>
  %y = arith.mulf %x, %third : tensor<8xf32>
  %sum = pw.all_reduce %y add over ["pod", "d", "m"] : tensor<8xf32>
  %part = pw.reduce_scatter %y add dim 0 over ["m", "pod", "d"] : tensor<8xf32> -> tensor<1xf32>
  %swapped = pw.all_to_all %y split 0 concat 0 over ["pod", "m"] : tensor<8xf32> -> tensor<8xf32>
  %moved = pw.permute %swapped shift 1 over ["pod", "d"] wrap : tensor<8xf32>
  %all = pw.all_gather %moved dim 0 over ["pod"] : tensor<8xf32> -> tensor<16xf32>
  return %sum, %part, %moved, %all : tensor<8xf32>, tensor<1xf32>, tensor<8xf32>, tensor<16xf32>
}

pw.program @p(%x: !pw.array<64xf32, @wide, [{"pod", "d", "m"}]>)
    -> (!pw.array<8xf32, @wide, [{}]> {pw.name = "sum"}, !pw.array<8xf32, @wide, [{"m", "pod", "d"}]> {pw.name = "part"},
        !pw.array<64xf32, @wide, [{"pod", "d", "m"}]> {pw.name = "moved"}, !pw.array<64xf32, @wide, [{"d", "m"}]> {pw.name = "all"}) {
  %0:4 = pw.call @body(%x) : (!pw.array<64xf32, @wide, [{"pod", "d", "m"}]>)
      -> (!pw.array<8xf32, @wide, [{}]>, !pw.array<8xf32, @wide, [{"m", "pod", "d"}]>,
          !pw.array<64xf32, @wide, [{"pod", "d", "m"}]>, !pw.array<64xf32, @wide, [{"d", "m"}]>)
  pw.return %0#0, %0#1, %0#2, %0#3 : !pw.array<8xf32, @wide, [{}]>, !pw.array<8xf32, @wide, [{"m", "pod", "d"}]>,
      !pw.array<64xf32, @wide, [{"pod", "d", "m"}]>, !pw.array<64xf32, @wide, [{"d", "m"}]>
}

func.func private @reduce(%x: tensor<65536xf32>) -> tensor<65536xf32> attributes {pw.local_view} {
  %sum = pw.all_reduce %x add over ["pod", "d", "m"] : tensor<65536xf32>
  return %sum : tensor<65536xf32>
}

pw.program @large(%x: !pw.array<65536xf32, @wide, [{}]>) -> (!pw.array<65536xf32, @wide, [{}]> {pw.name = "sum"}) {
  %sum = pw.call @reduce(%x) : (!pw.array<65536xf32, @wide, [{}]>) -> !pw.array<65536xf32, @wide, [{}]>
  pw.return %sum : !pw.array<65536xf32, @wide, [{}]>
}
