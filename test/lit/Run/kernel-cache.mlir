// A folder of compiled kernels. The plan is the same with and without it.
// DEFINE: %{compile} = pw-run %s --topology=1x1x2 --compile-only
// DEFINE: %{bad} = %python %S/Inputs/exits.py 2 pw-run

// RUN: rm -rf %t && mkdir %t
// RUN: %{compile} --emit-plan=%t/none
// RUN: %{compile} --emit-plan=%t/cold --kernel-cache=%t/a/cache --explain-kernels \
// RUN:   | FileCheck %s --check-prefix=COLD
// RUN: %{compile} --emit-plan=%t/warm --kernel-cache=%t/a/cache --explain-kernels \
// RUN:   | FileCheck %s --check-prefix=WARM
// RUN: cmp %t/none %t/cold
// RUN: cmp %t/none %t/warm
// COLD: kernel calls segments targets object bytes code ms
// COLD-NEXT: twice 2 1 1 [[#]] compiled {{[0-9.]+}}
// COLD-NEXT: ratio 1 1 1 [[#]] compiled {{[0-9.]+}}
// COLD-NEXT: 2 kernels 3 2 [[#]] {{[0-9.]+}}
// WARM: twice 2 1 1 [[#]] cache {{[0-9.]+}}
// WARM-NEXT: ratio 1 1 1 [[#]] cache {{[0-9.]+}}

// From the environment; the command line wins. What a plan has, it keeps.
// RUN: env PATHWAYS_KERNEL_CACHE=%t/a/cache %{compile} --explain-kernels \
// RUN:   | FileCheck %s --check-prefix=WARM
// RUN: env PATHWAYS_KERNEL_CACHE=%t/a/cache %{compile} --explain-kernels \
// RUN:   --kernel-cache=%t/other | FileCheck %s --check-prefix=COLD
// RUN: pw-run %t/warm --compile-only --explain-kernels --topology=1x1x2 \
// RUN:   | FileCheck %s --check-prefix=PLAN
// PLAN: twice 2 1 1 [[#]] plan
// PLAN-NEXT: ratio 1 1 1 [[#]] plan
// PLAN-NEXT: 2 kernels 3 2 [[#]] 0.00

// The pass alone: the same plan, and the same entries for pw-run.
// RUN: pw-opt %s --pw-compile="topology=1x1x2" -o %t/pass-none
// RUN: pw-opt %s --pw-compile="topology=1x1x2 kernel-cache=%t/pass" -o %t/pass-cold
// RUN: pw-opt %s --pw-compile="topology=1x1x2 kernel-cache=%t/pass" -o %t/pass-warm
// RUN: cmp %t/pass-none %t/pass-cold
// RUN: cmp %t/pass-none %t/pass-warm
// RUN: %{compile} --explain-kernels --kernel-cache=%t/pass \
// RUN:   | FileCheck %s --check-prefix=WARM

// All of a function is in its key, whatever is not to be printed: bodies, constants.
// DEFINE: %{silent} = pw-opt --mlir-print-skip-regions \
// DEFINE:   --mlir-elide-elementsattrs-if-larger=1 -o /dev/null \
// DEFINE:   --pw-compile="topology=1x1x2 kernel-cache=%t/silent"
// RUN: %{silent} %s
// RUN: sed 's/arith.addi/arith.muli/' %s > %t/times.mlir
// RUN: %{silent} %t/times.mlir
// RUN: sed 's/%0 = arith.addi.*/%0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>/' \
// RUN:   %s > %t/four.mlir
// RUN: %{silent} %t/four.mlir
// RUN: sed 's/2, 3, 4]/2, 3, 5]/' %t/four.mlir > %t/five.mlir
// RUN: %{silent} %t/five.mlir
// RUN: ls %t/silent | count 8

// A place in the source is that of this source: two lines more.
// RUN: printf '\n\n' > %t/moved.mlir
// RUN: cat %s >> %t/moved.mlir
// RUN: pw-run %t/moved.mlir --topology=1x1x2 --compile-only --explain-kernels \
// RUN:   --kernel-cache=%t/a/cache --emit-plan-text=- | FileCheck %s --check-prefix=MOVED
// MOVED: moved.mlir:[[#]]:8", "integer division by zero"
// MOVED: twice 2 1 1 [[#]] cache
// MOVED: ratio 1 1 1 [[#]] compiled

// Torn files are warnings, and are replaced.
// RUN: %python -c "import os, glob; [os.truncate(f, 100) for f in glob.glob(r'%t/other/*.kernel')]"
// RUN: %{compile} --emit-plan=%t/torn --kernel-cache=%t/other --explain-kernels \
// RUN:   >%t/torn.out 2>%t/torn.err
// RUN: FileCheck %s --check-prefix=TORN <%t/torn.err
// RUN: FileCheck %s --check-prefix=COLD <%t/torn.out
// RUN: cmp %t/none %t/torn
// TORN-COUNT-2: kernel-cache.mlir:{{.*}}: warning: compiled again: '{{.*}}/other/{{[0-9a-f]+}}.kernel' has 12 bytes after its header, expected [[#]]
// RUN: %{compile} --kernel-cache=%t/other --explain-kernels 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WARM

// A bound: less than any entry has.
// RUN: %{compile} --kernel-cache=%t/small --kernel-cache-bytes=10
// RUN: ls %t/small | count 0
// RUN: %{bad} %s --kernel-cache-bytes=-1 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: pw-run: error: --kernel-cache-bytes: {{.*}}-1

// Where nothing can be written it is an error, before anything is compiled.
// RUN: echo "no program" > %t/file
// RUN: %{bad} %t/file --kernel-cache=%t/file/cache 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FOLDER
// FOLDER: pw-run: error: cannot keep compiled kernels in '{{.*}}/file/cache': Not a directory
// RUN: %{bad} %s --kernel-cache=/proc 2>&1 | FileCheck %s --check-prefix=PROC
// PROC: pw-run: error: cannot keep compiled kernels in '/proc': {{.+}}
// RUN: not pw-opt %s --pw-compile="topology=1x1x2 kernel-cache=%t/file" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PASSFOLDER
// PASSFOLDER: error: cannot keep compiled kernels in '{{.*}}/file': Not a directory

// So it is where others could put code for this user to run.
// RUN: mkdir %t/shared && chmod 777 %t/shared
// RUN: %{bad} %s --kernel-cache=%t/shared 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: pw-run: error: cannot keep compiled kernels in '{{.*}}/shared', because other users could put code there that this user runs: it has mode 0777, expected a mode that lets no other user write (chmod go-w)

pw.slice @s mesh <"x" = 2>

func.func private @twice(%v: tensor<4xi32>) -> tensor<4xi32>
    attributes {pw.local_view} {
  %0 = arith.addi %v, %v : tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func private @ratio(%v: tensor<4xi32>, %n: tensor<4xi32>) -> tensor<4xi32>
    attributes {pw.local_view} {
  %0 = arith.divsi %v, %n : tensor<4xi32>
  return %0 : tensor<4xi32>
}

pw.program @main(%v: !pw.array<8xi32, @s, [{"x"}]>, %n: !pw.array<8xi32, @s, [{"x"}]>)
    -> (!pw.array<8xi32, @s, [{"x"}]>) {
  %0 = pw.call @twice(%v) : (!pw.array<8xi32, @s, [{"x"}]>) -> !pw.array<8xi32, @s, [{"x"}]>
  %1 = pw.call @twice(%0) : (!pw.array<8xi32, @s, [{"x"}]>) -> !pw.array<8xi32, @s, [{"x"}]>
  %2 = pw.call @ratio(%1, %n) : (!pw.array<8xi32, @s, [{"x"}]>, !pw.array<8xi32, @s, [{"x"}]>)
      -> !pw.array<8xi32, @s, [{"x"}]>
  pw.return %2 : !pw.array<8xi32, @s, [{"x"}]>
}
