//===- api_test_support.h - Values and a program ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_API_API_TEST_SUPPORT_H
#define UNITTESTS_LIB_API_API_TEST_SUPPORT_H

#include "pathways/Pathways.h"
#include "gtest/gtest.h"

#include <cstring>
#include <utility>
#include <vector>

namespace pathways {

inline HostArray floats(std::vector<int64_t> shape, std::vector<float> values) {
  HostArray array{ElementType::kF32, std::move(shape), {}};
  array.data.resize(values.size() * sizeof(float));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

inline std::vector<float> values(const HostArray &array) {
  std::vector<float> result(array.numElements());
  std::memcpy(result.data(), array.data.data(), array.data.size());
  return result;
}

inline constexpr char kAdd[] = R"(
func.func private @add(%a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<1xf32>
    attributes {pw.local_view, pw.pointwise} {
  %c = arith.addf %a, %b : tensor<1xf32>
  return %c : tensor<1xf32>
})";

/// Returns a program that computes total' = total + x on two devices. `trail`
/// has all totals.
inline Program runningSum() {
  ProgramBuilder builder("sum");
  builder.slice("s", {{"d", 2}});
  builder.functions(kAdd);
  auto type = ProgramBuilder::arrayType(ElementType::kF32, {2}, "s", {{"d"}});
  auto x = builder.argument("x", type, /*stepped=*/true);
  auto start = builder.argument("start", type);
  auto total = builder.call("add", {start, x}, type);
  builder.result("total", total);
  builder.result("trail", total, /*stepped=*/true);
  builder.carry("total", "start");
  return builder.build();
}

template <typename T> T take(Result<T> result) {
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}

} // namespace pathways

#endif // UNITTESTS_LIB_API_API_TEST_SUPPORT_H
