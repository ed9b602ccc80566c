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

// -----

// One island acts as two.
// CHECK: pw.bind @wide to island 0 devices base 0 strides [0, 1] span 2 also islands [0] bases [2]
// expected-remark@+1 {{slice 'wide' is on island0 more than once, but spans 2 islands; it acts as several islands}}
pw.slice @wide mesh <"x" = 2, "y" = 2> spans 2 islands

// -----

// Each run goes around.
// CHECK: pw.bind @wider to island 0 devices [0, 1, 2, 3, 0, 1, 0, 1, 2, 3, 0, 1] also islands [0]
// expected-remark@+3 {{slice 'wider' is on island0 more than once}}
// expected-remark@+2 {{slice 'wider' of 6 shards shares devices: island0 has 4 of 4}}
// expected-remark@+1 {{slice 'wider' of 6 shards shares devices: island0 has 0 of 4}}
pw.slice @wider mesh <"x" = 12> spans 2 islands
