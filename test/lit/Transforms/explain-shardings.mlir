// RUN: pw-opt %s -pw-propagate-shardings=explain=true -pw-partition=explain=true -verify-diagnostics -o /dev/null

// Each array that was open, each way to cut, each tensor: how, by whom, what else.
pw.slice @s mesh <"data" = 2>
func.func private @f(%x: tensor<8x256xf32>, %b: tensor<256x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  // expected-remark-re@+2 {{'linalg.matmul' of 'f' is cut along d0 {"data"}, {{[0-9]+}} ns; not cut would be {{[0-9]+}} ns}}
  // expected-remark-re@+1 {{result 0 of 'linalg.matmul' lies #pw.sharding<[{"data"}, {}]>; "data" is from result 0, through 'func.return' at {{.*}}explain-shardings.mlir:10:3}}
  %0 = linalg.matmul ins(%x, %b : tensor<8x256xf32>, tensor<256x4xf32>) outs(%zero : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
pw.program @p(%x: !pw.array<8x256xf32, @s, [{"data"}, {}]>,
              // expected-remark@+1 {{argument 'b' of program 'p' is '!pw.array<256x4xf32, @s, [{}, {}]>'; no sharding reaches it}}
              %b: !pw.array<256x4xf32, @s>,
              // expected-remark@+1 {{argument 'c' of program 'p' is '!pw.array<8xf32, @s, [{"data"}]>'; "data" is written there}}
              %c: !pw.array<8xf32, @s, [{"data", ?}]>) -> !pw.array<8x4xf32, @s> {
  // expected-remark-re@+1 {{result 0 of 'pw.call' of 'f' is '!pw.array<8x4xf32, @s, [{"data"}, {}]>'; "data" is from argument 'x' of program 'p' at {{.*}}explain-shardings.mlir:12:15, through 'pw.call' of 'f' at {{.*}}explain-shardings.mlir:18:8}}
  %0 = pw.call @f(%x, %b) : (!pw.array<8x256xf32, @s, [{"data"}, {}]>, !pw.array<256x4xf32, @s>) -> !pw.array<8x4xf32, @s>
  pw.return %0 : !pw.array<8x4xf32, @s>
}
