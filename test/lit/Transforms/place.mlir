// RUN: pw-opt %s -split-input-file -pw-place=topology=2x2x4 | FileCheck %s
// Placing again changes nothing.
// RUN: pw-opt %s -split-input-file -pw-place=topology=2x2x4 | pw-opt -split-input-file -pw-place=topology=2x2x4 | FileCheck %s

// Devices of different slices differ; the last mesh axis runs over neighbours;
// the emptiest island is taken first.
// CHECK: pw.slice @c
// CHECK-NEXT: pw.bind @a to island 0 devices base 0 strides [2, 1]
// CHECK-NEXT: pw.bind @c to island 0 devices base 6 strides []
// CHECK-NEXT: pw.bind @b to island 1 devices base 0 strides [1]
pw.slice @a mesh <"x" = 3, "y" = 2>
pw.slice @b mesh <"x" = 5>
pw.slice @c mesh <> with [@a]

// -----

// Constraints win over an even load. What is bound stays and its devices are
// not given to others.
// CHECK: pw.bind @bound to island 1 devices [1, 3]
// CHECK-NEXT: pw.bind @apart to island 0 devices base 0 strides [1]
// CHECK-NEXT: pw.bind @also to island 0 devices base 1 strides [1]
// CHECK-NEXT: pw.bind @joined to island 1 devices base 4 strides [1]
pw.slice @bound mesh <"x" = 2>
pw.slice @apart mesh <"x" = 1> apart_from [@bound]
pw.slice @also mesh <"x" = 7> with [@apart]
pw.slice @joined mesh <"x" = 4> with [@bound]
pw.bind @bound to island 1 devices [1, 3]

// -----

// The search takes back a first choice: @first, the largest, goes to the emptier
// island, where @y and @w, which have no choice, then lack room.
// CHECK: pw.bind @z to island 1
// CHECK-NEXT: pw.bind @y to island 0 devices base 0 strides [1]
// CHECK-NEXT: pw.bind @w to island 0 devices base 3 strides [1]
// CHECK-NEXT: pw.bind @first to island 1 devices base 1 strides [1]
pw.slice @first mesh <"x" = 4>
pw.slice @y mesh <"x" = 3> apart_from [@z]
pw.slice @w mesh <"x" = 2> apart_from [@z]
pw.slice @z mesh <>
pw.bind @z to island 1 devices base 0 strides []

// -----

// Free devices that are not neighbours are listed.
// CHECK: pw.bind @rest to island 0 devices [0, 1, 3, 4, 6, 7]
pw.slice @p mesh <>
pw.slice @q mesh <>
pw.slice @rest mesh <"x" = 6> with [@p, @q]
pw.bind @p to island 0 devices base 2 strides []
pw.bind @q to island 0 devices base 5 strides []
