//===- reduction_test.cc - The arithmetic of reductions -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/narrow_float.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

layout::ReductionOrder OrderOf(int64_t size) {
  std::vector<layout::TreeNode> ranks;
  for (int64_t r = 0; r < size; ++r) ranks.push_back({r, r + 1});
  return layout::ReductionTree({size}).OrderOf({0, size}, ranks);
}

// Rows of equal length, by rank; T is what the element type is stored as.
template <typename T>
std::vector<T> Reduce(proto::ReductionKind kind, proto::ElementType element,
                      const std::vector<std::vector<T>>& rows) {
  const layout::ReductionOrder order = OrderOf(rows.size());
  std::vector<const char*> operands;
  for (const std::vector<T>& row : rows) {
    operands.push_back(reinterpret_cast<const char*>(row.data()));
  }
  std::vector<T> results[2];
  char* out[2];
  for (int i = 0; i < 2; ++i) {
    results[i].resize(rows[0].size());
    out[i] = reinterpret_cast<char*>(results[i].data());
  }
  Reduction reduction;
  reduction.order = &order;
  reduction.operands = operands.data();
  reduction.results = out;
  reduction.num_results = 2;
  reduction.count = rows[0].size();
  Reducer(kind, element).Reduce(reduction);
  EXPECT_EQ(std::memcmp(out[0], out[1], results[0].size() * sizeof(T)), 0);
  return results[0];
}

TEST(ReducerTest, EveryType) {
  EXPECT_THAT(Reduce<float>(proto::ADD, proto::F32, {{1, 2}, {3, 4}}),
              ElementsAre(4, 6));
  EXPECT_THAT(Reduce<double>(proto::MUL, proto::F64, {{1, 2}, {3, 4}}),
              ElementsAre(3, 8));
  EXPECT_THAT(Reduce<int8_t>(proto::ADD, proto::I8, {{127, -128}, {1, -1}}),
              ElementsAre(-128, 127));
  EXPECT_THAT(Reduce<int8_t>(proto::MUL, proto::I8, {{127, -128}, {127, -1}}),
              ElementsAre(1, -128));
  EXPECT_THAT(
      Reduce<int32_t>(proto::ADD, proto::I32, {{INT32_MAX, -3}, {1, 5}}),
      ElementsAre(INT32_MIN, 2));
  EXPECT_THAT(Reduce<int32_t>(proto::MUL, proto::I32, {{1 << 30, -3}, {4, 5}}),
              ElementsAre(0, -15));
  EXPECT_THAT(Reduce<int64_t>(proto::ADD, proto::I64, {{INT64_MAX}, {1}}),
              ElementsAre(INT64_MIN));
  EXPECT_THAT(Reduce<int64_t>(proto::MIN, proto::I64, {{-5, 7}, {3, 2}}),
              ElementsAre(-5, 2));
  const std::vector<std::vector<int8_t>> bits = {{0, 0, 1, 1}, {0, 1, 0, 1}};
  EXPECT_THAT(Reduce<int8_t>(proto::ADD, proto::I1, bits),
              ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(Reduce<int8_t>(proto::MUL, proto::I1, bits),
              ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(Reduce<int8_t>(proto::MAX, proto::I1, bits),
              ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(Reduce<int8_t>(proto::MIN, proto::I1, bits),
              ElementsAre(0, 0, 0, 1));
  // 1.5 + 2.25, as half and as bfloat16; overflow and subnormal halves.
  EXPECT_THAT(Reduce<uint16_t>(proto::ADD, proto::F16,
                               {{0x3e00, 0x7bff, 0x0001, 0x03ff},
                                {0x4080, 0x7bff, 0x0001, 0x0001}}),
              ElementsAre(0x4380, 0x7c00, 0x0002, 0x0400));
  EXPECT_THAT(Reduce<uint16_t>(proto::ADD, proto::BF16,
                               {{0x3fc0, 0x7fc0}, {0x4010, 0x3f80}}),
              ElementsAre(0x4070, 0x7fc0));
}

// Combines two elements with plain code, in the bits of T.
template <typename T>
T Plain(proto::ReductionKind kind, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const U x = static_cast<U>(a), y = static_cast<U>(b);
  switch (kind) {
    case proto::ADD:
      return static_cast<T>(uint64_t{x} + y);
    case proto::MUL:
      return static_cast<T>(uint64_t{x} * y);
    case proto::MAX:
      return a > b ? a : b;
    case proto::MIN:
      return a < b ? a : b;
    case proto::UMAX:
      return static_cast<T>(x > y ? x : y);
    case proto::UMIN:
      return static_cast<T>(x < y ? x : y);
    case proto::AND:
      return static_cast<T>(x & y);
    case proto::OR:
      return static_cast<T>(x | y);
    default:
      return static_cast<T>(x ^ y);
  }
}

// Reduces random integers of both element types that T stores, of one element
// and of many.
template <typename T>
void ComparesWithPlainCode(proto::ElementType with_sign,
                           proto::ElementType without_sign) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int kind = proto::ADD; kind <= proto::XOR; ++kind) {
    const auto reduction = static_cast<proto::ReductionKind>(kind);
    for (int64_t count : {1, 777}) {
      std::vector<std::vector<T>> rows(5);
      for (std::vector<T>& row : rows) {
        for (int64_t i = 0; i < count; ++i) {
          row.push_back(static_cast<T>(random()));
        }
      }
      std::vector<T> expected = rows[0];
      for (size_t r = 1; r < rows.size(); ++r) {
        for (int64_t i = 0; i < count; ++i) {
          expected[i] = Plain(reduction, expected[i], rows[r][i]);
        }
      }
      EXPECT_EQ(Reduce<T>(reduction, with_sign, rows), expected) << kind;
      EXPECT_EQ(Reduce<T>(reduction, without_sign, rows), expected) << kind;
      std::vector<T> identity(count);
      for (proto::ElementType element : {with_sign, without_sign}) {
        FillIdentity(reduction, element, count,
                     reinterpret_cast<char*>(identity.data()));
        EXPECT_EQ(Reduce<T>(reduction, element, {rows[0], identity}), rows[0])
            << kind;
      }
    }
  }
}

TEST(ReducerTest, IntegersOfEveryWidth) {
  ComparesWithPlainCode<int8_t>(proto::I8, proto::UI8);
  ComparesWithPlainCode<int16_t>(proto::I16, proto::UI16);
  ComparesWithPlainCode<int32_t>(proto::I32, proto::UI32);
  ComparesWithPlainCode<int64_t>(proto::I64, proto::UI64);
}

TEST(ReducerTest, Booleans) {
  const std::vector<std::vector<int8_t>> bits = {{0, 0, 1, 1}, {0, 1, 0, 1}};
  for (auto [kind, expected] :
       {std::pair<proto::ReductionKind, std::vector<int8_t>>{proto::AND,
                                                             {0, 0, 0, 1}},
        {proto::UMIN, {0, 0, 0, 1}},
        {proto::OR, {0, 1, 1, 1}},
        {proto::UMAX, {0, 1, 1, 1}},
        {proto::XOR, {0, 1, 1, 0}}}) {
    EXPECT_EQ(Reduce<int8_t>(kind, proto::I1, bits), expected) << kind;
    std::vector<int8_t> identity(4);
    FillIdentity(kind, proto::I1, 4, reinterpret_cast<char*>(identity.data()));
    EXPECT_EQ(Reduce<int8_t>(kind, proto::I1, {bits[1], identity}), bits[1])
        << kind;
  }
}

TEST(ReducerTest, NanWinsAndZerosAreOrdered) {
  for (proto::ReductionKind kind : {proto::MAX, proto::MIN}) {
    EXPECT_TRUE(std::isnan(Reduce<float>(kind, proto::F32, {{kNan}, {1}})[0]));
    EXPECT_TRUE(std::isnan(Reduce<float>(kind, proto::F32, {{1}, {kNan}})[0]));
  }
  EXPECT_FALSE(
      std::signbit(Reduce<float>(proto::MAX, proto::F32, {{-0.0f}, {0}})[0]));
  EXPECT_TRUE(
      std::signbit(Reduce<float>(proto::MIN, proto::F32, {{0}, {-0.0f}})[0]));
  const std::vector<float> sums =
      Reduce<float>(proto::ADD, proto::F32,
                    {{-0.0f, -0.0f, kInfinity, kInfinity, kNan},
                     {-0.0f, 0, 1, -kInfinity, 1}});
  EXPECT_TRUE(std::signbit(sums[0]));
  EXPECT_FALSE(std::signbit(sums[1]));
  EXPECT_EQ(sums[2], kInfinity);
  EXPECT_TRUE(std::isnan(sums[3]));
  EXPECT_TRUE(std::isnan(sums[4]));
}

TEST(ReducerTest, NarrowFloatsRoundOnce) {
  // 2048 is where the integers of f16 end, 256 those of bf16.
  for (auto [element, from, to] :
       {std::make_tuple(proto::F16, FromF16, ToF16),
        std::make_tuple(proto::BF16, FromBF16, ToBF16)}) {
    const std::vector<std::vector<uint16_t>> ones(4096, {to(1)});
    EXPECT_EQ(from(Reduce<uint16_t>(proto::ADD, element, ones)[0]), 4096);
  }
  // The largest half twice, and back.
  EXPECT_THAT(Reduce<uint16_t>(proto::ADD, proto::F16,
                               {{0x7bff}, {0x7bff}, {0xfbff}, {0xfbff}, {1}}),
              ElementsAre(1));
}

// Operands that lie somewhere, more of them than fit a block, in either width.
TEST(ReducerTest, PartsAndWidths) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  constexpr int64_t kCount = 3000, kRanks = 5, kFirst = 7;
  std::vector<std::vector<uint16_t>> rows(kRanks);
  std::vector<const char*> operands;
  for (auto& row : rows) {
    for (int64_t i = 0; i < kCount + kFirst; ++i) {
      row.push_back(ToBF16(normal(random)));
    }
    operands.push_back(reinterpret_cast<const char*>(row.data()));
  }
  auto at = [&](int64_t rank, int64_t i) {
    return FromBF16(rows[rank][i + kFirst]);
  };
  const Reducer reducer(proto::ADD, proto::BF16);
  const layout::ReductionTree tree({kRanks});
  std::vector<layout::TreeNode> ranks;
  for (int64_t r = 0; r < kRanks; ++r) ranks.push_back({r, r + 1});
  // [0, 2) and [2, 4) by themselves, wide; then those two and the last rank,
  // which somebody else widened.
  std::vector<float> nodes[3];
  const char* wide[3];
  for (int n = 0; n < 3; ++n) {
    const layout::TreeNode node = {2 * n, n < 2 ? 2 * n + 2 : kRanks};
    const layout::ReductionOrder order = tree.OrderOf(node, ranks);
    nodes[n].resize(kCount);
    char* result = reinterpret_cast<char*>(nodes[n].data());
    Reduction reduction;
    reduction.order = &order;
    reduction.operands = operands.data();
    reduction.operand_first = kFirst;
    reduction.results = &result;
    reduction.wide_results = true;
    reduction.count = kCount;
    reducer.Reduce(reduction);
    wide[n] = result;
  }
  const layout::ReductionOrder order =
      tree.OrderOf({0, kRanks}, {{0, 2}, {2, 4}, {4, 5}});
  std::vector<uint16_t> out(kCount + 3, 9);
  char* result = reinterpret_cast<char*>(out.data());
  Reduction reduction;
  reduction.order = &order;
  reduction.operands = wide;
  reduction.wide_operands = true;
  reduction.results = &result;
  reduction.result_first = 3;
  reduction.count = kCount;
  reducer.Reduce(reduction);
  for (int64_t i = 0; i < kCount; ++i) {
    const float sum =
        ((at(0, i) + at(1, i)) + (at(2, i) + at(3, i))) + at(4, i);
    ASSERT_EQ(out[i + 3], ToBF16(sum)) << i;
    ASSERT_EQ(nodes[2][i], at(4, i)) << i;
  }
  EXPECT_EQ(out[2], 9);
}

// Past the caches, at any place.
TEST(ReducerTest, StreamsWriteTheSame) {
  constexpr int64_t kCount = 1500;
  std::vector<float> a(kCount), b(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    a[i] = i;
    b[i] = 3 * i;
  }
  const layout::ReductionOrder order = OrderOf(2);
  const char* operands[] = {reinterpret_cast<const char*>(a.data()),
                            reinterpret_cast<const char*>(b.data())};
  for (int64_t first : {0, 1, 4, 700}) {
    std::vector<float> results[3];
    char* out[3];
    for (int k = 0; k < 3; ++k) {
      results[k].assign(kCount + k + 1, -1);
      out[k] = reinterpret_cast<char*>(results[k].data() + k);
    }
    Reduction reduction;
    reduction.order = &order;
    reduction.operands = operands;
    reduction.operand_first = reduction.result_first = first;
    reduction.results = out;
    reduction.num_results = 3;
    reduction.streams = true;
    reduction.count = kCount - first;
    Reducer(proto::ADD, proto::F32).Reduce(reduction);
    for (int k = 0; k < 3; ++k) {
      for (int64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(results[k][i + k], i < first ? -1 : 4 * i) << first;
      }
      EXPECT_EQ(results[k].back(), -1);
    }
  }
}

TEST(FillIdentityTest, ChangesNothing) {
  for (proto::ReductionKind kind :
       {proto::ADD, proto::MUL, proto::MAX, proto::MIN}) {
    for (float value : {-3.0f, 5.0f, 0.0f, -0.0f, kInfinity, -kInfinity}) {
      std::vector<float> f(1);
      FillIdentity(kind, proto::F32, 1, reinterpret_cast<char*>(f.data()));
      const float sum = Reduce<float>(kind, proto::F32, {{value}, f})[0];
      EXPECT_EQ(sum, value);
      EXPECT_EQ(std::signbit(sum), std::signbit(value)) << value;
      std::vector<uint16_t> h(1);
      FillIdentity(kind, proto::F16, 1, reinterpret_cast<char*>(h.data()));
      EXPECT_THAT(Reduce<uint16_t>(kind, proto::F16, {{ToF16(value)}, h}),
                  ElementsAre(ToF16(value)));
    }
    std::vector<int32_t> i(2);
    FillIdentity(kind, proto::I32, 2, reinterpret_cast<char*>(i.data()));
    EXPECT_THAT(Reduce<int32_t>(kind, proto::I32, {{INT32_MIN, 5}, i}),
                ElementsAre(INT32_MIN, 5));
    std::vector<int8_t> b(2);
    FillIdentity(kind, proto::I1, 2, reinterpret_cast<char*>(b.data()));
    EXPECT_THAT(Reduce<int8_t>(kind, proto::I1, {{0, 1}, b}),
                ElementsAre(0, 1));
  }
}

}  // namespace
}  // namespace pathways
