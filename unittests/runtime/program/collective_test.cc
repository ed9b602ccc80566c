//===- collective_test.cc - The arithmetic of collectives -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace pathways {
namespace {

using ::testing::ElementsAre;

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
          shape.Complete(layout::ReductionTree({kSize}));
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

TEST(CombineTest, PermuteCopiesOrFillsZeros) {
  float in[3] = {1, 2, 3};
  const char* contributions[3];
  for (int r = 0; r < 3; ++r) {
    contributions[r] = reinterpret_cast<const char*>(&in[r]);
  }
  CollectiveShape shape;
  shape.kind = proto::PERMUTE;
  shape.size = 3;
  shape.sources = {2, -1, 0};
  shape.Complete(layout::ReductionTree({3}));
  std::vector<float> out(3, -1);
  for (int r = 0; r < 3; ++r) {
    CombineCollective(shape, r, contributions,
                      reinterpret_cast<char*>(&out[r]));
  }
  EXPECT_THAT(out, ElementsAre(3, 0, 1));
}

}  // namespace
}  // namespace pathways
