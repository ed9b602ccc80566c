// Programs that do not compile exit with 3, plans that are refused with 4.

// RUN: echo 'pw.slice @s mesh <"x" = 0>' > %t.mlir
// RUN: %python %S/Inputs/exits.py 3 pw-run %t.mlir --topology=1x1x1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SYNTAX
// SYNTAX-NOT: pw-run
// SYNTAX: {{.*}}.mlir:1:{{[0-9]+}}: error:

// Text that would take all of the stack to read.
// RUN: %python -c "print('module {\n' * 100000 + '}' * 100000)" > %t.deep
// RUN: %python %S/Inputs/exits.py 3 pw-run %t.deep 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DEEP
// DEEP: {{.*}}.deep:257:8: error: the text is nested more than 256 deep
// Brackets in strings and comments, and arrows, do not nest.
// RUN: %python -c "print('// ((((' * 300 + '\n' + 'module attributes {test.a = [' + '\x22((\x22, ' * 300 + '1, (i1) -> (i1)]} {}')" > %t.flat
// RUN: %python %S/Inputs/exits.py 3 pw-run %t.flat 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FLAT
// FLAT: {{.*}}.flat: there is no pw.program [PW1101]

// Text that ends MLIR's parsers, near the place; or the error that led there.
// RUN: echo 'module attributes {a = array<index>} {}' > %t.index
// RUN: %python %S/Inputs/exits.py 3 pw-run %t.index 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INDEX
// RUN: %python %S/Inputs/exits.py 1 pw-opt %t.index 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INDEX
// RUN: %python %S/Inputs/exits.py 1 pw-translate --plan-to-file %t.index 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INDEX
// INDEX: {{.*}}.index:1:36: error: the parser of MLIR crashed near here: segmentation fault (MLIR Parser: custom op parser 'builtin.module')
// RUN: %python -c "print('func.func @f(%%x: tensor<2x6xf32>, %%o: tensor<2xf32>) {\n linalg.reduce { arith.addf } ins(%%x : tensor<2x6xf32>) outs(%%o : tensor<2xf32>) dimensions = 1\n return }')" > %t.reduce
// RUN: %python %S/Inputs/exits.py 3 pw-run %t.reduce 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REDUCE
// REDUCE: {{.*}}.reduce:2:[[#]]: error: expected '['
// REDUCE-NOT: crashed
// Where no bracket nests but the parser does.
// RUN: %python -c "print('module attributes {m = affine_map<(i) -> (i' + ' + i' * 300000 + ')>} {}')" > %t.sum
// RUN: %python %S/Inputs/exits.py 3 pw-run %t.sum 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SUM
// RUN: %python %S/Inputs/exits.py 1 pw-opt %t.sum 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SUM
// SUM: {{.*}}.sum:1:{{[0-9]+}}: error: the parser of MLIR crashed near here: out of stack
// A crash that is not of a parser.
// RUN: %python %S/Inputs/exits.py 1 pw-opt %t.deep 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STACK
// STACK: error: {{.*}}crashed{{.*}}: out of stack

// Not enough devices, and how to go on.
// RUN: %python %S/Inputs/exits.py 3 pw-run %S/Inputs/axpy.mlir \
// RUN:   --topology=1x1x3 2>&1 | FileCheck %s --check-prefix=DEVICES
// DEVICES: axpy.mlir:3:1: error: {{.*}}'t'{{.*}}2 'cpu' devices

// A damaged plan, and one for other machines.
// RUN: pw-run %S/Inputs/axpy.mlir --topology=1x1x4 --compile-only \
// RUN:   --emit-plan=%t.plan
// RUN: %python -c "d = bytearray(open(r'%t.plan', 'rb').read()); d[-1] ^= 1; open(r'%t.bad', 'wb').write(d)"
// RUN: %python %S/Inputs/exits.py 4 pw-run %t.bad --topology=1x1x4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: pw-run: error: {{.*}}.bad: {{.*}}checksum
// RUN: %python %S/Inputs/exits.py 4 pw-run %t.plan --topology=1x1x3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FIT
// FIT: shard 1 of slice 't' is bound to device 3, but island0 has 3 devices
// A plan of another format; code for another CPU, with both named.
// RUN: %python -c "d = bytearray(open(r'%t.plan', 'rb').read()); d[8] = 7; open(r'%t.seven', 'wb').write(d)"
// RUN: %python %S/Inputs/exits.py 4 pw-run %t.seven --topology=1x1x4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=VERSION
// VERSION: pw-run: error: {{.*}}.seven: plan has format version 7, this reader knows 1
// RUN: pw-run %S/Inputs/axpy.mlir --topology=@%S/Inputs/apple.textproto \
// RUN:   --compile-only --emit-plan=%t.apple
// RUN: %python %S/Inputs/exits.py 4 pw-run %t.apple --topology=1x1x4 \
// RUN:   --input=x=1 --input=weights=1 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: code for 'aarch64-unknown-linux-gnu apple-m4' does not run on this machine, '{{.+ .+}}'
// RUN: %python %S/Inputs/exits.py 2 pw-run %t.plan --program=other 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// RUN: pw-run %t.plan --topology=1x1x4 --compile-only --emit-plan-text=%t.text
// RUN: %python %S/Inputs/exits.py 2 pw-run %t.text --topology=1x1x4 --program=other 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// NAME: --program: {{.*}} is the plan of 'axpy_program', not of 'other'

// A failed assert in a body ends the run: exit 5, with its line.
// RUN: %python %S/Inputs/exits.py 5 pw-run %S/Inputs/asserts.mlir \
// RUN:   --topology=1x1x2 --input=x=1,-1 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT-DAG: {{.*}}asserts.mlir:[[#]]:{{.*}}x is positive
// ASSERT-DAG: [FAILED] the run did not finish
