// The reasons for layouts name the manual computation that asks for them.
// RUN: pw-opt %s -pw-propagate-shardings=explain -pw-partition=explain -verify-diagnostics -o /dev/null

pw.slice @s mesh <"x" = 2, "y" = 2>
func.func private @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-remark@+1 {{result 0 of 'pw.manual' lies #pw.sharding<[{"x"}, {"y"}]>; "x" is from 'pw.manual' at}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {?}]] out [[{"x"}, {?}]] (%a: tensor<4x4xf32>) {
    // expected-remark@+2 {{'arith.negf' of 'f' is cut along d1}}
    // expected-remark@+1 {{result 0 of 'arith.negf' lies #pw.sharding<[{}, {"y"}]>; "y" is from}}
    %1 = arith.negf %a : tensor<4x4xf32>
    pw.yield %1 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expected-remark@+1 {{argument 'x' of program 'p' is '!pw.array<8x4xf32, @s, [{"x"}, {"y"}]>'; "x" is from 'pw.manual' at}}
pw.program @p(%x: !pw.array<8x4xf32, @s>) -> !pw.array<8x4xf32, @s, [{?}, {"y"}]> {
  // expected-remark@+1 {{result 0 of 'pw.call' of 'f' is '!pw.array<8x4xf32, @s, [{"x"}, {"y"}]>'; "x" is from 'pw.manual' at}}
  %0 = pw.call @f(%x) : (!pw.array<8x4xf32, @s>) -> !pw.array<8x4xf32, @s, [{?}, {"y"}]>
  pw.return %0 : !pw.array<8x4xf32, @s, [{?}, {"y"}]>
}
