//===- memory_need_test.cc ------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/memory_need.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/testing/random_plan.h"
#include "runtime/plan/verify.h"

namespace pathways {
namespace {

uint64_t Sum(const MemoryNeed& need) {
  return need.least + need.credits + need.kept + need.alignment + need.packing +
         need.scratch;
}

uint64_t PeakOf(const proto::Plan& plan) {
  return AlignBuffer(SegmentBytes(plan, 0, proto::DEVICE));
}

MemoryNeed NeedOf(const proto::Plan& plan) {
  EXPECT_TRUE(CheckPlan(plan, 0).ok()) << CheckPlan(plan, 0);
  return MemoryNeeds(plan).Of({{0, 1}}, PeakOf(plan));
}

layout::Layout Floats(int64_t count) {
  layout::Layout layout;
  layout.shape = {count};
  layout.dims = {{}};
  return layout;
}

TEST(MemoryNeedTest, EachPartHasItsName) {
  PlanBuilder b("parts", 3);
  const uint32_t s = b.AddSlice("s", {}, 0);
  const uint32_t x = b.AddBuffer("x", s, Floats(32), 3);
  const uint32_t y = b.AddBuffer("y", s, Floats(8), 1);
  const uint32_t z = b.AddBuffer("z", s, Floats(32), 1);
  b.AddFeed("x", x);
  b.AddGang("f", s, {x}, {y});
  b.AddGang("g", s, {y}, {z});
  b.AddFetch("z", z);
  const MemoryNeed need = NeedOf(b.Finish());
  // At least z and y, or x and y, are live together. Credits make that three x
  // and y, and z is kept besides. 32 bytes take 128.
  EXPECT_EQ(need.least, 128u + 32);
  EXPECT_EQ(need.credits, 2u * 128);
  EXPECT_EQ(need.kept, 128u);
  EXPECT_EQ(need.alignment, 96u);
  EXPECT_EQ(need.packing, 0u);
  EXPECT_EQ(Sum(need), 5u * 128);
}

TEST(MemoryNeedTest, WhatIsWrittenInPlaceCountsOnce) {
  for (bool in_place : {false, true}) {
    PlanBuilder b("carried", 2);
    const uint32_t s = b.AddSlice("s", {}, 0);
    const uint32_t p = b.AddBuffer("p", s, Floats(64), 1);
    const uint32_t q = b.AddBuffer("q", s, Floats(64), 1);
    const uint32_t feed = b.AddFeed("p", p);
    const uint32_t gang = b.AddGang("update", s, {p}, {q});
    const uint32_t fetch = b.AddFetch("q", q);
    b.Carry(feed, fetch);
    if (in_place) {
      b.AddAlias(gang, p, q);
      b.ShareMemory({p, q});
      b.AddEdge(fetch, feed, 1, proto::REUSE, proto::SAME);
    }
    const MemoryNeed need = NeedOf(b.Finish());
    EXPECT_EQ(need.least, in_place ? 256u : 512u);
    EXPECT_EQ(Sum(need), need.least);
  }
}

TEST(MemoryNeedTest, HolesArePacking) {
  PlanBuilder b("holes", 1);
  const uint32_t s = b.AddSlice("s", {}, 0);
  const uint32_t x = b.AddBuffer("x", s, Floats(32), 1);
  b.AddGang("f", s, {}, {x});
  b.AddFetch("x", x);
  proto::Plan plan = b.Finish();
  plan.mutable_buffers(0)->set_offset(1024);
  EXPECT_EQ(NeedOf(plan).packing, 1024u);
}

// Each shard of a device has its own memory, and so does each slice, even if
// the slices are not in use at the same time.
TEST(MemoryNeedTest, AllShardsOfADeviceCount) {
  PlanBuilder b("slices", 1);
  for (const char* name : {"a", "b"}) {
    const uint32_t s = b.AddSlice(name, {}, 0);
    const uint32_t x = b.AddBuffer(name, s, Floats(32), 1);
    b.AddGang(absl::StrCat("f", name), s, {}, {x});
    b.AddFetch(absl::StrCat("r", name), x);
  }
  const proto::Plan plan = b.Finish();
  MemoryNeeds needs(plan);
  EXPECT_EQ(needs.Of({{0, 3}}, 3 * 128).least, 3u * 128);
  EXPECT_EQ(needs.Of({{0, 1}, {1, 2}}, 3 * 128).least, 2u * 128);
}

// Returns the bound, action by action, if nothing is carried or written in
// place.
uint64_t LeastOf(const proto::Plan& plan) {
  uint64_t most = 0;
  for (int at = 0; at < plan.actions_size(); ++at) {
    uint64_t sum = 0;
    for (uint32_t b = 0; b < static_cast<uint32_t>(plan.buffers_size()); ++b) {
      if (plan.buffers(b).slice() != 0) continue;
      int first = plan.actions_size(), last = -1;
      for (int a = 0; a < plan.actions_size(); ++a) {
        const proto::Action& action = plan.actions(a);
        const auto has = [&](const auto& buffers) {
          return std::find(buffers.begin(), buffers.end(), b) != buffers.end();
        };
        const bool sends = action.kind() == proto::SEND &&
                           has(plan.actions(action.peer()).results());
        if (!sends && !has(action.operands()) && !has(action.results()))
          continue;
        first = std::min(first, a);
        last = std::max(last, a);
      }
      if (first <= at && at <= last) sum += plan.buffers(b).bytes();
    }
    most = std::max(most, sum);
  }
  return most;
}

TEST(MemoryNeedTest, NothingIsBelowTheBound) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    testing::RandomPlanOptions options;
    options.carried = seed % 2 == 0;
    options.memory_sharing = seed % 2 == 0;
    const proto::Plan plan = testing::RandomPlan(seed, options);
    const MemoryNeed need = MemoryNeeds(plan).Of({{0, 1}}, PeakOf(plan));
    EXPECT_EQ(Sum(need), PeakOf(plan));
    if (!options.carried) EXPECT_EQ(need.least, LeastOf(plan));
  }
}

}  // namespace
}  // namespace pathways
