//===- layout_test.cc - Checks, shapes and boxes of shards ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/layout.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "unittests/runtime/layout/layout_oracle.h"

namespace pathways::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LayoutTest, MeshErrors) {
  EXPECT_EQ(CheckMesh({}), "");
  EXPECT_EQ(CheckMesh({{"a", 4096}, {"b", 4096}, {"c", 1}}), "");
  EXPECT_EQ(CheckMesh({{"a", 1}, {"", 2}}), "axis 1 of the mesh has no name");
  EXPECT_EQ(CheckMesh({{"a", 1}, {"a", 2}}),
            "axis 'a' appears twice in the mesh");
  EXPECT_EQ(CheckMesh({{"a", 0}}), "axis 'a' has size 0, expected at least 1");
  EXPECT_EQ(CheckMesh({{"a", INT64_MIN}}),
            "axis 'a' has size -9223372036854775808, expected at least 1");
  EXPECT_EQ(CheckMesh({{"a", 4096}, {"b", 4097}}),
            "the mesh has more than 16777216 shards: axis 'b' multiplies 4096 "
            "by 4097");
  EXPECT_EQ(CheckMesh({{"a", 2}, {"b", INT64_MAX}}),
            "the mesh has more than 16777216 shards: axis 'b' multiplies 2 by "
            "9223372036854775807");
}

TEST(LayoutTest, TooManyAxes) {
  Mesh mesh;
  for (int i = 0; i < 64; ++i) mesh.push_back({"a" + std::to_string(i), 1});
  EXPECT_EQ(CheckMesh(mesh), "");
  mesh.push_back({"b", 1});
  EXPECT_EQ(CheckMesh(mesh), "the mesh has 65 axes, expected at most 64");
}

TEST(LayoutTest, LayoutErrors) {
  Mesh mesh = {{"a", 2}, {"b", 3}};
  EXPECT_EQ(CheckLayout(Split({4, 0}, {{"b", "a"}, {}}), mesh), "");
  EXPECT_EQ(CheckLayout({{4}, {{"b"}}, {"a"}, Reduction::kMin}, mesh), "");
  EXPECT_EQ(CheckLayout(Split({4, 4}, {{}}), mesh),
            "the layout splits 1 dimensions, but the array has rank 2");
  EXPECT_EQ(CheckLayout(Split({4, -1}, {{}, {}}), mesh),
            "dimension 1 has size -1, expected at least 0");
  EXPECT_EQ(CheckLayout(Split({kMaxElements, 2}, {{}, {}}), mesh),
            "the array has more than 281474976710656 elements: dimension 1 "
            "multiplies 281474976710656 by 2");
  EXPECT_EQ(CheckLayout(Split({0, INT64_MAX}, {{}, {}}), mesh),
            "the array has more than 281474976710656 elements: dimension 1 "
            "multiplies 1 by 9223372036854775807");
  EXPECT_EQ(CheckLayout(Split({4}, {{"c"}}), mesh),
            "axis 'c' of dimension 0 is not in mesh <\"a\" = 2, \"b\" = 3>");
  EXPECT_EQ(CheckLayout({{4}, {{}}, {"c"}, Reduction::kAdd}, mesh),
            "axis 'c' of the partial axes is not in mesh <\"a\" = 2, \"b\" = "
            "3>");
  EXPECT_EQ(CheckLayout(Split({4, 4}, {{"a"}, {"b", "a"}}), mesh),
            "axis 'a' is used twice: by dimension 0 and by dimension 1");
  EXPECT_EQ(CheckLayout({{4}, {{"a"}}, {"a"}, Reduction::kAdd}, mesh),
            "axis 'a' is used twice: by dimension 0 and by the partial axes");
  EXPECT_EQ(CheckLayout({{4}, {{}}, {"a", "b"}, Reduction::kNone}, mesh),
            "the layout has partial axes {\"a\", \"b\"}, but no reduction");
  EXPECT_EQ(CheckLayout({{4}, {{}}, {}, Reduction::kMax}, mesh),
            "the layout has reduction 'max', but no partial axes");
  EXPECT_EQ(CheckLayout({{4}, {{}}, {"a"}, static_cast<Reduction>(10)}, mesh),
            "unknown reduction 10");
}

TEST(LayoutTest, Text) {
  EXPECT_EQ(ToString(Mesh{}), "<>");
  EXPECT_EQ(ToString(Mesh{{"x", 2}, {"y", 4}}), "<\"x\" = 2, \"y\" = 4>");
  EXPECT_EQ(ToString(Split({}, {})), "[]");
  EXPECT_EQ(ToString(Split({4, 4}, {{"x", "y"}, {}})), "[{\"x\", \"y\"}, {}]");
  for (auto [reduction, name] : std::vector<std::pair<Reduction, std::string>>{
           {Reduction::kAdd, "add"},
           {Reduction::kMul, "mul"},
           {Reduction::kMax, "max"},
           {Reduction::kMin, "min"},
           {Reduction::kUMax, "umax"},
           {Reduction::kUMin, "umin"},
           {Reduction::kAnd, "and"},
           {Reduction::kOr, "or"},
           {Reduction::kXor, "xor"}}) {
    EXPECT_EQ(ToString(Layout{{4}, {{}}, {"x"}, reduction}),
              "[{}] partial " + name + " {\"x\"}");
  }
}

TEST(LayoutTest, CoordinatesAreRowMajor) {
  Mesh mesh = {{"a", 2}, {"b", 3}};
  EXPECT_EQ(NumShards(mesh), 6);
  EXPECT_THAT(Coordinates(mesh, 4), ElementsAre(1, 1));
  for (int64_t shard = 0; shard < 6; ++shard) {
    EXPECT_EQ(ShardAt(mesh, Coordinates(mesh, shard)), shard);
  }
  EXPECT_EQ(NumShards({}), 1);
  EXPECT_THAT(Coordinates({}, 0), IsEmpty());
  EXPECT_EQ(ShardAt({}, {}), 0);
}

TEST(LayoutTest, LastShardsAreShortOrEmpty) {
  Mesh mesh = {{"a", 4}};
  Layout layout = Split({5}, {{"a"}});
  EXPECT_THAT(ShardShape(layout, mesh), ElementsAre(2));
  EXPECT_EQ(ShardBox(layout, mesh, 1), (Box{{2}, {2}}));
  EXPECT_EQ(ShardBox(layout, mesh, 2), (Box{{4}, {1}}));
  EXPECT_EQ(ShardBox(layout, mesh, 3), (Box{{5}, {0}}));
  EXPECT_TRUE(ShardBox(layout, mesh, 3).empty());
  EXPECT_FALSE(IsEven(layout, mesh));
}

TEST(LayoutTest, FirstAxisIsMajor) {
  Mesh mesh = {{"a", 2}, {"b", 2}};
  EXPECT_EQ(ShardBox(Split({8}, {{"a", "b"}}), mesh, 1).begin[0], 2);
  EXPECT_EQ(ShardBox(Split({8}, {{"b", "a"}}), mesh, 1).begin[0], 4);
}

TEST(LayoutTest, Boxes) {
  EXPECT_FALSE(Box{}.empty());
  EXPECT_EQ(Box{}.numElements(), 1);
  EXPECT_EQ((Box{{0, 0}, {3, 4}}).numElements(), 12);
  EXPECT_TRUE((Box{{0, 0}, {3, 0}}).empty());
  EXPECT_EQ((Box{{0, 0}, {3, 0}}).numElements(), 0);
}

// Shapes, boxes, copies and evenness of every small layout, by enumeration.
TEST(LayoutTest, AgreesWithTheModel) {
  const std::vector<Mesh> meshes = {
      {}, {{"a", 3}}, {{"a", 2}, {"b", 3}}, {{"b", 2}, {"c", 1}, {"a", 2}}};
  std::vector<std::vector<int64_t>> shapes = {{}};
  for (int64_t n = 0; n <= 7; ++n) {
    shapes.push_back({n});
    for (int64_t m = 0; m <= 4; ++m) shapes.push_back({n, m});
  }
  for (const Mesh& mesh : meshes) {
    for (const std::vector<int64_t>& shape : shapes) {
      for (const Layout& layout : AllLayouts(mesh, shape)) {
        ASSERT_EQ(CheckLayout(layout, mesh), "");
        Sharded model(mesh, layout);
        ASSERT_EQ(ShardShape(layout, mesh), model.shard_shape);
        // Even: no shard is short in a dimension, even where the array has no
        // elements because of another.
        bool even = true;
        std::vector<int64_t> full = ShardShape(layout, mesh);
        int64_t copies = 0;
        for (size_t s = 0; s < model.shards.size(); ++s) {
          Box box = ShardBox(layout, mesh, static_cast<int64_t>(s));
          ASSERT_EQ(box.numElements(),
                    static_cast<int64_t>(model.shards[s].held.size()));
          even = even && box.extent == full;
          if (!box.empty()) {
            int64_t first = 0;
            for (size_t d = 0; d < shape.size(); ++d) {
              first = first * shape[d] + box.begin[d];
            }
            ASSERT_EQ(first, model.shards[s].held.front());
            ASSERT_EQ(model.shards[s].local_of[first], 0);
          }
          bool copy_of_first = true;
          for (const Axis& axis : mesh) {
            if (!Sharded::Contains(model.copy_axes, axis.name)) {
              copy_of_first =
                  copy_of_first && model.shards[s].at.at(axis.name) == 0;
            }
          }
          copies += copy_of_first;
        }
        ASSERT_EQ(IsEven(layout, mesh), even)
            << ToString(mesh) << ToString(layout);
        ASSERT_EQ(NumCopies(layout, mesh), copies);
      }
    }
  }
}

}  // namespace
}  // namespace pathways::layout
