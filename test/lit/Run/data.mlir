// Where inputs come from and results go to.
// DEFINE: %{run} = pw-run %S/Inputs/axpy.mlir --topology=1x1x4

// Without --output and --expected every result is printed.
// RUN: %{run} "--input=x=[[[1,2],[3,4]]]" --input=weights=10,20 \
// RUN:   | FileCheck %s --check-prefix=PRINT
// PRINT:      y: 1x2x2xf32 = {{\[\[\[}}12, 24], [16, 28{{\]\]\]}}
// PRINT-NEXT: last: 2x2xf32 = {{\[\[}}12, 24], [16, 28{{\]\]}}
// PRINT-NEXT: [SUCCESS] 1 step

// Files in, files out; a stepped value has the steps as its first dimension.
// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/npy.py %t/x.npy '<f4' 3x2x2 0 1 2 3 4 5 6 7 8 9 10 11
// RUN: %{run} --steps=3 --input=x=@%t/x.npy --input=weights=zeros \
// RUN:   --output=y=@%t/y.npy --output=last=- | FileCheck %s --check-prefix=LAST
// LAST-NOT: y:
// LAST: last: 2x2xf32 = {{\[\[}}16, 18], [20, 22{{\]\]}}
// LAST-NEXT: [SUCCESS] 3 steps
// RUN: %python %S/Inputs/npy.py --show %t/y.npy | FileCheck %s --check-prefix=FILE
// FILE: <f4 (3, 2, 2) (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0)
// Nothing else is left behind.
// RUN: ls %t | FileCheck %s --check-prefix=LS
// LS: x.npy
// LS-NEXT: y.npy
// LS-NOT: {{.}}

// What was stored compares equal.
// RUN: %{run} --steps=3 --input=x=ramp --input=weights=zeros \
// RUN:   --expected=y=@%t/y.npy --rtol=0 --atol=0 \
// RUN:   | FileCheck %s --check-prefix=SAME
// SAME-NOT: y:
// SAME: [SUCCESS] 3 steps, 1 result as expected

// Differences: the first place, both values, how many.
// RUN: %python %S/Inputs/exits.py 1 %{run} --input=x=ones --input=weights=1,2 \
// RUN:   "--expected=y=[[[3,4],[3,4.5]]]" --expected=last=3 --rtol=0 --atol=0.25 \
// RUN:   | FileCheck %s --check-prefix=DIFF
// DIFF: [FAILED] y[0][1][1]: got 4, expected 4.5 (rtol 0, atol 0.25); 1 of 4 elements differ
// DIFF-NEXT: [FAILED] last[0][1]: got 4, expected 3 (rtol 0, atol 0.25); 2 of 4 elements differ

// Random inputs are the same in every run and every world.
// RUN: %{run} --input=x=random:7 --input=weights=random:8 > %t/a
// RUN: %{run} --input=x=random:7 --input=weights=random:8 --world=sim --seed=3 > %t/b
// RUN: diff %t/a %t/b
