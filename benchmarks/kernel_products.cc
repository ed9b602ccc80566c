//===- kernel_products.cc - Products compared with libraries --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cblas.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/kernel_bench.h"
#include "benchmarks/onednn.h"

namespace pathways::bench {
namespace {

// C = A B, in which A may be stored as k x m, and B as n x k.
struct Product {
  int64_t m, n, k;
  bool turns_a = false, turns_b = false;

  Array a(const std::string& element = "f32") const {
    return turns_a ? Array({k, m}, element) : Array({m, k}, element);
  }
  Array b(const std::string& element = "f32") const {
    return turns_b ? Array({n, k}, element) : Array({k, n}, element);
  }
  Array c(const std::string& element = "f32") const {
    return {{m, n}, element};
  }
  // Returns statements that define %r from %a0 and %a1.
  std::string Statements(const std::string& element = "f32",
                         const std::string& sum = "f32") const {
    std::string maps;
    if (turns_a || turns_b) {
      const std::string map = "affine_map<(m, n, k) -> ";
      maps = " indexing_maps = [" + map + (turns_a ? "(k, m)" : "(m, k)") +
             ">, " + map + (turns_b ? "(n, k)" : "(k, n)") + ">, " + map +
             "(m, n)>]";
    }
    return Filled("z", c(sum), sum[0] == 'i' ? "0" : "0.0") +
           "  %r = linalg.matmul" + maps +
           " ins(%a0, %a1 : " + a(element).type() + ", " + b(element).type() +
           ") outs(%z : " + c(sum).type() + ") -> " + c(sum).type() + "\n";
  }
  double flops() const { return 2.0 * m * n * k; }
};

void Matmul(const std::string& name, const Product& p, double seconds) {
  Kernel kernel({p.a(), p.b()}, p.c(), p.Statements());
  const Memory theirs = Allocate(p.m * p.n);
  const auto [ours_s, theirs_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        cblas_sgemm(CblasRowMajor, p.turns_a ? CblasTrans : CblasNoTrans,
                    p.turns_b ? CblasTrans : CblasNoTrans, p.m, p.n, p.k, 1,
                    kernel.operand(0), p.a().shape[1], kernel.operand(1),
                    p.b().shape[1], 0, theirs.get(), p.n);
      });
  ExpectNear(name, kernel.out(), theirs.get(), p.m * p.n, 1e-2);
  Figure("kernel." + name + ".gflops", 1e-9 * p.flops() / ours_s, "GFLOP/s");
  Figure("kernel." + name + ".vs_openblas", theirs_s / ours_s, "x");
}

// Multiplies a matrix by a vector.
void MatrixVector(double seconds) {
  constexpr int64_t kSize = 2048;
  const Array a({kSize, kSize}), x({kSize});
  Kernel kernel({a, x}, x,
                Filled("z", x, "0.0") + "  %r = linalg.matvec ins(%a0, %a1 : " +
                    a.type() + ", " + x.type() + ") outs(%z : " + x.type() +
                    ") -> " + x.type() + "\n");
  const Memory theirs = Allocate(kSize);
  const auto [ours_s, theirs_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, kSize, kSize, 1,
                    kernel.operand(0), kSize, kernel.operand(1), 1, 0,
                    theirs.get(), 1);
      });
  ExpectNear("matvec", kernel.out(), theirs.get(), kSize, 1e-2);
  Figure("kernel.matvec.vs_openblas", theirs_s / ours_s, "x");
}

// Multiplies two vectors to a single number.
void Dot(double seconds) {
  constexpr int64_t kSize = 64 << 10;
  const Array x({kSize}), sum(std::vector<int64_t>{});
  Kernel kernel({x, x}, sum,
                Filled("z", sum, "0.0") + "  %r = linalg.dot ins(%a0, %a1 : " +
                    x.type() + ", " + x.type() + ") outs(%z : " + sum.type() +
                    ") -> " + sum.type() + "\n");
  float theirs = 0;
  const auto [ours_s, theirs_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] {
        theirs = cblas_sdot(kSize, kernel.operand(0), 1, kernel.operand(1), 1);
      });
  ExpectNear("dot", kernel.out(), &theirs, 1, 1);
  Figure("kernel.dot.vs_openblas", theirs_s / ours_s, "x");
}

constexpr int64_t kSize = 512;  // matrices compared with other kernels here

// Compares max(0, product + bias) with the product alone.
void BiasRelu(double seconds) {
  const Product p{kSize, kSize, kSize};
  Kernel plain({p.a(), p.b()}, p.c(), p.Statements());
  const Array bias({kSize});
  std::string statements = p.Statements();
  statements.replace(statements.find("%r ="), 2, "%p");
  const std::string c = p.c().type();
  Kernel kernel({p.a(), p.b(), bias}, p.c(),
                statements + Empty("e", p.c()) +
                    "  %wide = linalg.broadcast ins(%a2 : " + bias.type() +
                    ") outs(%e : " + c +
                    ") dimensions = [0]\n  %sum = arith.addf %p, %wide : " + c +
                    "\n  %zeros = arith.constant dense<0.0> : " + c +
                    "\n  %r = arith.maximumf %sum, %zeros : " + c + "\n");
  const auto [ours_s, plain_s] =
      InTurns(seconds, [&] { kernel.Run(); }, [&] { plain.Run(); });
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    plain.out()[i] =
        std::max(plain.out()[i] + kernel.operand(2)[i % kSize], 0.0f);
  }
  ExpectNear("matmul_bias_relu", kernel.out(), plain.out(), kSize * kSize,
             1e-3);
  Figure("kernel.matmul_bias_relu.vs_matmul", ours_s / plain_s, "x");
}

// Measures operands and a result of half the width, with sums in f32.
void MatmulNarrow(const std::string& element, double seconds) {
  const Product p{kSize, kSize, kSize};
  Kernel plain({p.a(), p.b()}, p.c(), p.Statements());
  Kernel kernel({p.a(element), p.b(element)}, p.c(element),
                p.Statements(element, element));
  // All operands are 1: other numbers would have to be rounded here, too.
  const uint16_t one = element == "f16" ? 0x3c00 : 0x3f80;
  for (int i : {0, 1}) {
    auto* numbers = reinterpret_cast<uint16_t*>(kernel.operand(i));
    std::fill(numbers, numbers + kSize * kSize, one);
  }
  const auto [ours_s, plain_s] =
      InTurns(seconds, [&] { kernel.Run(); }, [&] { plain.Run(); });
  const uint16_t sum = element == "f16" ? 0x6000 : 0x4400;  // 512
  const auto* sums = reinterpret_cast<const uint16_t*>(kernel.out());
  if (std::count(sums, sums + kSize * kSize, sum) != kSize * kSize) {
    Die("matmul_" + element + ": a sum of 512 ones is not 512");
  }
  Figure("kernel.matmul_" + element + ".vs_f32", ours_s / plain_s, "x");
}

}  // namespace

KernelBenchmarks Products() {
  KernelBenchmarks all;
  auto matmul = [&](const std::string& name, Product product) {
    all.push_back(
        {name, [=](double seconds) { Matmul(name, product, seconds); }});
  };
  for (int64_t size : {256, 512, 1024, 2048, 4096}) {
    matmul("matmul" + std::to_string(size), {size, size, size});
  }
  matmul("matmul_odd", {511, 509, 507});
  matmul("matmul_odd1000", {1021, 1019, 1013});
  matmul("matmul_ta", {1024, 1024, 1024, true, false});
  matmul("matmul_tb", {1024, 1024, 1024, false, true});
  matmul("matmul_tatb", {1024, 1024, 1024, true, true});
  matmul("matmul_few_rows", {8, 2048, 2048});
  matmul("matmul_few_columns", {2048, 8, 2048});
  all.push_back({"matvec", MatrixVector});
  all.push_back({"dot", Dot});
  all.push_back({"matmul_bias_relu", BiasRelu});
  for (const std::string element : {"f16", "bf16"}) {
    all.push_back({"matmul_" + element,
                   [=](double seconds) { MatmulNarrow(element, seconds); }});
  }
  return all;
}

#ifdef PATHWAYS_HAS_ONEDNN
KernelBenchmarks NarrowProducts() {
  auto product = [](const std::string& element, const std::string& sum,
                    double seconds) {
    const Product p{1024, 1024, 1024};
    Kernel kernel({p.a(element), p.b(element)}, p.c(sum),
                  p.Statements(element, sum));
    const Memory theirs = Allocate(p.m * p.n, sum);
    const std::function<void()> other =
        OneDnnMatmul(p.m, p.n, p.k, element == "i8", kernel.operand(0),
                     kernel.operand(1), theirs.get());
    const auto [ours_s, theirs_s] =
        InTurns(seconds, [&] { kernel.Run(); }, other);
    const std::string name = "matmul_" + element;
    // All sums are exact, and rounded at most once.
    if (std::memcmp(kernel.out(), theirs.get(), p.c(sum).bytes()) != 0) {
      Die(name + ": the results differ");
    }
    Figure("kernel." + name + ".gflops", 1e-9 * p.flops() / ours_s, "GFLOP/s");
    Figure("kernel." + name + ".vs_onednn", theirs_s / ours_s, "x");
  };
  return {
      {"matmul_bf16",
       [=](double seconds) { product("bf16", "bf16", seconds); }},
      {"matmul_i8", [=](double seconds) { product("i8", "i32", seconds); }}};
}
#endif

}  // namespace pathways::bench
