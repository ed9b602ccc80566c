// Constants of 64 KiB or more are in the plan file, not in its code. The client
// puts them once, and callers do not pass them.
// REQUIRES: pw-run
// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/large-constants.py > %t/module.mlir
// RUN: pw-run %t/module.mlir --topology=1x1x1 --emit-plan=%t/plan --compile-only
// RUN: pw-run %t/plan --input=x=1 --steps=3 --stats | FileCheck %s
// CHECK: y: 128xf32 = [8128, 8256,
// CHECK: z: 80000xi1 = [true, false, false, ..., false, true, false]
// CHECK: w: 2xi32 = [0, 1065353216]
// Each of two slots is fed once, although there are three steps.
// CHECK: bytes copied by feeds{{ +}}423168
// CHECK: [SUCCESS] 3 steps

// Equal constants have their bytes once, whatever their types.
// RUN: %python -c "import os, sys; n = os.path.getsize(sys.argv[1]); assert 65536 + 80000 < n < 2 * 65536 + 80000, n" %t/plan
// RUN: pw-run %t/module.mlir --topology=1x1x1 --emit-plan=%t/again --compile-only
// RUN: cmp %t/plan %t/again

// The text of a plan has them, too.
// RUN: pw-run %t/plan --emit-plan-text=%t/text.mlir --compile-only
// RUN: pw-run %t/text.mlir --input=x=1 | FileCheck %s --check-prefix=VALUE
// VALUE: y: 128xf32 = [8128, 8256,
// RUN: pw-run %t/text.mlir --topology=1x1x1 --emit-plan=%t/third --compile-only
// RUN: cmp %t/plan %t/third

// They are cut like arguments, and go to other processes by the first launch.
// RUN: sed 's/tensor<128xf32> loc/tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>} loc/; s/^module/module attributes {mhlo.num_partitions = 4 : i32}/; 2i sdy.mesh @mesh = <["d"=4]>' %t/module.mlir > %t/mesh.mlir
// RUN: pw-run %t/mesh.mlir --topology=1x2x2 --input=x=1 --steps=2 | FileCheck %s --check-prefix=VALUE
// RUN: pw-run %t/mesh.mlir --topology=1x2x2 --input=x=1 --steps=2 --processes=2 | FileCheck %s --check-prefix=VALUE
// RUN: pw-run %t/mesh.mlir --topology=1x2x2 --input=x=1 --world=sim | FileCheck %s --check-prefix=VALUE

// A run that checkpoints has them, and one that resumes.
// RUN: pw-run %t/plan --input=x=1 --steps=4 --checkpoint-dir=%t/checkpoints --checkpoint-every=2 | FileCheck %s --check-prefix=VALUE
// RUN: pw-run %t/plan --input=x=1 --steps=6 --checkpoint-dir=%t/checkpoints --checkpoint-every=2 --resume | FileCheck %s --check-prefix=VALUE

// They are no arguments.
// RUN: not pw-run %t/plan --input=x=1 --input=constant0=1 2>&1 | FileCheck %s --check-prefix=HIDDEN
// HIDDEN: error: the program has no input 'constant0'; it has x
