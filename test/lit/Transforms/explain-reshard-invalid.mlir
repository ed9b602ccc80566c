// RUN: pw-opt %s -split-input-file -verify-diagnostics -pw-explain-reshard=topology=1x1x2

pw.slice @a mesh <>
// expected-note@+1 {{slice 'b' is declared here}}
pw.slice @b mesh <>
pw.bind @a to island 0 devices base 0 strides []
pw.program @unbound(%x: !pw.array<f32, @a, []>) -> (!pw.array<f32, @b, []>) {
  // expected-error@+1 {{moves between slices, but @b is not bound; run pw-place first}}
  %0 = pw.reshard %x : !pw.array<f32, @a, []> -> !pw.array<f32, @b, []>
  pw.return %0 : !pw.array<f32, @b, []>
}
