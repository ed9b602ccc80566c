// Plans as files and as text: written, read, run, piped.
// DEFINE: %{compile} = pw-run %S/Inputs/axpy.mlir --topology=2x1x2 --compile-only
// DEFINE: %{values} = --topology=2x1x2 --input=x=ramp --input=weights=1 --steps=2

// RUN: %{compile} --emit-plan=%t.plan --emit-plan-text=%t.plan.mlir
// RUN: pw-run %S/Inputs/axpy.mlir %{values} > %t.direct
// RUN: pw-run %t.plan %{values} | diff - %t.direct
// RUN: pw-run %t.plan.mlir %{values} | diff - %t.direct
// RUN: pw-run - %{values} < %t.plan | diff - %t.direct
// RUN: cat %t.plan.mlir | pw-run - %{values} | diff - %t.direct

// Writing is deterministic, and text and file say the same.
// RUN: %{compile} --emit-plan=%t.again.plan --emit-plan-text=- > %t.again.mlir
// RUN: cmp %t.plan %t.again.plan
// RUN: cmp %t.plan.mlir %t.again.mlir
// RUN: pw-translate --file-to-plan %t.plan | cmp - %t.plan.mlir
// RUN: pw-run %t.plan.mlir --topology=2x1x2 --compile-only --emit-plan=%t.from-text.plan
// RUN: cmp %t.plan %t.from-text.plan

// The text keeps the lines of the program it came from.
// RUN: FileCheck %s --input-file=%t.plan.mlir --check-prefix=WHERE
// WHERE: plan.gang @axpy {{.*}}axpy.mlir:17:8"

// What pw-opt lowers, pw-run runs, errors with their lines included.
// RUN: pw-opt %S/Inputs/asserts.mlir --pw-compile="topology=1x1x2" > %t.asserts
// RUN: cat %t.asserts | %python %S/Inputs/exits.py 5 pw-run - --topology=1x1x2 \
// RUN:   --input=x=1,-1 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT: asserts.mlir:9:{{.*}}x is positive
