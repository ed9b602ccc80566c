// A sum that is wanted in blocks crosses hosts in blocks: less than if all hosts
// got all of it and cut it then, and to the same bits.
// DEFINE: %{run} = pw-run %s --topology=1x4x2 --input=v=random:7
// RUN: %{run} --program=blocks --world=sim --stats --output=y=@%t.blocks.npy \
// RUN:   | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: bytes between hosts 49152
// RUN: %{run} --program=whole --world=sim --stats --output=y=@%t.whole.npy \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// WHOLE: bytes between hosts 131072
// RUN: cmp %t.blocks.npy %t.whole.npy
// RUN: %{run} --program=blocks --output=y=@%t.threads.npy
// RUN: cmp %t.blocks.npy %t.threads.npy

// What a dry run says, which counts devices of one host too.
// RUN: %{run} --program=blocks --dry-run | FileCheck %s --check-prefix=DRY-BLOCKS
// DRY-BLOCKS: ici island0 65536 2
// RUN: %{run} --program=whole --dry-run | FileCheck %s --check-prefix=DRY-WHOLE
// DRY-WHOLE: ici island0 262144 2

pw.slice @s mesh <"d" = 8>
func.func private @contribute(%v: tensor<1x4096xf32>) -> tensor<4096xf32> attributes {pw.local_view} {
  %0 = tensor.collapse_shape %v [[0, 1]] : tensor<1x4096xf32> into tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
func.func private @all(%p: tensor<4096xf32> {pw.accepts_partial}) -> tensor<4096xf32> attributes {pw.local_view} {
  %0 = pw.all_reduce %p add over ["d"] : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
pw.program @blocks(%v: !pw.array<8x4096xf32, @s, [{"d"}, {}]>) -> (!pw.array<4096xf32, @s, [{"d"}]> {pw.name = "y"}) {
  %p = pw.call @contribute(%v) : (!pw.array<8x4096xf32, @s, [{"d"}, {}]>) -> !pw.array<4096xf32, @s, [{}] partial add {"d"}>
  %y = pw.reshard %p : !pw.array<4096xf32, @s, [{}] partial add {"d"}> -> !pw.array<4096xf32, @s, [{"d"}]>
  pw.return %y : !pw.array<4096xf32, @s, [{"d"}]>
}
pw.program @whole(%v: !pw.array<8x4096xf32, @s, [{"d"}, {}]>) -> (!pw.array<4096xf32, @s, [{"d"}]> {pw.name = "y"}) {
  %p = pw.call @contribute(%v) : (!pw.array<8x4096xf32, @s, [{"d"}, {}]>) -> !pw.array<4096xf32, @s, [{}] partial add {"d"}>
  %r = pw.call @all(%p) : (!pw.array<4096xf32, @s, [{}] partial add {"d"}>) -> !pw.array<4096xf32, @s, [{}]>
  %y = pw.reshard %r : !pw.array<4096xf32, @s, [{}]> -> !pw.array<4096xf32, @s, [{"d"}]>
  pw.return %y : !pw.array<4096xf32, @s, [{"d"}]>
}
