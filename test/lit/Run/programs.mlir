// Several programs in one file.
// RUN: pw-run %s --topology=1x1x1 --program=two --input=x=1 \
// RUN:   | FileCheck %s --check-prefix=TWO
// TWO: y: f32 = 3
// RUN: %python %S/Inputs/exits.py 3 pw-run %s --topology=1x1x1 --program=three 2>&1 \
// RUN:   | FileCheck %s --check-prefix=THREE
// THREE: pw-run: error: {{.*}} no pw.program @three; there is @one, @two
// RUN: %python %S/Inputs/exits.py 3 pw-run %s --topology=1x1x1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WHICH
// WHICH: pw-run: error: {{.*}}: there are several programs, name one of: @one, @two [PW1101]

pw.slice @s mesh <>
func.func private @inc(%x: tensor<f32>) -> tensor<f32> attributes {pw.local_view} {
  %c = arith.constant dense<1.0> : tensor<f32>
  %0 = arith.addf %x, %c : tensor<f32>
  return %0 : tensor<f32>
}
pw.program @one(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []> {pw.name = "y"}) {
  %0 = pw.call @inc(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return %0 : !pw.array<f32, @s, []>
}
pw.program @two(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []> {pw.name = "y"}) {
  %0 = pw.call @inc(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  %1 = pw.call @inc(%0) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return %1 : !pw.array<f32, @s, []>
}
