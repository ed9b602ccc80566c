//===- kernel_attention.cc - Attention next to its parts ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "benchmarks/kernel_bench.h"

namespace pathways::bench {
namespace {

// softmax(Q K^T / 8) V for some heads of 64 columns, in one kernel and as
// three, each of which reads what the one before it left in memory.
void Attention(const std::string& name, int64_t heads, int64_t length,
               double seconds) {
  const Array rows({heads, length, 64}), square({heads, length, length});
  const std::string r = rows.type(), s = square.type();
  auto scores = [&](const std::string& out) {
    return Filled("zs", square, "0.0") +
           "  %raw = linalg.batch_matmul indexing_maps = ["
           "affine_map<(b, m, n, k) -> (b, m, k)>, "
           "affine_map<(b, m, n, k) -> (b, n, k)>, "
           "affine_map<(b, m, n, k) -> (b, m, n)>] ins(%a0, %a1 : " +
           r + ", " + r + ") outs(%zs : " + s + ") -> " + s +
           "\n  %eighth = arith.constant dense<0.125> : " + s + "\n  " + out +
           " = arith.mulf %raw, %eighth : " + s + "\n";
  };
  auto softmax = [&](const std::string& in, const std::string& out) {
    return Empty("ep", square) + "  " + out +
           " = linalg.softmax dimension(2) ins(" + in + " : " + s +
           ") outs(%ep : " + s + ") -> " + s + "\n";
  };
  auto weighted = [&](const std::string& in, const std::string& values) {
    return Filled("zo", rows, "0.0") + "  %r = linalg.batch_matmul ins(" + in +
           ", " + values + " : " + s + ", " + r + ") outs(%zo : " + r +
           ") -> " + r + "\n";
  };
  Kernel kernel({rows, rows, rows}, rows,
                scores("%s") + softmax("%s", "%p") + weighted("%p", "%a2"));
  Kernel first({rows, rows}, square, scores("%r"));
  Kernel second({square}, square, softmax("%a0", "%r"));
  Kernel third({square, rows}, rows, weighted("%a0", "%a1"));
  second.UseOperand(0, first.out());
  third.UseOperand(0, second.out());
  const auto [ours_s, parts_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        first.Run();
        second.Run();
        third.Run();
      });
  ExpectNear(name, kernel.out(), third.out(), rows.count(), 1e-5);
  Figure("kernel." + name + ".gflops",
         4e-9 * heads * length * length * 64 / ours_s, "GFLOP/s");
  Figure("kernel." + name + ".vs_parts", parts_s / ours_s, "x");
}

}  // namespace

KernelBenchmarks Attentions() {
  auto attention = [](int64_t heads, int64_t length) -> KernelBenchmark {
    const std::string name = "attention" + std::to_string(length);
    return {name,
            [=](double seconds) { Attention(name, heads, length, seconds); }};
  };
  return {attention(32, 128), attention(8, 512), attention(2, 2048)};
}

}  // namespace pathways::bench
