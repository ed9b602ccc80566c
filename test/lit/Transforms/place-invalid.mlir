// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-place=topology=2x1x4
// RUN: echo | not pw-opt -pw-place=topology=0x1 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// TOPOLOGY: error: cannot read topology '0x1':
// RUN: echo 'pw.slice @s mesh <"x" = 2>' | not pw-opt -pw-place=topology=5x1x1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MANY
// MANY: but island0 has {{.*}}; island3 has 1 of 1 'cpu' devices free; and so on for the other islands

pw.slice @front mesh <"x" = 4>
pw.slice @mid mesh <"x" = 2>
// expected-error@+2 {{'back' needs 3 'cpu' devices on one island, apart from 'front', but island0 has 'front'; island1 has 2 of 4 'cpu' devices free [PW2101]}}
// expected-note@+1 {{use a topology with more or larger islands, or set oversubscribe to share devices and islands}}
pw.slice @back mesh <"x" = 3> apart_from [@front]
pw.bind @front to island 0 devices base 0 strides [1]
pw.bind @mid to island 1 devices base 0 strides [1]
// -----
// expected-error@+2 {{'large' needs 5 'cpu' devices on one island, but island0 has 4 of 4 'cpu' devices free; island1 has 4 of 4 'cpu' devices free [PW2101]}}
// expected-note@+1 {{use a topology with more}}
pw.slice @large mesh <"x" = 5>
// -----
// expected-error@+1 {{'s' needs 'tpu' devices, but the topology has only 'cpu' [PW2102]}}
pw.slice @s mesh <> kind "tpu"
// -----
// expected-note@+1 {{slice 'a' is declared here}}
pw.slice @a mesh <>
pw.slice @b mesh <> with [@a]
// expected-error@+1 {{'c' is apart_from @a, but 'with' puts both on one island}}
pw.slice @c mesh <> apart_from [@a] with [@b]
// -----
pw.slice @s mesh <>
// expected-error@+1 {{binds slice 's' to island 2, but the topology has 2}}
pw.bind @s to island 2 devices base 0 strides []
// -----
pw.slice @s mesh <"x" = 4>
// expected-error@+1 {{binds slice 's' to device 4 of island 1, which has 4 devices}}
pw.bind @s to island 1 devices base 1 strides [1]
// -----
pw.slice @a mesh <>
pw.slice @b mesh <> with [@a]
pw.bind @a to island 0 devices base 0 strides []
// expected-error@+1 {{binds slice 'b' to island 1, but a slice it is with is bound to island 0}}
pw.bind @b to island 1 devices base 0 strides []
// -----
// expected-error@+1 {{'a' is bound to island 0, like 'b', which it is to be apart from}}
pw.slice @a mesh <> apart_from [@b]
// expected-note@+1 {{slice 'b' is declared here}}
pw.slice @b mesh <>
pw.bind @a to island 0 devices base 0 strides []
pw.bind @b to island 0 devices base 1 strides []
// -----
// expected-error@+2 {{'b' needs 3 'cpu' devices on one island, together with the slices of its 'with', but island0 has 2 of 4 'cpu' devices free [PW2101]}}
// expected-note@+1 {{use a topology with more}}
pw.slice @b mesh <"x" = 3> with [@a]
pw.slice @a mesh <"x" = 2>
pw.bind @a to island 0 devices base 0 strides [1]
// -----
// expected-error@+2 {{'wide' needs 3 'cpu' devices on each of 2 islands, but island0 has 'wide'; island1 has 2 of 4 'cpu' devices free [PW2101]}}
// expected-note@+1 {{use a topology with more}}
pw.slice @wide mesh <"x" = 6> spans 2 islands
pw.slice @there mesh <"x" = 2>
pw.bind @there to island 1 devices base 0 strides [1]
// -----
// expected-error@+2 {{'three' needs 1 'cpu' devices on each of 3 islands, but island0 has 'three'; island1 has 'three'}}
// expected-note@+1 {{use a topology with more}}
pw.slice @three mesh <"x" = 3> spans 3 islands
// -----
// expected-error@+1 {{'twice' is bound to island 1 twice, but spans 2 islands}}
pw.slice @twice mesh <"x" = 2> spans 2 islands
pw.bind @twice to island 1 devices [0, 1] also islands [1]
// -----
pw.slice @s mesh <"x" = 2> spans 2 islands
// expected-error@+1 {{binds slice 's' to island 2, but the topology has 2}}
pw.bind @s to island 0 devices [0, 1] also islands [2]
// -----
pw.slice @s mesh <"x" = 4> spans 2 islands
// expected-error@+1 {{binds slice 's' to device 4 of island 1, which has 4 devices}}
pw.bind @s to island 0 devices base 0 strides [1] span 2 also islands [1] bases [3]
// -----
pw.slice @a mesh <"x" = 2> spans 2 islands
// expected-error@+2 {{'b' needs 1 'cpu' devices on one island, apart from 'a', but island0 has 'a'; island1 has 'a' [PW2101]}}
// expected-note@+1 {{use a topology with more}}
pw.slice @b mesh <> apart_from [@a]
