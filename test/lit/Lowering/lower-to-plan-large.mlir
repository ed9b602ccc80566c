// RUN: pw-opt %s --verify-diagnostics --pw-lower-to-plan="steps-in-flight=1024"
// Three of the largest arrays, 1024 times each: 1.5 times what a plan can say.

pw.slice @s mesh <>
pw.bind @s to island 0 devices base 0 strides []
// expected-error@+1 {{slice 's' needs more than 2^62 bytes on a device}}
pw.program @large(%a: !pw.array<281474976710656xf64, @s, [{}]>, %b: !pw.array<281474976710656xf64, @s, [{}]>, %c: !pw.array<281474976710656xf64, @s, [{}]>)
    -> !pw.array<281474976710656xf64, @s, [{}]> {
  pw.return %a : !pw.array<281474976710656xf64, @s, [{}]>
}
