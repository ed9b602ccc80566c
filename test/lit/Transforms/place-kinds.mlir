// Slices go where devices of their kind are.
// RUN: pw-opt %s -pw-place=topology=%S/Inputs/mixed.textproto | FileCheck %s
// CHECK: pw.bind @fast to island 0 devices [0, 2]
// CHECK: pw.bind @near to island 0 devices base 1 strides []
// CHECK: pw.bind @one to island 1 devices base 0 strides []
pw.slice @fast mesh <"x" = 2> kind "fast"
pw.slice @one mesh <>
pw.slice @near mesh <> with [@fast]
