// What --trace and --stats say of time, and where a trace can go.
// DEFINE: %{axpy} = pw-run %S/Inputs/axpy.mlir --topology=1x1x4 --input=x=1 \
// DEFINE:   --input=weights=1
// DEFINE: %{bad} = %python %S/Inputs/exits.py 2 pw-run

// RUN: %{axpy} --world=sim --trace=%t.json | FileCheck %s --check-prefix=DONE
// RUN: FileCheck %s --check-prefix=TRACE < %t.json
// RUN: %{axpy} --world=sim --trace=- | FileCheck %s --check-prefix=TRACE
// RUN: %{axpy} --world=sim --trace=%t.again.json
// RUN: cmp %t.json %t.again.json
// RUN: %{axpy} --world=sim --trace-events=1 --trace=- \
// RUN:   | FileCheck %s --check-prefix=FEW
// RUN: %{axpy} --world=sim --stats | FileCheck %s --check-prefix=STATS
// RUN: %{axpy} --stats=json | FileCheck %s --check-prefix=JSON

// DONE: [SUCCESS]
// TRACE:     "otherData":{"producer":"pathways","world":"sim","seed":"0"
// TRACE:     "name":"thread_name","args":{"name":"island0/host0/device0"}
// TRACE:     "cat":"kernel","name":"axpy"
// TRACE-SAME: "location":"{{.*}}axpy.mlir:
// FEW:       older events were dropped
// STATS:     device busy waits of
// STATS-NEXT: island0/host0/device0
// STATS:     critical path firings time
// STATS:     'axpy' ({{.*}}axpy.mlir:
// STATS:     between them
// JSON:      "time":{"wall_ns":{{[0-9]+}},"events_dropped":0,"devices":[{"name":"island0/host0/device0","busy_ns":

// A path that cannot be written is refused before anything else is done: here
// not even the program exists.
// RUN: rm -rf %t && mkdir %t
// RUN: %{bad} %t.gone --trace=%t/no/x.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NODIR
// NODIR: pw-run: error: cannot write '{{.*}}/no/x.json': No such file or directory
// RUN: %{bad} %t.gone --trace=%t 2>&1 | FileCheck %s --check-prefix=ISDIR
// ISDIR: pw-run: error: cannot write '{{.*}}': Is a directory
// RUN: touch %t/file && %{bad} %t.gone --trace=%t/file/x.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTDIR
// NOTDIR: pw-run: error: cannot write '{{.*}}/file/x.json': Not a directory
// RUN: %{bad} %t.gone --trace= 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: --trace: expected a value after '='
// RUN: %{bad} %t.gone --trace=%t/x --stats=@%t/x 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWICE
// TWICE: would be written twice
// RUN: %{bad} %S/Inputs/axpy.mlir --trace=- --dry-run 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DRY
// DRY: --trace: nothing runs with --dry-run
// RUN: %{bad} %S/Inputs/axpy.mlir --trace=- --trace-events=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// NONE: --trace-events: {{.*}}0

// Of a run that fails there is a trace, too.
// RUN: %python %S/Inputs/exits.py 5 pw-run %S/../../../examples/tutorial/divide.mlir \
// RUN:   --topology=1x1x4 --input=v=ramp --input=d=0 --trace=%t/failed.json
// RUN: FileCheck %s --check-prefix=FAILED < %t/failed.json
// FAILED: "name":"divide"{{.*}}"poisoned":true
