//===- reduced_movement_test.cpp - Sums that are resharded ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resharding a partial array gives, in any layout, the same bits as an
// all-reduce in the program followed by a cut, whichever collective the
// compiler chooses and wherever the shards are.
//
//===----------------------------------------------------------------------===//

#include "pathways/Pathways.h"
#include "runtime/base/narrow_float.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

namespace pathways {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

template <typename T> T take(Result<T> result) {
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}

struct Case {
  std::string mesh;
  int shards; // shards of that mesh
  /// Shape of the partial array, the axes that cut it, and the shape of a
  /// shard.
  std::string shape, dims, shard;
  /// The partial axes in their order, and the number of contributions.
  std::string axes;
  int contributions;
  std::string goal; // axes that cut the result
  bool isScattered = true;
};

/// Each case is reduced on one host, on two, and on one for each shard.
const Case kCases[] = {
    {R"("m" = 4)", 4, "8x3", "{}, {}", "8x3", R"("m")", 4, R"({"m"}, {})"},
    {R"("m" = 6)", 6, "5x12", "{}, {}", "5x12", R"("m")", 6, R"({}, {"m"})"},
    {R"("m" = 7)", 7, "14x2", "{}, {}", "14x2", R"("m")", 7, R"({"m"}, {})"},
    // Large enough to be cut between hosts.
    {R"("m" = 8)", 8, "64x257", "{}, {}", "64x257", R"("m")", 8,
     R"({"m"}, {})"},
    // Several axes: in the order of the mesh, in another order, and with blocks
    // in another order than the sum's.
    {R"("m" = 2, "n" = 3)", 6, "12x2", "{}, {}", "12x2", R"("m", "n")", 6,
     R"({"m", "n"}, {})"},
    {R"("m" = 2, "n" = 3)", 6, "12x2", "{}, {}", "12x2", R"("n", "m")", 6,
     R"({"n", "m"}, {})"},
    {R"("m" = 2, "n" = 3)", 6, "12x2", "{}, {}", "12x2", R"("n", "m")", 6,
     R"({"m", "n"}, {})"},
    {R"("m" = 3, "n" = 4)", 12, "12x12", "{}, {}", "12x12", R"("m", "n")", 12,
     R"({"n"}, {"m"})"},
    // Only some of the axes cut the result.
    {R"("m" = 3, "n" = 4)", 12, "24x2", "{}, {}", "24x2", R"("m", "n")", 12,
     R"({"m"}, {})"},
    {R"("m" = 3, "n" = 4)", 12, "24x2", "{}, {}", "24x2", R"("m", "n")", 12,
     R"({}, {"n"})", /*isScattered=*/false}, // 2 is not 12 equal blocks
    {R"("m" = 3, "n" = 4)", 12, "2x24", "{}, {}", "2x24", R"("m", "n")", 12,
     R"({}, {"n"})"},
    // With axes that cut or that hold copies, before and after a partial one.
    {R"("x" = 2, "m" = 3)", 6, "12x4", R"({"x"}, {})", "6x4", R"("m")", 3,
     R"({"x", "m"}, {})"},
    {R"("x" = 2, "m" = 3)", 6, "12x4", R"({"x"}, {})", "6x4", R"("m")", 3,
     R"({"m", "x"}, {})"},
    {R"("x" = 2, "m" = 3)", 6, "12x4", R"({}, {"x"})", "12x2", R"("m")", 3,
     R"({"m"}, {"x"})"},
    {R"("x" = 2, "m" = 3)", 6, "12x4", "{}, {}", "12x4", R"("m")", 3,
     R"({"x", "m"}, {})"},
    {R"("m" = 2, "x" = 2, "n" = 2)", 8, "16x3", R"({"x"}, {})", "8x3",
     R"("m", "n")", 4, R"({"n"}, {"x"})"},
    // With shards that are not full: with equal blocks, and without.
    {R"("x" = 2, "m" = 3)", 6, "11x4", R"({"x"}, {})", "6x4", R"("m")", 3,
     R"({"x", "m"}, {})"},
    {R"("m" = 4)", 4, "7x3", "{}, {}", "7x3", R"("m")", 4, R"({"m"}, {})",
     /*isScattered=*/false},
};

/// Returns a program with results "resharded" and "cut" of contributions "v",
/// which have one more dimension, that of their ranks.
std::string programOf(const Case &c, const std::string &element) {
  auto array = [&](const std::string &shape, const std::string &sharding) {
    return "!pw.array<" + shape + "x" + element + ", @s, " + sharding + ">";
  };
  const std::string given = "1x" + c.shard + "x" + element;
  const std::string shard = "tensor<" + c.shard + "x" + element + ">";
  const std::string values =
      array(std::to_string(c.contributions) + "x" + c.shape,
            "[{" + c.axes + "}, " + c.dims + "]");
  const std::string partial =
      array(c.shape, "[" + c.dims + "] partial add {" + c.axes + "}");
  const std::string reduced = array(c.shape, "[" + c.dims + "]");
  const std::string goal = array(c.shape, "[" + c.goal + "]");
  return "pw.slice @s mesh <" + c.mesh + ">\n" +
         "func.func private @contribute(%v: tensor<" + given + ">) -> " +
         shard + " attributes {pw.local_view, pw.pointwise} {\n" +
         "  %0 = tensor.collapse_shape %v [[0, 1], [2]] : tensor<" + given +
         "> into " + shard + "\n  return %0 : " + shard + "\n}\n" +
         "func.func private @all(%p: " + shard + " {pw.accepts_partial}) -> " +
         shard + " attributes {pw.local_view, pw.pointwise} {\n" +
         "  %0 = pw.all_reduce %p add over [" + c.axes + "] : " + shard +
         "\n  return %0 : " + shard + "\n}\n" + "pw.program @f(%v: " + values +
         ") -> (" + goal + " {pw.name = \"resharded\"}, " + goal +
         " {pw.name = \"cut\"}) {\n" + "  %p = pw.call @contribute(%v) : (" +
         values + ") -> " + partial + "\n  %0 = pw.reshard %p : " + partial +
         " -> " + goal + "\n  %1 = pw.call @all(%p) : (" + partial + ") -> " +
         reduced + "\n  %2 = pw.reshard %1 : " + reduced + " -> " + goal +
         "\n  pw.return %0, %2 : " + goal + ", " + goal + "\n}\n";
}

/// Returns values whose sum depends on the order: of both signs and of all
/// magnitudes that do not overflow.
HostArray contributions(const Case &c, ElementType element, uint32_t seed) {
  HostArray array{element, {c.contributions}, {}};
  size_t at = 0;
  const int64_t rows = std::stoll(c.shape, &at);
  array.shape.push_back(rows);
  array.shape.push_back(std::stoll(c.shape.substr(at + 1)));
  array.data.resize(array.numElements() * elementBytes(element));
  std::minstd_rand random(seed);
  for (int64_t i = 0; i < array.numElements(); ++i) {
    const float value = std::ldexp(static_cast<float>(random() % 4096) - 2048,
                                   -static_cast<int>(random() % 12));
    char *to = array.data.data() + i * elementBytes(element);
    const uint16_t narrow =
        element == ElementType::kF16 ? ToF16(value) : ToBF16(value);
    if (element == ElementType::kF32)
      std::memcpy(to, &value, sizeof(value));
    else
      std::memcpy(to, &narrow, sizeof(narrow));
  }
  return array;
}

TEST(ReducedMovementTest, HasTheBitsOfAllReducedAndCut) {
  uint32_t seed = 1;
  for (const Case &c : kCases)
    for (ElementType element :
         {ElementType::kF32, ElementType::kF16, ElementType::kBF16}) {
      const std::string text = programOf(c, elementName(element));
      HostArray values = contributions(c, element, ++seed);
      HostArray first; // the result on one host
      for (int hosts : {1, 2, c.shards}) {
        if (c.shards % hosts != 0)
          continue;
        const std::string topology = "1x" + std::to_string(hosts) + "x" +
                                     std::to_string(c.shards / hosts);
        SCOPED_TRACE(text + topology + ", seed " + std::to_string(seed));
        auto compiled = take(compile({text}, {.topology = topology}));
        const std::string plan = take(printPlan(compiled.plan));
        if (c.isScattered)
          EXPECT_THAT(plan, HasSubstr("reduce_scatter"));
        else
          EXPECT_THAT(plan, Not(HasSubstr("reduce_scatter")));
        auto session = take(
            Session::open({.topology = topology,
                           .run = {.world = hosts > 2 ? RunOptions::kSim
                                                      : RunOptions::kThreads,
                                   .seed = seed}}));
        auto executable = take(session.load(compiled.plan));
        auto run = take(executable.launch({{"v", values}}));
        const HostArray resharded = take(run.fetch("resharded"));
        ASSERT_EQ(resharded.data, take(run.fetch("cut")).data);
        if (hosts == 1)
          first = resharded;
        ASSERT_EQ(resharded.data, first.data);
      }
    }
}

} // namespace
} // namespace pathways
