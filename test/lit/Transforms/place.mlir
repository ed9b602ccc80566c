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

// -----

// A run of shards for each island, next to those of the slices that it is with.
// CHECK: pw.bind @small to island 0 devices base 5 strides [1]
// CHECK-NEXT: pw.bind @wide to island 0 devices base 0 strides [0, 1] span 3 also islands [1] bases [0]
// CHECK-NEXT: pw.bind @beside to island 0 devices base 3 strides [1] span 2 also islands [1] bases [3]
pw.slice @wide mesh <"x" = 2, "y" = 3> spans 2 islands
pw.slice @beside mesh <"x" = 4> spans 2 islands with [@wide]
pw.slice @small mesh <"x" = 3>

// -----

// Runs follow what they are with.
// CHECK: pw.bind @more to island 1 devices base 0 strides [0] span 1 also islands [0] bases [1]
pw.slice @bound mesh <"x" = 2> spans 2 islands
pw.slice @more mesh <"x" = 2> spans 2 islands with [@bound]
pw.bind @bound to island 1 devices [7, 0] also islands [0]

// -----

// The emptier island first; where free devices are no neighbours, all runs are
// listed.
// CHECK: pw.bind @rest to island 1 devices [0, 1, 2, 0, 1, 3] also islands [0]
pw.slice @p mesh <>
pw.slice @rest mesh <"x" = 6> spans 2 islands
pw.slice @q mesh <"x" = 4>
pw.bind @p to island 0 devices base 2 strides []
pw.bind @q to island 0 devices [4, 5, 6, 7]
