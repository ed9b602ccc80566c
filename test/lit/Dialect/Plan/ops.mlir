// RUN: pw-opt %s | pw-opt | FileCheck %s
// RUN: pw-opt %s --mlir-print-op-generic | pw-opt | FileCheck %s
// Every operation, with and without its optional parts. Names need to differ in
// their own table only, and may hold any character.

// CHECK: plan.program @all source "all.mlir" producer "pathways 0.1.0" fingerprint "0123456789abcdef0123456789abcdef" in_flight 2 {
plan.program @all source "all.mlir" producer "pathways 0.1.0" fingerprint "0123456789abcdef0123456789abcdef" in_flight 2 {
  // CHECK-NEXT: plan.slice @s mesh <"d" = 2, "m" = 1> kind "cpu" island 0 base 4 strides [2, 1] span 2
  // CHECK-NEXT: plan.slice @"the t" mesh <"d" = 2> island 1 devices [3, 1]
  plan.slice @s mesh <"d" = 2, "m" = 1> kind "cpu" island 0 base 4 strides [2, 1] span 2
  plan.slice @"the t" mesh <"d" = 2> island 1 devices [3, 1]
  // CHECK-NEXT: plan.slice @wide mesh <"d" = 4> kind "cpu" island 0 strides [1] span 2 also islands [1] bases [4]
  // CHECK-NEXT: plan.slice @wider mesh <"d" = 3> island 2 devices [3, 1, 1] also islands [0, 1]
  plan.slice @wide mesh <"d" = 4> kind "cpu" island 0 strides [1] span 2 also islands [1] bases [4]
  plan.slice @wider mesh <"d" = 3> island 2 devices [3, 1, 1] also islands [0, 1]
  // CHECK-NEXT: plan.layout 0 tensor<8xf32> [{"d"}]
  // CHECK-NEXT: plan.layout 1 tensor<4xf32> [{}] partial add {"d"}
  // CHECK-NEXT: plan.layout 2 tensor<4xf32> [{}]
  // CHECK-NEXT: plan.layout 3 tensor<4x2xf32> [{"m", "d"}, {}]
  plan.layout 0 tensor<8xf32> [{"d"}]
  plan.layout 1 tensor<4xf32> [{}] partial add {"d"}
  plan.layout 2 tensor<4xf32> [{}]
  plan.layout 3 tensor<4x2xf32> [{"m", "d"}, {}]
  // CHECK-NEXT: plan.kernel @sum coordinates 2 hash "0a" rounding strict {
  // CHECK-NEXT:   plan.segment @main (tensor<4xf32>, out tensor<4xf32>) scratch 128 locations {{\[\[}}"a.mlir:3:5", "division by zero"]]
  // CHECK-NEXT:   plan.segment @last (tensor<4xf32>, out tensor<4xf32>)
  // CHECK-NEXT:   plan.object target "x86_64-unknown-linux-gnu" cpu "znver4" features ["+avx2"] code dense_resource<sum.0> : tensor<4xi8>
  // CHECK-NEXT:   plan.object code dense_resource<sum.1> : tensor<3xi8>
  // CHECK-NEXT: }
  plan.kernel @sum coordinates 2 hash "0a" rounding strict {
    plan.segment @main (tensor<4xf32>, out tensor<4xf32>) scratch 128 locations [["a.mlir:3:5", "division by zero"]]
    plan.segment @last (tensor<4xf32>, out tensor<4xf32>)
    plan.object target "x86_64-unknown-linux-gnu" cpu "znver4" features ["+avx2"] code dense_resource<sum.0> : tensor<4xi8>
    plan.object code dense_resource<sum.1> : tensor<3xi8>
  }
  // CHECK-NEXT: plan.buffer @x on @s layout 0 at 0 bytes 16 stride 512 credits 2
  plan.buffer @x on @s layout 0 at 0 bytes 16 stride 512 credits 2
  plan.buffer @part on @s layout 1 at 128 bytes 16 stride 512 credits 2
  plan.buffer @y on @s layout 0 at 256 bytes 16 stride 512 credits 2
  plan.buffer @end on @s layout 2 at 128 bytes 16 stride 512 credits 2
  plan.buffer @z on @"the t" layout 0 at 0 bytes 16 stride 256 credits 2
  plan.buffer @w on @"the t" layout 0 at 128 bytes 16 stride 256 credits 2
  // CHECK: plan.buffer @kept on @s layout 3 host at 0 bytes 16 stride 128 credits 2
  plan.buffer @kept on @s layout 3 host at 0 bytes 16 stride 128 credits 2

  // CHECK-NEXT: plan.feed @x on @s argument @a -> @x carried @y cost 3 at "all.mlir:1:2"
  plan.feed @x on @s argument @a -> @x carried @y cost 3 at "all.mlir:1:2"
  plan.feed @kept on @s argument @b -> @kept
  // CHECK: plan.gang @g on @s kernel @sum reads [@x] writes [@part, @y] cost 900 at "all.mlir:9:8" {
  // CHECK-NEXT:   plan.run @main [@x, @part]
  // CHECK-NEXT:   plan.collective all_reduce @part -> @y over ["d"] reduce add
  // CHECK-NEXT: }
  plan.gang @g on @s kernel @sum reads [@x] writes [@part, @y] cost 900 at "all.mlir:9:8" {
    plan.run @main [@x, @part]
    plan.collective all_reduce @part -> @y over ["d"] reduce add
  }
  // CHECK-NEXT: plan.gang @i on @s kernel @sum reads [@part] writes [@end] {
  // CHECK-NEXT:   plan.run @last [@part, @end]
  // CHECK-NEXT:   plan.alias @part -> @end
  // CHECK-NEXT: }
  plan.gang @i on @s kernel @sum reads [@part] writes [@end] {
    plan.run @last [@part, @end]
    plan.alias @part -> @end
  }
  // CHECK-NEXT: plan.send @x.send on @s @x to @x.recv cost 5 at "all.mlir:10:8"
  // CHECK-NEXT: plan.recv @x.recv on @"the t" @z from @x.send
  plan.send @x.send on @s @x to @x.recv cost 5 at "all.mlir:10:8"
  plan.recv @x.recv on @"the t" @z from @x.send
  // CHECK-NEXT: plan.gang @h on @"the t" reads [@z] writes [@w] {
  // CHECK-NEXT:   plan.collective permute @z -> @w over ["d"] shift -1 wrap
  // CHECK-NEXT: }
  plan.gang @h on @"the t" reads [@z] writes [@w] {
    plan.collective permute @z -> @w over ["d"] shift -1 wrap
  }
  // CHECK-NEXT: plan.gang @nothing on @s reads [] writes [] {
  // CHECK-NEXT: }
  plan.gang @nothing on @s reads [] writes [] {}
  // CHECK-NEXT: plan.fetch @y on @s @y -> result @y cost 3 at "all.mlir:11:1"
  plan.fetch @y on @s @y -> result @y cost 3 at "all.mlir:11:1"
  plan.fetch @w on @"the t" @w -> result @w

  // CHECK: plan.edge @x -> @g data same{{$}}
  plan.edge @x -> @g data same
  plan.edge @g -> @x credit same tokens 2
  plan.edge @g -> @x data same tokens 1
  plan.edge @x -> @g credit same tokens 1
  plan.edge @g -> @y data same
  plan.edge @y -> @g credit same tokens 2
  plan.edge @g -> @i data same
  plan.edge @i -> @g credit same tokens 2
  plan.edge @x -> @x.send data same
  plan.edge @x.send -> @x credit same tokens 2
  plan.edge @x.send -> @x.recv data pieces
  plan.edge @x.recv -> @h data same
  // CHECK: plan.edge @h -> @x.send credit pieces tokens 2
  plan.edge @h -> @x.send credit pieces tokens 2
  plan.edge @h -> @w data same
  plan.edge @w -> @h credit same tokens 2
  // CHECK: plan.edge @g -> @h control all
  plan.edge @g -> @h control all
  plan.edge @h -> @g credit all tokens 2
  // CHECK: plan.argument @a feed @x carried @y
  // CHECK-NEXT: plan.argument @b feed @kept stepped
  // CHECK-NEXT: plan.result @y fetch @y{{$}}
  // CHECK-NEXT: plan.result @w fetch @w stepped
  plan.argument @a feed @x carried @y
  plan.argument @b feed @kept stepped
  plan.result @y fetch @y
  plan.result @w fetch @w stepped
}

{-#
  dialect_resources: {
    builtin: {
      sum.0: "0x0100000001020304",
      sum.1: "0x01000000050607"
    }
  }
#-}
