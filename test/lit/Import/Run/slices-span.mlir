// A module runs over two islands if its slice spans them, with marks or without.
// RUN: pw-run %s --topology=1x1x4 --input=x=random:1 --input=w=random:2 --output=result0=@%t.npy
// RUN: not pw-run %s --topology=2x1x2 --input=x=random:1 --input=w=random:2 2>&1 | FileCheck %s --check-prefix=NARROW
// NARROW: error: {{.*}}'devices'
// RUN: pw-run %s --topology=2x1x2 --slices=all:0-1 --input=x=random:1 --input=w=random:2 --expected=result0=@%t.npy --rtol=0 --atol=0 --explain-placement | FileCheck %s
// RUN: sed -e "s/tanh %%0 :/tanh %%0 {mhlo.frontend_attributes = {pw_slice = \"all\"}} :/" %s > %t.marked.mlir
// RUN: pw-run %t.marked.mlir --topology=2x1x2 --slices=all:0-1 --input=x=random:1 --input=w=random:2 --expected=result0=@%t.npy --rtol=0 --atol=0 --explain-placement | FileCheck %s
// CHECK: all {{.*}}island0{{.*}}
// CHECK: [SUCCESS] 1 step, 1 result as expected

// RUN: pw-opt %s --pw-import-program="slices=all:0-1" | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: pw.slice @all mesh <"x" = 4> spans 2 islands
// RUN: not pw-opt %s --pw-import-program="slices=a:0-1,b:1" 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: error: slices 'a' and 'b' in the option 'slices' have the islands 0-1 and 1, expected the same ones or no common one [PW1321]
// RUN: not pw-opt %s --pw-import-program="slices=a:1-0" 2>&1 | FileCheck %s --check-prefix=REVERSED
// REVERSED: error: expected slice 'a' in the option 'slices' to have the number of an island, or FIRST-LAST, got '1-0' [PW1321]

sdy.mesh @mesh = <["x"=4]>
func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"), %arg1: tensor<4x4xf32> loc("w")) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
