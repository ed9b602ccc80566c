// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-insert-transfers=topology=1x1x2
// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-explain-reshard=topology=1x1x2
// RUN: not pw-opt %s -split-input-file -pw-insert-transfers=topology=none 2>&1 | FileCheck %s
// CHECK: error: cannot read topology 'none'

pw.slice @a mesh <"x" = 2>
// expected-error@+1 {{binds slice 'a' to island 1, but the topology has 1}}
pw.bind @a to island 1 devices base 0 strides [1]

// -----

pw.slice @a mesh <"x" = 2>
// expected-error@+1 {{binds slice 'a' to device 2 of island 0, which has 2 devices}}
pw.bind @a to island 0 devices base 1 strides [1]
