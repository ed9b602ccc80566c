//===- collective_test.cc - The arithmetic of collectives -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "runtime/executor/host_program.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::vector<T> Reduce(proto::ReductionKind kind, proto::ElementType element,
                      std::vector<T> into, const std::vector<T>& from) {
  Accumulate(kind, element, into.size(),
             reinterpret_cast<const char*>(from.data()),
             reinterpret_cast<char*>(into.data()));
  return into;
}

TEST(AccumulateTest, EveryType) {
  EXPECT_THAT(Reduce<float>(proto::ADD, proto::F32, {1, 2}, {3, 4}),
              ElementsAre(4, 6));
  EXPECT_THAT(Reduce<double>(proto::MUL, proto::F64, {1, 2}, {3, 4}),
              ElementsAre(3, 8));
  EXPECT_THAT(Reduce<int8_t>(proto::ADD, proto::I8, {127, -128}, {1, -1}),
              ElementsAre(-128, 127));
  EXPECT_THAT(Reduce<int32_t>(proto::MUL, proto::I32, {1 << 30, -3}, {4, 5}),
              ElementsAre(0, -15));
  EXPECT_THAT(Reduce<int64_t>(proto::ADD, proto::I64, {INT64_MAX}, {1}),
              ElementsAre(INT64_MIN));
  EXPECT_THAT(Reduce<int64_t>(proto::MIN, proto::I64, {-5, 7}, {3, 2}),
              ElementsAre(-5, 2));
  EXPECT_THAT(Reduce<int8_t>(proto::ADD, proto::I1, {0, 0, 1, 1}, {0, 1, 0, 1}),
              ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(Reduce<int8_t>(proto::MAX, proto::I1, {0, 0, 1, 1}, {0, 1, 0, 1}),
              ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(Reduce<int8_t>(proto::MIN, proto::I1, {0, 0, 1, 1}, {0, 1, 0, 1}),
              ElementsAre(0, 0, 0, 1));
  // 1.5 + 2.25, as half and as bfloat16; overflow and subnormal halves.
  EXPECT_THAT(
      Reduce<uint16_t>(proto::ADD, proto::F16, {0x3e00, 0x7bff, 0x0001, 0x03ff},
                       {0x4080, 0x7bff, 0x0001, 0x0001}),
      ElementsAre(0x4380, 0x7c00, 0x0002, 0x0400));
  EXPECT_THAT(Reduce<uint16_t>(proto::ADD, proto::BF16, {0x3fc0, 0x7fc0},
                               {0x4010, 0x3f80}),
              ElementsAre(0x4070, 0x7fc0));
}

TEST(AccumulateTest, NanWinsAndZerosAreOrdered) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (proto::ReductionKind kind : {proto::MAX, proto::MIN}) {
    EXPECT_TRUE(std::isnan(Reduce<float>(kind, proto::F32, {nan}, {1})[0]));
    EXPECT_TRUE(std::isnan(Reduce<float>(kind, proto::F32, {1}, {nan})[0]));
  }
  EXPECT_FALSE(
      std::signbit(Reduce<float>(proto::MAX, proto::F32, {-0.0f}, {0})[0]));
  EXPECT_TRUE(
      std::signbit(Reduce<float>(proto::MIN, proto::F32, {0}, {-0.0f})[0]));
}

TEST(AccumulateTest, IdentityChangesNothing) {
  for (proto::ReductionKind kind :
       {proto::ADD, proto::MUL, proto::MAX, proto::MIN}) {
    float f[2];
    FillIdentity(kind, proto::F32, 2, reinterpret_cast<char*>(f));
    EXPECT_THAT(Reduce<float>(kind, proto::F32, {-3, 5}, {f[0], f[1]}),
                ElementsAre(-3, 5));
    int32_t i[2];
    FillIdentity(kind, proto::I32, 2, reinterpret_cast<char*>(i));
    EXPECT_THAT(Reduce<int32_t>(kind, proto::I32, {INT32_MIN, 5}, {i[0], i[1]}),
                ElementsAre(INT32_MIN, 5));
    int8_t b[2];
    FillIdentity(kind, proto::I1, 2, reinterpret_cast<char*>(b));
    EXPECT_THAT(Reduce<int8_t>(kind, proto::I1, {0, 1}, {b[0], b[1]}),
                ElementsAre(0, 1));
    uint16_t h[1];
    FillIdentity(kind, proto::F16, 1, reinterpret_cast<char*>(h));
    EXPECT_THAT(Reduce<uint16_t>(kind, proto::F16, {0x3e00}, {h[0]}),
                ElementsAre(0x3e00));
  }
}

// All of it in rank 3, against index arithmetic.
TEST(CombineTest, BlocksInEveryDimension) {
  const std::vector<int64_t> source = {4, 2, 6};
  constexpr int64_t kSize = 2, kCount = 48;
  std::vector<std::vector<int32_t>> in(kSize, std::vector<int32_t>(kCount));
  for (int r = 0; r < kSize; ++r) {
    std::iota(in[r].begin(), in[r].end(), 1000 * r);
  }
  const char* contributions[kSize] = {
      reinterpret_cast<const char*>(in[0].data()),
      reinterpret_cast<const char*>(in[1].data())};
  auto at = [&](const std::vector<int64_t>& shape,
                const std::vector<int64_t>& i) {
    return (i[0] * shape[1] + i[1]) * shape[2] + i[2];
  };
  for (int64_t dim = 0; dim < 3; ++dim) {
    for (int64_t concat = 0; concat < 3; ++concat) {
      for (int64_t rank = 0; rank < kSize; ++rank) {
        CollectiveShape shape;
        shape.element = proto::I32;
        shape.size = kSize;
        shape.dim = dim;
        shape.concat_dim = concat;
        shape.source = source;
        for (proto::CollectiveKind kind :
             {proto::ALL_GATHER, proto::REDUCE_SCATTER, proto::ALL_TO_ALL}) {
          shape.kind = kind;
          shape.result = source;
          if (kind != proto::ALL_GATHER) shape.result[dim] /= kSize;
          if (kind == proto::ALL_GATHER) shape.result[dim] *= kSize;
          if (kind == proto::ALL_TO_ALL) shape.result[concat] *= kSize;
          const int64_t count =
              shape.result[0] * shape.result[1] * shape.result[2];
          std::vector<int32_t> out(count, -1);
          CombineCollective(shape, rank, contributions,
                            reinterpret_cast<char*>(out.data()));
          for (int64_t a = 0; a < shape.result[0]; ++a) {
            for (int64_t b = 0; b < shape.result[1]; ++b) {
              for (int64_t c = 0; c < shape.result[2]; ++c) {
                std::vector<int64_t> i = {a, b, c};
                int32_t expected = 0;
                if (kind == proto::ALL_GATHER) {
                  const int64_t from = i[dim] / source[dim];
                  i[dim] %= source[dim];
                  expected = in[from][at(source, i)];
                } else if (kind == proto::REDUCE_SCATTER) {
                  i[dim] += rank * (source[dim] / kSize);
                  expected = in[0][at(source, i)] + in[1][at(source, i)];
                } else {
                  std::vector<int64_t> block = source;
                  block[dim] /= kSize;
                  const int64_t from = i[concat] / block[concat];
                  i[concat] %= block[concat];
                  i[dim] += rank * block[dim];
                  expected = in[from][at(source, i)];
                }
                ASSERT_EQ(out[at(shape.result, {a, b, c})], expected)
                    << "kind " << kind << " dim " << dim << " concat " << concat
                    << " rank " << rank;
              }
            }
          }
        }
      }
    }
  }
}

TEST(CombineTest, PermuteShiftsAndFillsZeros) {
  float in[3] = {1, 2, 3};
  const char* contributions[3];
  for (int r = 0; r < 3; ++r) {
    contributions[r] = reinterpret_cast<const char*>(&in[r]);
  }
  CollectiveShape shape;
  shape.kind = proto::PERMUTE;
  shape.size = 3;
  auto all = [&](int64_t shift, bool wrap) {
    shape.shift = shift;
    shape.wrap = wrap;
    std::vector<float> out(3, -1);
    for (int r = 0; r < 3; ++r) {
      CombineCollective(shape, r, contributions,
                        reinterpret_cast<char*>(&out[r]));
    }
    return out;
  };
  EXPECT_THAT(all(1, true), ElementsAre(3, 1, 2));
  EXPECT_THAT(all(-4, true), ElementsAre(2, 3, 1));
  EXPECT_THAT(all(1, false), ElementsAre(0, 1, 2));
  EXPECT_THAT(all(-2, false), ElementsAre(3, 0, 0));
  EXPECT_THAT(all(INT64_MAX, false), ElementsAre(0, 0, 0));
  EXPECT_THAT(all(INT64_MIN, true).size(), 3u);
}

TEST(FillPaddingTest, KeepsTheValidBoxOnly) {
  for (int64_t a = 0; a <= 2; ++a) {
    for (int64_t b = 0; b <= 3; ++b) {
      for (int64_t c = 0; c <= 4; ++c) {
        std::vector<int16_t> data(24, 7);
        FillPadding({2, 3, 4}, {a, b, c}, 2,
                    reinterpret_cast<char*>(data.data()));
        for (int64_t i = 0; i < 24; ++i) {
          const bool valid = i / 12 < a && i / 4 % 3 < b && i % 4 < c;
          ASSERT_EQ(data[i], valid ? 7 : 0) << a << b << c << " at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pathways
