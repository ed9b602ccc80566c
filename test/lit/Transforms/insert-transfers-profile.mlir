// Links that were measured count instead of those of the topology.
// RUN: pw-opt %s -pw-fingerprint -o %t.mlir
// RUN: sed -n 's/.*fingerprint = \("[0-9a-f]*"\).*/version: 1 program: "p" fingerprint: \1/p' %t.mlir > %t.program
// RUN: cp %t.program %t.profile
// RUN: echo 'dcn { bytes_per_second: 1e12 latency_seconds: 1e-8 } ici { bytes_per_second: 1e8 }' >> %t.profile

// RUN: pw-opt %t.mlir -pw-insert-transfers=topology=2x2x4 | FileCheck %s --check-prefix=SAID
// RUN: pw-opt %t.mlir '-pw-insert-transfers=topology=2x2x4 profile=%t.program' | FileCheck %s --check-prefix=SAID
// SAID-LABEL: pw.program @p
// SAID: pw.transfer %x : {{.*}} -> !pw.array<1048576xf32, @b, [{"d", "e"}]>
// SAID: pw.call @pw_all_gather_dim0_131072xf32_d_e

// RUN: pw-opt %t.mlir '-pw-insert-transfers=topology=2x2x4 profile=%t.profile' | FileCheck %s --check-prefix=MEASURED
// RUN: pw-opt %t.mlir '-pw-explain-reshard=topology=2x2x4 profile=%t.profile' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// MEASURED-LABEL: pw.program @p
// MEASURED: pw.transfer %x : {{.*}} -> !pw.array<1048576xf32, @b, [{}]>
// MEASURED-NOT: pw.call
// WHY: remark: {{.*}}takes pieces to the other slice cut [{}]
// WHY: note: not pieces to the other slice cut [{d, e}], then all-gather

pw.slice @a mesh <"x" = 8>
pw.slice @b mesh <"d" = 2, "e" = 4>
pw.bind @a to island 0 devices base 0 strides [1]
pw.bind @b to island 1 devices base 0 strides [4, 1]
pw.program @p(%x: !pw.array<1048576xf32, @a, [{"x"}]>) -> !pw.array<1048576xf32, @b, [{}]> {
  %0 = pw.reshard %x : !pw.array<1048576xf32, @a, [{"x"}]> -> !pw.array<1048576xf32, @b, [{}]>
  pw.return %0 : !pw.array<1048576xf32, @b, [{}]>
}
