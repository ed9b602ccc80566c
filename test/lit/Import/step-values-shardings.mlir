// A carried argument and its result have one sharding: that of the other one if
// the module gives one none.
// RUN: pw-opt %s --pw-import-program="carry=0:0,1:1,2:2" | FileCheck %s
// CHECK: pw.program @main
// CHECK-SAME: [{"x"}]> {pw.carried = 0 : i64
// CHECK-SAME: [{"x"}]> {pw.carried = 1 : i64
// CHECK-SAME: %c: !pw.array<4xf32, @devices> {pw.carried = 2 : i64
// CHECK-SAME: -> (!pw.array<4xf32, @devices, [{"x"}]>
// CHECK-SAME: !pw.array<4xf32, @devices, [{"x"}]>
// CHECK-SAME: !pw.array<4xf32, @devices> {pw.name = "result2"}

// RUN: not pw-opt %s --pw-import-program="carry=0:3" 2>&1 | FileCheck %s --check-prefix=DIFFERENT
// DIFFERENT: error: carry: argument 'a' has type '!pw.array<4xf32, @devices, [{"x"}]>', but result 'result3', which it takes in the next step, has type '!pw.array<4xf32, @devices, [{}]>' [PW1311]

sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("a"),
    %arg1: tensor<4xf32> loc("b"), %arg2: tensor<4xf32> loc("c"))
    -> (tensor<4xf32>, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
        tensor<4xf32>, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
  %1 = stablehlo.add %arg1, %arg2 : tensor<4xf32>
  %2 = stablehlo.add %arg2, %arg2 : tensor<4xf32>
  return %0, %1, %2, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
