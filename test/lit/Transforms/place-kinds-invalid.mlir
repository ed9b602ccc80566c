// RUN: pw-opt %s -verify-diagnostics -pw-place=topology=%S/Inputs/mixed.textproto
// expected-note@+1 {{slice is declared here}}
pw.slice @s mesh <>
// expected-error@+1 {{binds slice 's' to device 2 of island 0, whose kind is 'fast', not 'cpu'}}
pw.bind @s to island 0 devices base 2 strides []
