// Mistakes on the command line are named, and exit with 2.
// DEFINE: %{bad} = %python %S/Inputs/exits.py 2 pw-run
// DEFINE: %{axpy} = %{bad} %S/Inputs/axpy.mlir --topology=1x1x4

// RUN: %{bad} 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: pw-run: error: no FILE is given

// RUN: %{bad} %t.gone 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: pw-run: error: cannot read '{{.*}}.gone': No such file or directory

// RUN: %{bad} %S 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: pw-run: error: cannot read '{{.*}}': Is a directory

// RUN: %{bad} - < /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: pw-run: error: <stdin>: the file is empty

// RUN: printf 'module {\000}' | %{bad} - 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: pw-run: error: <stdin>: the file is neither a plan nor text

// RUN: %{bad} %s --inptu=x=1 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: did you mean '--input'?

// RUN: %{bad} %S/Inputs/axpy.mlir --topology=0x1x1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TOPOLOGY
// TOPOLOGY: pw-run: error: --topology: {{.*}}0x1x1

// RUN: %{axpy} 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING:      pw-run: error: inputs are missing:
// MISSING-NEXT:   --input=x=... 1x2x2xf32 (1 step of 2x2xf32)
// MISSING-NEXT:   --input=weights=... 2xf32 [PW5104]
// MISSING-NOT: [FAILED]

// RUN: %{axpy} --input=x=1 --input=wieghts=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: the program has no input 'wieghts'; did you mean 'weights'?

// RUN: %{axpy} --input=x=1 --input=weights=1,2,3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHAPE
// SHAPE: input 'weights': expected 2xf32, got 3xf32 [PW5103]

// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/npy.py %t/w.npy '<f8' 2 1 2
// RUN: %{axpy} --input=x=1 --input=weights=@%t/w.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TYPE
// TYPE: input 'weights': {{.*}}w.npy: expected 2xf32, got 2xf64 [PW5103]

// RUN: %python %S/Inputs/npy.py %t/w.npy '>f4' 2 1 2
// RUN: %{axpy} --input=x=1 --input=weights=@%t/w.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ENDIAN
// ENDIAN: input 'weights': {{.*}}w.npy: element type '>f4' is big endian{{.*}} [PW5101]

// RUN: %{axpy} --input=x=1 --input=weights=@%s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTNPY
// NOTNPY: input 'weights': {{.*}}: not a .npy file{{.*}} [PW5101]

// RUN: %{axpy} --input=x=1 --input=weights=1 --expected=z=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RESULT
// RESULT: the program has no result 'z'; it has y, last

// Files are opened before anything else is done: here not even inputs exist.
// RUN: %{axpy} --output=y=@%t/no/y.npy 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: pw-run: error: cannot write '{{.*}}/no/y.npy': No such file or directory
// RUN: %{axpy} --output=y=@%t/a --output=last=@%t/a 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWICE
// TWICE: pw-run: error: '{{.*}}/a' would be written twice: by --output=last and by --output=y{{$}}
// RUN: not ls %t/a

// By what they are, not by what they are called; inputs, too.
// RUN: %{axpy} --output=y=@%t/./a --emit-plan=%t/a 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALIAS
// ALIAS: pw-run: error: '{{.*}}/a' would be written twice: by --emit-plan and by --output=y, as '{{.*}}/./a'
// RUN: cp %S/Inputs/axpy.mlir %t/axpy.mlir
// RUN: ln -s axpy.mlir %t/link.mlir
// RUN: ln %t/w.npy %t/hard.npy
// RUN: echo 'islands { hosts { devices {} } }' > %t/one.textproto
// DEFINE: %{own} = %{bad} %t/axpy.mlir --topology=%t/one.textproto \
// DEFINE:   --input=x=@%t/hard.npy --expected=y=@%t/y.npy
// RUN: %{own} --emit-plan=%t/link.mlir 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: '{{.*}}/link.mlir' would be written by --emit-plan, but is read as the program, as '{{.*}}/axpy.mlir'
// RUN: %{own} --trace=%t/w.npy 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: '{{.*}}/w.npy' would be written by --trace, but is read as --input=x, as '{{.*}}/hard.npy'
// RUN: %{own} --stats=@%t/y.npy 2>&1 | FileCheck %s --check-prefix=EXPECTED
// EXPECTED: '{{.*}}/y.npy' would be written by --stats, but is read as --expected=y
// RUN: %{own} --dump-graph=%t/one.textproto 2>&1 | FileCheck %s --check-prefix=TOPOFILE
// TOPOFILE: '{{.*}}/one.textproto' would be written by --dump-graph, but is read as --topology
// RUN: %{own} --emit-plan-text=%t/out.txt >%t/out.txt 2>%t/err.txt
// RUN: FileCheck %s --check-prefix=STDOUT < %t/err.txt
// STDOUT: '{{.*}}/out.txt' would be written twice: by --emit-plan-text and by standard output
// RUN: %{bad} - --topology=1x1x4 --emit-plan=%t/axpy.mlir < %t/axpy.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STDIN
// STDIN: '{{.*}}/axpy.mlir' would be written by --emit-plan, but is read as standard input
// RUN: cmp %S/Inputs/axpy.mlir %t/axpy.mlir

// RUN: %{axpy} --input=x=1 --input=weights=1 --output=y=@/dev/full 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FULL
// FULL: cannot write '/dev/full': No space left on device
