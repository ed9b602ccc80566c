// A run says what its parts cost, and the next compilation takes that; results
// are the same bits.
// DEFINE: %{where} = --topology=2x1x2
// DEFINE: %{inputs} = --input=x=random:1 --input=w=random:2

// RUN: pw-run %s %{where} %{inputs} --steps=5 --output=y=@%t.npy --profile-out=%t.profile
// RUN: FileCheck %s --check-prefix=PROFILE < %t.profile
// PROFILE:      version: 1
// PROFILE-NEXT: program: "p"
// PROFILE-NEXT: fingerprint: "{{[0-9a-f]+}}"
// PROFILE-NEXT: computations {
// PROFILE-NEXT:   name: "layer_sharded"
// PROFILE-NEXT:   signature: "{{[0-9a-f]+}}"
// PROFILE-NEXT:   ns: {{[1-9][0-9]*}}
// PROFILE-NEXT:   runs: {{[1-9]}}
// PROFILE-DAG:  name: "scale_sharded"
// PROFILE-DAG:  kind: FEED
// PROFILE-DAG:  kind: FETCH
// PROFILE-DAG:  kind: SEND
// PROFILE-DAG:  kind: RECV
// PROFILE-DAG:  bytes: 128
// In one process there are no links.
// PROFILE-NOT:  latency_seconds

// All is known of the same text on other machines, where shards are the same.
// RUN: pw-run %s %{where} %{inputs} --steps=5 --profile=%t.profile --expected=y=@%t.npy --rtol=0 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: pw-run %s --topology=2x2x1 %{inputs} --steps=5 --profile=%t.profile --expected=y=@%t.npy --rtol=0 --processes --profile-out=%t.other 2>&1 | FileCheck %s --check-prefix=SAME
// SAME-NOT: remark
// SAME: [SUCCESS] 5 steps, 1 result as expected
// RUN: FileCheck %s --check-prefix=LINKS < %t.other
// LINKS: {{ici|dcn}} {
// LINKS: latency_seconds: {{[0-9.e-]+$}}

// The same profile, the same plan; which has its costs, and shows and takes them.
// RUN: sed 's/ ns: [0-9]*/ ns: 5000000/' %t.profile > %t.slow
// RUN: pw-run %s %{where} --profile=%t.slow --compile-only --emit-plan=%t.1.plan --emit-plan-text=- | FileCheck %s --check-prefix=COSTS
// RUN: pw-run %s %{where} --profile=%t.slow --compile-only --emit-plan=%t.2.plan
// RUN: cmp %t.1.plan %t.2.plan
// COSTS: plan.feed @x.feed {{.*}} cost 5000000 at
// COSTS: plan.gang @layer_sharded {{.*}} cost 5000000 at
// COSTS: plan.send {{.*}} cost 5000000 at
// COSTS: plan.recv {{.*}} cost 5000000 at
// COSTS: plan.gang @scale_sharded {{.*}} cost 5000000 at
// COSTS: plan.fetch {{.*}} cost 5000000 at
// RUN: pw-run %s %{where} --profile=%t.slow --dry-run | FileCheck %s --check-prefix=DRY
// DRY:      devices peak bytes of shards gangs per step ns per step
// DRY-NEXT: island0 device 0-1 {{[0-9]+}} 1073741824 1 1 20000000
// DRY-NEXT: island1 device 0-1 {{[0-9]+}} 1073741824 1 1 15000000
// RUN: pw-run %t.1.plan %{where} %{inputs} --world=sim --stats=json --output=y=- | FileCheck %s --check-prefix=TIME
// TIME: "virtual_ns":1{{[0-9][0-9][0-9][0-9][0-9][0-9][0-9]}}}

// A plan that was compiled before is measured as well.
// RUN: pw-run %t.1.plan %{where} %{inputs} --profile-out=- --output=y=@%t.y.npy | FileCheck %s --check-prefix=PROFILE

// What is measured in a part of the run alone says so.
// RUN: pw-run %s %{where} %{inputs} --steps=200 --trace-events=64 --profile-out=%t.part 2>&1 | FileCheck %s --check-prefix=PART
// PART: pw-run: --profile-out: the profile covers only the last {{[0-9.]+}} ms: {{[0-9]+}} older events dropped; a larger --trace-events keeps more

// Of another mesh computations are others.
// RUN: pw-run %s --topology=2x1x1 --mesh=a:d=1,b:d=1 %{inputs} --steps=5 --profile=%t.profile --expected=y=@%t.npy 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: profile.mlir:{{[0-9:]+}} remark: profile '{{.*}}.profile' has no cost for 2 of 2 computations, the first 'layer'; they are estimated
// MESH: [SUCCESS]

// What cannot be.
// DEFINE: %{refused} = %python %S/Inputs/exits.py 2 pw-run
// RUN: sed 's/tanh/exp/' %s > %t.exp.mlir
// RUN: %{refused} %t.exp.mlir %{where} --compile-only --profile=%t.profile 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: pw-run: error: profile '{{.*}}': the profile is of program 'p' ([[ONE:[0-9a-f]+]]), expected program 'p' (
// OTHER-NOT: [[ONE]]
// RUN: sed 's/@p(/@q(/' %s > %t.q.mlir
// RUN: %{refused} %t.q.mlir %{where} --compile-only --profile=%t.profile 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: is of program 'p' ({{[0-9a-f]+}}), expected program 'q' (
// RUN: %{refused} %s %{where} --compile-only --profile=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: pw-run: error: profile '{{.*}}.none': No such file or directory
// RUN: %{refused} %s %{where} --compile-only --profile=%s 2>&1 | FileCheck %s --check-prefix=GARBAGE
// GARBAGE: pw-run: error: profile '{{.*}}profile.mlir':1:1: Expected identifier
// RUN: %{refused} %t.1.plan %{where} --compile-only --profile=%t.profile 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: pw-run: error: --profile: {{.*}}.1.plan is a plan, whose costs are fixed
// RUN: %{refused} %s %{where} %{inputs} --world=sim --profile-out=%t.sim 2>&1 | FileCheck %s --check-prefix=SIM
// SIM: pw-run: error: --profile-out: a simulation cannot measure a profile
// RUN: %{refused} %s %{where} --dry-run --profile-out=%t.dry 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: pw-run: error: --profile-out: nothing runs with --dry-run
// RUN: %{refused} %s %{where} %{inputs} --profile=%t.profile --profile-out=%t.profile 2>&1 | FileCheck %s --check-prefix=SELF
// SELF: pw-run: error: '{{.*}}.profile' would be written by --profile-out, but is read as --profile
// RUN: %{refused} %s %{where} %{inputs} --profile-out=%t.none/x 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: .none/x
// A plan without a fingerprint is of no program that is known.
// RUN: pw-run %s %{where} --compile-only --emit-plan-text=- | sed 's/fingerprint "[0-9a-f]*" //' > %t.old.mlir
// RUN: %{refused} %t.old.mlir %{where} %{inputs} --profile-out=%t.old 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: pw-run: error: --profile-out: the plan of 'p' has no fingerprint
// OLD-NOT: SUCCESS

pw.slice @a mesh <"d" = 2>
pw.slice @b mesh <"d" = 2> apart_from [@a]

func.func private @layer(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = math.tanh %h : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func private @scale(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = arith.mulf %x, %x : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

pw.program @p(%x: !pw.array<8x8xf32, @a, [{}, {"d"}]>, %w: !pw.array<8x8xf32, @a, [{"d"}, {}]>)
    -> (!pw.array<8x8xf32, @b, [{"d"}, {}]> {pw.name = "y"}) {
  %0 = pw.call @layer(%x, %w) : (!pw.array<8x8xf32, @a, [{}, {"d"}]>, !pw.array<8x8xf32, @a, [{"d"}, {}]>)
      -> !pw.array<8x8xf32, @a, [{"d"}, {}]>
  %1 = pw.reshard %0 : !pw.array<8x8xf32, @a, [{"d"}, {}]> -> !pw.array<8x8xf32, @b, [{"d"}, {}]>
  %2 = pw.call @scale(%1) : (!pw.array<8x8xf32, @b, [{"d"}, {}]>) -> !pw.array<8x8xf32, @b, [{"d"}, {}]>
  pw.return %2 : !pw.array<8x8xf32, @b, [{"d"}, {}]>
}
