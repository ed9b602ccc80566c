// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-place='topology=1x1x4 oversubscribe=true' | FileCheck %s

// Enough devices: nothing is shared.
// CHECK: pw.bind @a to island 0 devices base 0 strides [1]
// CHECK: pw.bind @b to island 0 devices base 2 strides [1]
pw.slice @a mesh <"x" = 2>
pw.slice @b mesh <"x" = 2>

// -----

// One island acts as two.
// CHECK: pw.bind @a to island 0 devices base 0 strides [1]
// CHECK: pw.bind @b to island 0 devices base 2 strides [1]
pw.slice @a mesh <"x" = 2>
// expected-remark@+1 {{slice 'b' is on island0 like 'a', which it is to be apart from; it acts as another island}}
pw.slice @b mesh <"x" = 2> apart_from [@a]

// -----

// Shards go around the devices there are.
// CHECK: pw.bind @a to island 0 devices base 0 strides [0, 1] span 4
// CHECK: pw.bind @b to island 0 devices base 0 strides [1]{{$}}
// expected-remark@+1 {{slice 'a' of 8 shards shares devices: island0 has 4 of 4 'cpu' devices free}}
pw.slice @a mesh <"x" = 2, "y" = 4>
// expected-remark@+1 {{slice 'b' of 2 shards shares devices: island0 has 0 of 4 'cpu' devices free}}
pw.slice @b mesh <"x" = 2>

// -----

// The largest first, then the least loaded devices.
// CHECK: pw.bind @b to island 0 devices base 0 strides [1]
// CHECK: pw.bind @a to island 0 devices base 0 strides [1]
// CHECK: pw.bind @c to island 0 devices base 3 strides []{{$}}
// expected-remark@+1 {{slice 'a' of 3 shards shares devices: island0 has 0 of 4 'cpu' devices free}}
pw.slice @a mesh <"x" = 3>
pw.slice @b mesh <"x" = 4>
// expected-remark@+1 {{slice 'c' of 1 shards shares devices: island0 has 0 of 4 'cpu' devices free}}
pw.slice @c mesh <>
