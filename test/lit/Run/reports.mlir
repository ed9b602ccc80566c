// Reports come from the plan: no inputs are needed, nothing is run.
// DEFINE: %{run} = pw-run %S/Inputs/axpy.mlir --topology=1x2x2

// RUN: %{run} --dry-run | FileCheck %s --check-prefix=DRY
// DRY:      devices peak bytes of shards gangs per step ns per step
// DRY-NEXT: island0 device 0-1 {{[0-9]+}} 1073741824 1 1
// DRY-NEXT: island0 device 2-3 {{[0-9]+}} 1073741824 1 0
// DRY:      bytes for all one step credits kept alignment packing scratch
// DRY-NEXT: island0 device 0-1
// DRY-NEXT: island0 device 2-3
// DRY:      links bytes per step gangs per step
// DRY-NEXT: ici island0 16 1
// DRY-NOT: SUCCESS

// RUN: %{run} --compile-only --explain-placement | FileCheck %s --check-prefix=PLACE
// PLACE: 1 island
// PLACE: slice mesh island devices hosts gangs bytes per shard
// PLACE-NEXT: s d=2 island0 0-1 host0 1
// PLACE-NEXT: t d=2 island0 2-3 host1 0
// PLACE-NOT: SUCCESS

// RUN: %{run} --compile-only --explain-reshard | FileCheck %s --check-prefix=RESHARD
// RESHARD: axpy.mlir:{{[0-9]+}}:{{[0-9]+}}: !pw.array<{{.*}}, @s, {{.*}}> -> !pw.array<{{.*}}, @t, {{.*}}>
// RESHARD-NEXT: taken route steps ici bytes dcn bytes peak bytes ns
// RESHARD-NEXT: yes pieces to the other slice cut [{{.*}}] 1 16 0 {{[0-9]+}} {{[0-9]+}}
// RESHARD-NOT: SUCCESS
// RUN: %{run} --compile-only --emit-plan=%t.plan
// RUN: not pw-run %t.plan --topology=1x2x2 --explain-reshard 2>&1 | FileCheck %s --check-prefix=CHOSEN
// RUN: %{run} --compile-only --emit-plan-text=%t.plan.mlir
// RUN: not pw-run %t.plan.mlir --topology=1x2x2 --explain-reshard 2>&1 | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: pw-run: error: {{.*}}is a plan, whose movements are already chosen

// RUN: %{run} --compile-only --dump-graph=- | FileCheck %s --check-prefix=GRAPH
// GRAPH: digraph "axpy_program" {
// GRAPH: subgraph cluster_0
// GRAPH: label="@s: d=2, island 0"
// GRAPH-DAG: [label="axpy", shape=box
// GRAPH: subgraph cluster_1
// GRAPH: style=dashed, color=gray50, label=2
// RUN: %{run} --compile-only --dump-graph=%t.dot
// RUN: %{run} --compile-only --dump-graph=- | diff - %t.dot

// Statistics of a run. As JSON, one line.
// RUN: %{run} --input=x=1 --input=weights=1 --steps=3 --stats --world=sim \
// RUN:   | FileCheck %s --check-prefix=TABLE
// TABLE: statistic value
// TABLE: plan: actions
// TABLE: steps 3
// TABLE: virtual time in ns
// TABLE: [SUCCESS] 3 steps
// RUN: %{run} --input=x=1 --input=weights=1 --stats=json --output=y=- \
// RUN:   | FileCheck %s --check-prefix=JSON
// JSON: {"plan":{"program":"axpy_program","slices":2,
// JSON-SAME: "run":{"steps":1,
// JSON-NEXT: [SUCCESS]
// RUN: %{run} --input=x=1 --input=weights=1 --stats=@%t.json --world=sim --seed=5
// RUN: %python -c "import json; s = json.load(open(r'%t.json')); print(len(s['devices']), s['plan']['slices'])" \
// RUN:   | FileCheck %s --check-prefix=LOADED
// LOADED: 4 2

// The same seed, the same simulation, to the last event.
// RUN: %{run} --input=x=1 --input=weights=1 --stats=@%t.again.json --world=sim --seed=5
// RUN: diff %t.json %t.again.json

// RUN: pw-run --help | FileCheck %s --check-prefix=HELP
// HELP: Compiles a program over sharded arrays
// HELP: Examples:
// HELP: Exit codes: 0 success
// RUN: pw-run --version | FileCheck %s --check-prefix=VERSION
// VERSION: pw-run (Pathways) {{[0-9]+\.[0-9]+\.[0-9]+}}
// No progress line in a log.
// RUN: %{run} --input=x=1 --input=weights=1 2>&1 >/dev/null | count 0

// Carried arguments that each step copies are there, with those that it does not not.
// RUN: pw-run %S/Inputs/carried.mlir --topology=1x1x2 --dry-run 2>&1 | FileCheck %s --check-prefix=COPIED
// COPIED: remark: argument 'b' is copied from step to step, 32 bytes on each shard: it is still read when its next value is written
// COPIED: copied from step to step bytes
// COPIED-NEXT: b 64
// COPIED-NOT: a

// What the dry run says of memory is what a run takes.
// RUN: %{run} --dry-run > %t.dry
// RUN: %python %S/Inputs/peaks.py %t.dry %t.json | FileCheck %s --check-prefix=PEAKS
// PEAKS: 4 devices agree
