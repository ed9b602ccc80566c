//===- sub_mesh_test.cc - Meshes inside meshes ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/topology/sub_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace pathways {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

std::optional<std::vector<int64_t>> Find(const CellMesh& mesh,
                                         const std::vector<int64_t>& shape,
                                         const std::vector<bool>& closed = {}) {
  const CellLoad none = {};
  return FindSubMesh(mesh, shape, [&](int64_t cell) {
    const bool is_closed = !closed.empty() && closed[size_t(cell)];
    return is_closed ? nullptr : &none;
  });
}

// 0 1 2 3
// 4 5 6 7
// 8 9 . .
TEST(SubMeshTest, IsRowMajorAndTheFirst) {
  EXPECT_THAT(Find({{3, 4}}, {2, 2}), Optional(ElementsAre(0, 1, 4, 5)));
  EXPECT_THAT(Find({{3, 4}}, {4}), Optional(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(Find({{3, 4}}, {1, 3, 1}), Optional(ElementsAre(0, 4, 8)));
  // Axes of the mesh may go along dimensions in any order.
  EXPECT_THAT(Find({{2, 4}}, {4, 2}),
              Optional(ElementsAre(0, 4, 1, 5, 2, 6, 3, 7)));
  EXPECT_EQ(Find({{3, 4}}, {5}), std::nullopt);
  EXPECT_EQ(Find({{3, 4}}, {2, 2, 2}), std::nullopt);
  EXPECT_THAT(Find({{3, 4}}, {}), Optional(ElementsAre(0)));
}

TEST(SubMeshTest, GoesAroundWhereThatWraps) {
  std::vector<bool> closed(4);
  closed[1] = closed[2] = true;
  EXPECT_EQ(Find({{4}}, {2}, closed), std::nullopt);
  EXPECT_THAT(Find({{4}, {true}}, {2}, closed), Optional(ElementsAre(3, 0)));
  EXPECT_THAT(Find({{4}, {true}}, {4}), Optional(ElementsAre(0, 1, 2, 3)));
}

TEST(SubMeshTest, TakesTheLeastLoad) {
  std::vector<CellLoad> loads = {{2, 0, 0}, {0, 1, 0}, {0, 1, 0}, {0, 0, 9}};
  auto load = [&](int64_t cell) { return &loads[size_t(cell)]; };
  EXPECT_THAT(FindSubMesh({{4}}, {2}, load), Optional(ElementsAre(2, 3)));
  loads[2][0] = 2;
  EXPECT_THAT(FindSubMesh({{4}}, {2}, load), Optional(ElementsAre(0, 1)));
}

// A second definition of the result: sets of cells that are a row of neighbours
// along each dimension, as long as the axes are, in some order.
class Model {
 public:
  Model(const CellMesh& mesh, const std::vector<int64_t>& shape)
      : mesh_(mesh), volume_(1) {
    for (int64_t size : shape) {
      volume_ *= size;
      if (size > 1) wanted_.insert(size);
    }
    for (int64_t size : mesh.sizes) cells_ *= size;
  }

  // All such sets, each ascending, by looking at every set of that many cells.
  std::set<std::vector<int64_t>> All() const {
    std::set<std::vector<int64_t>> all;
    if (volume_ > cells_) return all;
    std::vector<bool> chosen(size_t(cells_), false);
    std::fill(chosen.begin(), chosen.begin() + volume_, true);
    do {
      std::vector<int64_t> set;
      for (int64_t cell = 0; cell < cells_; ++cell) {
        if (chosen[size_t(cell)]) set.push_back(cell);
      }
      if (IsSubMesh(set)) all.insert(set);
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    return all;
  }

 private:
  std::vector<int64_t> Coordinates(int64_t cell) const {
    std::vector<int64_t> at(mesh_.sizes.size());
    for (size_t d = at.size(); d-- > 0; cell /= mesh_.sizes[d]) {
      at[d] = cell % mesh_.sizes[d];
    }
    return at;
  }
  bool IsRow(const std::set<int64_t>& places, size_t dim) const {
    const int64_t size = mesh_.sizes[dim];
    const bool wraps = !mesh_.wraps.empty() && mesh_.wraps[dim];
    for (int64_t first : places) {
      bool is_row = true;
      for (int64_t i = 0; i < int64_t(places.size()); ++i) {
        const int64_t place = first + i;
        is_row &= (wraps || place < size) && places.count(place % size) > 0;
      }
      if (is_row) return true;
    }
    return false;
  }
  bool IsSubMesh(const std::vector<int64_t>& set) const {
    std::vector<std::set<int64_t>> places(mesh_.sizes.size());
    for (int64_t cell : set) {
      const std::vector<int64_t> at = Coordinates(cell);
      for (size_t d = 0; d < at.size(); ++d) places[d].insert(at[d]);
    }
    std::multiset<int64_t> lengths;
    int64_t product = 1;
    for (size_t d = 0; d < places.size(); ++d) {
      if (!IsRow(places[d], d)) return false;
      const int64_t length = int64_t(places[d].size());
      product *= length;
      if (length > 1) lengths.insert(length);
    }
    return product == int64_t(set.size()) && lengths == wanted_;
  }

  const CellMesh mesh_;
  int64_t volume_ = 1, cells_ = 1;
  std::multiset<int64_t> wanted_;
};

// Every mesh of up to three dimensions and twelve cells, with and without
// wrapping, every shape in it, and for each some sets of closed cells with
// loads: what is found is one of the least load, and nothing only if there is
// none.
TEST(SubMeshTest, EverySmallMeshAgainstEverySet) {
  const std::vector<std::vector<int64_t>> meshes = {
      {1},    {5},       {2, 2},    {2, 3},   {3, 3},
      {4, 3}, {2, 2, 2}, {2, 1, 3}, {2, 3, 2}};
  const std::vector<std::vector<int64_t>> shapes = {
      {1},    {2},    {3},    {4},       {5},       {2, 2},   {2, 3},
      {3, 2}, {3, 3}, {4, 2}, {2, 1, 2}, {2, 2, 2}, {3, 2, 2}};
  int found = 0, missing = 0;
  uint32_t seed = 0;
  for (const std::vector<int64_t>& sizes : meshes) {
    for (uint32_t wrap = 0; wrap < 1u << sizes.size(); ++wrap) {
      CellMesh mesh{sizes, {}};
      for (size_t d = 0; d < sizes.size(); ++d) {
        mesh.wraps.push_back((wrap >> d & 1) != 0);
      }
      const int64_t cells = std::accumulate(sizes.begin(), sizes.end(),
                                            int64_t{1}, std::multiplies<>());
      for (const std::vector<int64_t>& shape : shapes) {
        const std::set<std::vector<int64_t>> all = Model(mesh, shape).All();
        for (int round = 0; round < 8; ++round) {
          SCOPED_TRACE(++seed);
          std::mt19937 random(seed);
          std::vector<bool> closed;
          std::vector<CellLoad> loads;
          for (int64_t cell = 0; cell < cells; ++cell) {
            closed.push_back(int(random() % 8) < round - 1);
            loads.push_back({int64_t(random() % 3), int64_t(random() % 3), 0});
          }
          auto sum = [&](const std::vector<int64_t>& set) {
            CellLoad total = {};
            for (int64_t cell : set) {
              for (size_t i = 0; i < 3; ++i) total[i] += loads[size_t(cell)][i];
            }
            return total;
          };
          std::optional<CellLoad> least;
          for (const std::vector<int64_t>& set : all) {
            if (std::any_of(set.begin(), set.end(), [&](int64_t cell) {
                  return closed[size_t(cell)];
                })) {
              continue;
            }
            least = std::min(least.value_or(sum(set)), sum(set));
          }
          const std::optional<std::vector<int64_t>> one =
              FindSubMesh(mesh, shape, [&](int64_t cell) {
                return closed[size_t(cell)] ? nullptr : &loads[size_t(cell)];
              });
          ASSERT_EQ(one.has_value(), least.has_value());
          found += one.has_value();
          missing += !one.has_value();
          if (!one.has_value()) continue;
          std::vector<int64_t> sorted = *one;
          std::sort(sorted.begin(), sorted.end());
          EXPECT_EQ(all.count(sorted), 1u);
          EXPECT_EQ(sum(*one), *least);
        }
      }
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(missing, 1000);
}

// In the order of the shape: along an axis from one to the next is one step
// along a dimension.
TEST(SubMeshTest, NeighboursAreNeighbours) {
  const CellMesh mesh{{4, 6}, {true, false}};
  const std::optional<std::vector<int64_t>> cells = Find(mesh, {3, 2, 1});
  ASSERT_TRUE(cells.has_value());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*cells)[2 * i + 1], (*cells)[2 * i] + 1);
    if (i > 0) {
      EXPECT_EQ((*cells)[2 * i], (*cells)[2 * i - 2] + 6);
    }
  }
}

}  // namespace
}  // namespace pathways
