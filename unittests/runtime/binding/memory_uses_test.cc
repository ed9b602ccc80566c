//===- memory_uses_test.cc ------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/memory_uses.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/verify.h"

namespace pathways {
namespace {

layout::Layout Numbers(int64_t count) {
  layout::Layout layout;
  layout.shape = {count};
  layout.dims = {{}};
  return layout;
}

std::vector<MemoryUses> UsesOf(PlanBuilder& builder) {
  const proto::Plan plan = builder.Finish();
  EXPECT_TRUE(CheckPlan(plan, 0).ok()) << CheckPlan(plan, 0);
  return MemoryUsesOf(plan);
}

// Adds a gang that reads `buffer`, and fetches what that makes of it.
void Read(PlanBuilder& builder, uint32_t slice, uint32_t buffer) {
  const uint32_t seen = builder.AddBuffer("seen", slice, Numbers(1), 1);
  builder.AddGang("read", slice, {buffer}, {seen});
  builder.AddFetch("seen", seen);
}

TEST(MemoryUsesTest, EachOriginCountsOnItsSlice) {
  PlanBuilder b("origins", 2);
  const uint32_t s = b.AddSlice("s", {}, 0), t = b.AddSlice("t", {}, 1);
  const uint32_t w = b.AddBuffer("w", s, Numbers(64), 1);
  const uint32_t x = b.AddBuffer("x", s, Numbers(32), 1);
  const uint32_t y = b.AddBuffer("y", s, Numbers(32), 1);
  const uint32_t arrived = b.AddBuffer("arrived", t, Numbers(32), 2);
  const uint32_t z = b.AddBuffer("z", t, Numbers(32), 1);
  b.AddFeed("w", w);
  b.AddGang("f", s, {w}, {x});
  b.AddGang("g", s, {x, w}, {y});
  b.AddMove("y", y, arrived);
  b.AddGang("h", t, {arrived}, {z});
  b.AddFetch("z", z);
  const std::vector<MemoryUses> uses = UsesOf(b);
  // A gang reads x; y and z are only sent and fetched.
  EXPECT_EQ(uses[0], (MemoryUses{256, 128, 0}));
  EXPECT_EQ(uses[1], (MemoryUses{0, 0, 2 * 128}));
}

TEST(MemoryUsesTest, KeptCountsWhatIsInUseAtATime) {
  // Results of f are read two gangs later, so two of them are in use.
  PlanBuilder b("kept", 1);
  const uint32_t s = b.AddSlice("s", {}, 0);
  std::vector<uint32_t> kept, last;
  for (int i = 0; i < 6; ++i) {
    kept.push_back(b.AddBuffer(absl::StrCat("k", i), s, Numbers(32), 1));
    last.push_back(b.AddBuffer(absl::StrCat("l", i), s, Numbers(1), 1));
  }
  for (int i = 0; i < 7; ++i) {
    if (i < 6) b.AddGang(absl::StrCat("f", i), s, {}, {kept[i]});
    if (i > 0) {
      b.AddGang(absl::StrCat("b", i - 1), s, {kept[i - 1]}, {last[i - 1]});
      b.AddFetch(absl::StrCat("r", i - 1), last[i - 1]);
    }
  }
  EXPECT_EQ(UsesOf(b)[0], (MemoryUses{0, 2 * 128, 0}));
}

TEST(MemoryUsesTest, SumsInPlaceAreParameters) {
  PlanBuilder b("sums", 1);
  const uint32_t s = b.AddSlice("s", {}, 0);
  std::vector<uint32_t> sums;
  for (int i = 0; i < 4; ++i) {
    sums.push_back(b.AddBuffer(absl::StrCat("sum", i), s, Numbers(32), 1));
  }
  b.ShareMemory(sums);
  b.AddGang("zero", s, {}, {sums[0]});
  for (int i = 1; i < 4; ++i) {
    const uint32_t gang =
        b.AddGang(absl::StrCat("add", i), s, {sums[i - 1]}, {sums[i]});
    b.AddAlias(gang, sums[i - 1], sums[i]);
  }
  Read(b, s, sums[3]);
  EXPECT_EQ(UsesOf(b)[0], (MemoryUses{128, 0, 0}));
}

TEST(MemoryUsesTest, ResultOverAnOperandIsKeptOnce) {
  PlanBuilder b("over", 1);
  const uint32_t s = b.AddSlice("s", {}, 0);
  const uint32_t x = b.AddBuffer("x", s, Numbers(32), 1);
  const uint32_t y = b.AddBuffer("y", s, Numbers(32), 1);
  b.ShareMemory({x, y});
  b.AddGang("f", s, {}, {x});
  b.AddAlias(b.AddGang("g", s, {x}, {y}), x, y);
  Read(b, s, y);
  EXPECT_EQ(UsesOf(b)[0], (MemoryUses{0, 128, 0}));
}

}  // namespace
}  // namespace pathways
