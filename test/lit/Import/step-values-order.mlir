// Names that end alike belong together, also where results come in another
// order than arguments; positions are paired in order.
// RUN: pw-opt %s --pw-import-program="carry=s:[0]" | FileCheck %s
// CHECK: pw.carried = 1 : i64, pw.name = "s['a']"
// CHECK-SAME: pw.carried = 0 : i64, pw.name = "s['b']"
// RUN: pw-opt %s --pw-import-program="carry=0-1:0-1" | FileCheck %s --check-prefix=ORDER
// ORDER: pw.carried = 0 : i64, pw.name = "s['a']"

func.func public @main(%arg0: tensor<2xf32> loc("s['a']"),
                       %arg1: tensor<2xf32> loc("s['b']"))
    -> (tensor<2xf32> {jax.result_info = "[0]['b']"},
        tensor<2xf32> {jax.result_info = "[0]['a']"}) {
  return %arg1, %arg0 : tensor<2xf32>, tensor<2xf32>
}
