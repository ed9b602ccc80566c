//===- tile_order.h - Order of sums of bf16 on matrix units -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_CODEGEN_TILE_ORDER_H
#define UNITTESTS_LIB_CODEGEN_TILE_ORDER_H

#include "codegen_harness.h"
#include "runtime/kernel/target.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kernel_test {

/// Returns true if this machine has matrix units and Linux grants access.
inline bool hasTiles(const std::string &wanted = "+amx-int8") {
  for (const std::string &feature : pathways::HostTarget().features())
    if (feature == wanted)
      return true;
  return false;
}

/// Returns a target with matrix units, which need not be this machine.
inline pathways::proto::Target tileTarget() {
  pathways::proto::Target target;
  target.set_triple("x86_64-unknown-linux-gnu");
  target.set_cpu("sapphirerapids");
  return target;
}

/// Returns the code path of the first op called `name`.
inline std::string pathOf(const std::string &text,
                          const pathways::proto::Target &target,
                          const std::string &name = "linalg.generic") {
  Kernel kernel;
  EXPECT_TRUE(kernel.parse(text)) << kernel.errors();
  auto function = *kernel.module().getOps<mlir::func::FuncOp>().begin();
  auto paths = mlir::pathways::explainKernel({function}, target);
  EXPECT_TRUE(mlir::succeeded(paths)) << kernel.errors();
  for (const mlir::pathways::OpPath &path : *paths)
    if (path.op == name)
      return path.path;
  return "";
}

inline float flushed(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

inline float valueOf(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return flushed(value);
}

/// Adds terms to `sum` in the order that docs/kernels.md states.
inline float sumOf(float sum, int k, llvm::function_ref<uint16_t(int)> a,
                   llvm::function_ref<uint16_t(int)> b) {
  sum = flushed(sum);
  for (int begin = 0; begin < k; begin += 32) {
    float parts[2] = {0, 0};
    for (int l = begin; l < std::min(begin + 32, k); ++l)
      parts[l % 2] =
          flushed(std::fma(valueOf(a(l)), valueOf(b(l)), parts[l % 2]));
    sum = flushed(sum + flushed(parts[0] + parts[1]));
  }
  return sum;
}

/// Returns numbers of all sizes, some of them subnormal.
inline std::vector<uint16_t> brains(size_t count, unsigned seed) {
  std::vector<uint16_t> values;
  for (double value : numbers<double>(count, seed, 0, 1 << 16)) {
    uint16_t bits = uint16_t(value);
    uint16_t exponent = 100 + bits % 50;
    values.push_back((bits & 0x807f) | (bits % 61 == 0 ? 0 : exponent << 7));
  }
  return values;
}

} // namespace kernel_test

#endif // UNITTESTS_LIB_CODEGEN_TILE_ORDER_H
