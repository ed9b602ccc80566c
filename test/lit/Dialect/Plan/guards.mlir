// RUN: pw-opt %s | pw-opt | FileCheck %s
// RUN: pw-opt %s --mlir-print-op-generic | pw-opt | FileCheck %s
// RUN: sed 's/if @p cost/if @p unless @p cost/' %s | not pw-opt 2>&1 | FileCheck %s --check-prefix=TWO
// A gang and a send that work only with one value of a flag.

// TWO: error: 'plan.gang' op has two guards, 'p' and 'p'; expected one
plan.program @guards in_flight 1 {
  plan.slice @s mesh <"d" = 1> island 0 strides [1]
  plan.layout 0 tensor<i1> []
  plan.buffer @p on @s layout 0 at 0 bytes 1 stride 128 credits 1
  plan.buffer @y on @s layout 0 at 128 bytes 1 stride 128 credits 1
  plan.buffer @z on @s layout 0 at 256 bytes 1 stride 128 credits 1
  plan.feed @p.feed on @s argument @p -> @p
  // CHECK: plan.gang @g on @s reads [@p] writes [@y] if @p cost 7 {
  plan.gang @g on @s reads [@p] writes [@y] if @p cost 7 {
  }
  // CHECK: plan.send @y.send on @s @y to @y.recv unless @p
  plan.send @y.send on @s @y to @y.recv unless @p
  plan.recv @y.recv on @s @z from @y.send
  plan.fetch @z.fetch on @s @z -> result @z
  plan.edge @p.feed -> @g data same
  plan.edge @g -> @p.feed credit same tokens 1
  plan.edge @p.feed -> @y.send data same
  plan.edge @y.send -> @p.feed credit same tokens 1
  plan.edge @g -> @y.send data same
  plan.edge @y.send -> @g credit same tokens 1
  plan.edge @y.send -> @y.recv data pieces
  plan.edge @y.recv -> @z.fetch data same
  plan.edge @z.fetch -> @y.send credit pieces tokens 1
  plan.argument @p feed @p.feed
  plan.result @z fetch @z.fetch
}
