//===- kernel_memory.cc - Kernels bound by memory, and memcpy -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cmath>
#include <cstring>

#include "benchmarks/kernel_bench.h"

namespace pathways::bench {
namespace {

// Compares `kernel` with a memcpy of as many bytes as `larger` has.
void NextToMemcpy(const std::string& name, Kernel& kernel, const Array& larger,
                  double seconds) {
  const Memory from = Allocate(larger.count()), to = Allocate(larger.count());
  const auto [ours_s, copy_s] = InTurns(
      seconds, [&] { kernel.Run(); },
      [&] { std::memcpy(to.get(), from.get(), larger.bytes()); });
  Figure("kernel." + name + ".vs_memcpy", ours_s / copy_s, "x");
}

void AddBias(const std::string& name, int64_t size, double seconds) {
  const Array x({size, size}), bias({size});
  Kernel kernel(
      {bias, x}, x,
      Empty("e", x) + "  %wide = linalg.broadcast ins(%a0 : " + bias.type() +
          ") outs(%e : " + x.type() +
          ") dimensions = [0]\n  %r = arith.addf %a1, %wide : " + x.type() +
          "\n");
  NextToMemcpy(name, kernel, x, seconds);
  for (int64_t i = 0; i < x.count(); ++i) {
    if (kernel.out()[i] != kernel.operand(1)[i] + kernel.operand(0)[i % size]) {
      Die(name + ": element " + std::to_string(i) + " is another sum");
    }
  }
}

void Relu(const std::string& name, int64_t size, double seconds) {
  const Array x({size, size});
  Kernel kernel({x}, x,
                "  %zeros = arith.constant dense<0.0> : " + x.type() +
                    "\n  %r = arith.maximumf %a0, %zeros : " + x.type() + "\n");
  NextToMemcpy(name, kernel, x, seconds);
  for (int64_t i = 0; i < x.count(); ++i) {
    if (kernel.out()[i] != std::max(kernel.operand(0)[i], 0.0f)) {
      Die(name + ": element " + std::to_string(i) + " is another one");
    }
  }
}

void SumAll(const std::string& name, const Array& x, double seconds) {
  const Array sum(std::vector<int64_t>{});
  const char* dimensions = x.shape.size() == 1 ? "[0]" : "[0, 1]";
  Kernel kernel(
      {x}, sum,
      Filled("z", sum, "0.0") +
          "  %r = linalg.reduce { arith.addf } ins(%a0 : " + x.type() +
          ") outs(%z : " + sum.type() + ") dimensions = " + dimensions + "\n");
  NextToMemcpy(name, kernel, x, seconds);
  double expected = 0;
  for (int64_t i = 0; i < x.count(); ++i) expected += kernel.operand(0)[i];
  if (!(std::fabs(kernel.out()[0] - expected) < 1e-6 * x.count())) {
    Die(name + ": the sum is " + std::to_string(kernel.out()[0]) +
        ", expected " + std::to_string(expected));
  }
}

void SumColumns(double seconds) {
  const Array x({1024, 1024}), sums({1024});
  Kernel kernel(
      {x}, sums,
      Filled("z", sums, "0.0") +
          "  %r = linalg.reduce { arith.addf } ins(%a0 : " + x.type() +
          ") outs(%z : " + sums.type() + ") dimensions = [0]\n");
  NextToMemcpy("reduce_cols", kernel, x, seconds);
  std::vector<float> expected(1024);
  for (int64_t i = 0; i < x.count(); ++i) {
    expected[i % 1024] += kernel.operand(0)[i];
  }
  ExpectNear("reduce_cols", kernel.out(), expected.data(), 1024, 1e-2);
}

// Concatenates two arrays along their rows.
void Concat(const std::string& name, int64_t size, double seconds) {
  const Array half({size, size / 2}), all({size, size});
  Kernel kernel({half, half}, all,
                "  %r = tensor.concat dim(1) %a0, %a1 : (" + half.type() +
                    ", " + half.type() + ") -> " + all.type() + "\n");
  NextToMemcpy(name, kernel, all, seconds);
  for (int64_t i = 0; i < all.count(); ++i) {
    const int64_t row = i / size, column = i % size;
    const float expected = kernel.operand(
        column < size / 2 ? 0 : 1)[row * (size / 2) + column % (size / 2)];
    if (kernel.out()[i] != expected) {
      Die(name + ": element " + std::to_string(i) + " is another one");
    }
  }
}

void Transpose(const std::string& name, const std::vector<int64_t>& shape,
               const std::vector<int64_t>& order, double seconds) {
  const Array x(shape);
  Array y = x;
  std::string permutation;
  for (size_t d = 0; d < order.size(); ++d) {
    y.shape[d] = shape[order[d]];
    permutation += (d ? ", " : "") + std::to_string(order[d]);
  }
  Kernel kernel({x}, y,
                Empty("e", y) + "  %r = linalg.transpose ins(%a0 : " +
                    x.type() + ") outs(%e : " + y.type() + ") permutation = [" +
                    permutation + "]\n");
  NextToMemcpy(name, kernel, x, seconds);
  std::vector<int64_t> at(shape.size()), strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d > 0; --d) {
    strides[d - 1] = strides[d] * shape[d];
  }
  for (int64_t i = 0; i < y.count(); ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < at.size(); ++d) from += at[d] * strides[order[d]];
    if (kernel.out()[i] != kernel.operand(0)[from]) {
      Die(name + ": element " + std::to_string(i) + " is another one");
    }
    for (size_t d = at.size(); d > 0 && ++at[d - 1] == y.shape[d - 1]; --d) {
      at[d - 1] = 0;
    }
  }
}

}  // namespace

KernelBenchmarks MemoryBound() {
  KernelBenchmarks all;
  // Sizes that fit the cache of a core, a cache shared by cores, and none.
  const std::pair<const char*, int64_t> sizes[] = {
      {"_near", 256}, {"", 1024}, {"_far", 4096}};
  for (auto [suffix, size] : sizes) {
    auto add = [&](const std::string& name, auto run) {
      const std::string full = name + suffix;
      all.push_back({full, [=](double seconds) { run(full, seconds); }});
    };
    const int64_t n = size;
    add("add_bias", [=](const std::string& name, double seconds) {
      AddBias(name, n, seconds);
    });
    add("relu", [=](const std::string& name, double seconds) {
      Relu(name, n, seconds);
    });
    add("sum_all", [=](const std::string& name, double seconds) {
      SumAll(name, Array({n * n}), seconds);
    });
    // Sums the same numbers as rows of 32.
    add("sum_all2d", [=](const std::string& name, double seconds) {
      SumAll(name, Array({n * n / 32, 32}), seconds);
    });
    add("concat", [=](const std::string& name, double seconds) {
      Concat(name, n, seconds);
    });
    add("transpose", [=](const std::string& name, double seconds) {
      Transpose(name, {n, n}, {1, 0}, seconds);
    });
    // Moves heads before rows, as attention needs them; and transposes an image
    // from nhwc.
    add("transpose4d", [=](const std::string& name, double seconds) {
      Transpose(name, {8, n / 8, 16, n / 16}, {0, 2, 1, 3}, seconds);
    });
    add("transpose4d_nchw", [=](const std::string& name, double seconds) {
      Transpose(name, {4, n / 16, 16, n / 4}, {0, 3, 1, 2}, seconds);
    });
  }
  all.push_back({"reduce_cols", SumColumns});
  return all;
}

}  // namespace pathways::bench
