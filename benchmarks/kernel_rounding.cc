//===- kernel_rounding.cc - Roundings compared with each other ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "benchmarks/kernel_bench.h"

namespace pathways::bench {

const char kSoftmax[] = R"(
  %lowest = arith.constant 0xFF800000 : f32
  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %max = linalg.reduce { arith.maximumf } ins(%a0 : tensor<1024x1024xf32>)
      outs(%max_init : tensor<1024xf32>) dimensions = [1]
  %maxes = linalg.broadcast ins(%max : tensor<1024xf32>)
      outs(%full : tensor<1024x1024xf32>) dimensions = [1]
  %shifted = arith.subf %a0, %maxes : tensor<1024x1024xf32>
  %e = math.exp %shifted : tensor<1024x1024xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<1024x1024xf32>)
      outs(%sum_init : tensor<1024xf32>) dimensions = [1]
  %sums = linalg.broadcast ins(%sum : tensor<1024xf32>)
      outs(%full : tensor<1024x1024xf32>) dimensions = [1]
  %r = arith.divf %e, %sums : tensor<1024x1024xf32>
)";

const char kLayerNorm[] = R"(
  %scale = arith.constant dense<9.765625e-04> : tensor<1024xf32>
  %epsilon = arith.constant dense<1.0e-05> : tensor<1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<1024xf32>) -> tensor<1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%a0 : tensor<1024x1024xf32>)
      outs(%init : tensor<1024xf32>) dimensions = [1]
  %mean = arith.mulf %sum, %scale : tensor<1024xf32>
  %means = linalg.broadcast ins(%mean : tensor<1024xf32>)
      outs(%full : tensor<1024x1024xf32>) dimensions = [1]
  %centred = arith.subf %a0, %means : tensor<1024x1024xf32>
  %squares = arith.mulf %centred, %centred : tensor<1024x1024xf32>
  %total = linalg.reduce { arith.addf } ins(%squares : tensor<1024x1024xf32>)
      outs(%init : tensor<1024xf32>) dimensions = [1]
  %variance = arith.mulf %total, %scale : tensor<1024xf32>
  %safe = arith.addf %variance, %epsilon : tensor<1024xf32>
  %inverse = math.rsqrt %safe : tensor<1024xf32>
  %inverses = linalg.broadcast ins(%inverse : tensor<1024xf32>)
      outs(%full : tensor<1024x1024xf32>) dimensions = [1]
  %r = arith.mulf %centred, %inverses : tensor<1024x1024xf32>
)";

namespace {

// Compares the speed of the two other roundings with the default.
void CompareRoundings(const std::string& name,
                      const std::vector<Array>& operands, const Array& result,
                      const std::string& statements, double seconds) {
  Kernel plain(operands, result, statements);
  for (auto [rounding, figure] : {std::pair(Rounding::kStrict, "strict"),
                                  std::pair(Rounding::kExcess, "excess")}) {
    Kernel other(operands, result, statements, rounding);
    const auto [plain_s, other_s] =
        InTurns(seconds, [&] { plain.Run(); }, [&] { other.Run(); });
    if (result.element == "f32") {
      ExpectNear(name, other.out(), plain.out(), result.count(), 1e-2);
    }
    Figure("kernel." + name + "." + figure, plain_s / other_s, "x");
  }
}

// Eight ops on bf16, each rounded, as a program of StableHLO has them.
std::string ChainOfBf16(const Array& narrow, const Array& wide) {
  std::string text, last = "%w0";
  auto widen = [&](const std::string& to, const std::string& from) {
    text += "  " + to + " = arith.extf " + from + " : " + narrow.type() +
            " to " + wide.type() + "\n";
  };
  widen("%w0", "%a0");
  widen("%w1", "%a1");
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    text += "  %v" + n + (i % 2 ? " = arith.addf " : " = arith.mulf ") + last +
            ", %w1 : " + wide.type() + "\n  " + (i == 7 ? "%r" : "%n" + n) +
            " = arith.truncf %v" + n + " : " + wide.type() + " to " +
            narrow.type() + "\n";
    if (i == 7) break;
    last = "%x" + n;
    widen(last, "%n" + n);
  }
  return text;
}

void RoundMatmul(double seconds) {
  const Array c({1024, 1024});
  CompareRoundings("matmul1024", {c, c}, c,
                   Filled("z", c, "0.0") +
                       "  %r = linalg.matmul ins(%a0, %a1 : " + c.type() +
                       ", " + c.type() + ") outs(%z : " + c.type() + ") -> " +
                       c.type() + "\n",
                   seconds);
}

void RoundRows(const std::string& name, const char* statements,
               double seconds) {
  const Array x({1024, 1024});
  CompareRoundings(name, {x}, x,
                   Empty("row", Array({1024})) + Empty("full", x) +
                       "  %zero = arith.constant 0.0 : f32\n" + statements,
                   seconds);
}

void RoundChain(double seconds) {
  const Array narrow({1024, 1024}, "bf16"), wide({1024, 1024});
  CompareRoundings("chain_bf16", {narrow, narrow}, narrow,
                   ChainOfBf16(narrow, wide), seconds);
}

}  // namespace

KernelBenchmarks Roundings() {
  return {
      {"matmul1024", RoundMatmul},
      {"softmax",
       [](double seconds) { RoundRows("softmax", kSoftmax, seconds); }},
      {"layernorm",
       [](double seconds) { RoundRows("layernorm", kLayerNorm, seconds); }},
      {"chain_bf16", RoundChain},
  };
}

}  // namespace pathways::bench
