//===- verify_test.cc - Rules for plans that may run ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/plan/plan_builder.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/plan/plan_edit.h"
#include "unittests/runtime/plan/sample_plan.h"

namespace pathways::testing {
namespace {

using ::testing::HasSubstr;

TEST(VerifyTest, SampleIsAccepted) {
  proto::Plan plan = SamplePlan();
  absl::Status status = CheckPlan(plan, kSampleBlobBytes);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(VerifyTest, EmptyPlanIsAccepted) {
  proto::Plan plan;
  plan.mutable_header()->set_steps_in_flight(1);
  EXPECT_TRUE(CheckPlan(plan, 0).ok());
}

TEST(VerifyTest, IssuesPointAtBothHalves) {
  proto::Plan plan = SamplePlan();
  Edit edit(&plan);
  edit.RemoveEdge("z.fetch", "layer1", proto::REUSE);
  std::vector<PlanIssue> issues = VerifyPlan(plan, kSampleBlobBytes);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].subject, (Subject{Subject::kBuffer, edit.B("y")}));
  ASSERT_EQ(issues[0].notes.size(), 3u);
  EXPECT_EQ(issues[0].notes[0].subject,
            (Subject{Subject::kBuffer, edit.B("z")}));
  EXPECT_EQ(issues[0].notes[1].subject,
            (Subject{Subject::kAction, edit.A("z.fetch")}));
  EXPECT_EQ(issues[0].notes[2].subject,
            (Subject{Subject::kAction, edit.A("layer1")}));
  absl::Status status = IssuesToStatus(plan, issues);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              ::testing::AllOf(HasSubstr("plan 'sample' cannot run"),
                               HasSubstr("rule 6 (memory): "),
                               HasSubstr("note: used here"),
                               ::testing::EndsWith(" [PW2202]")));
}

TEST(VerifyTest, CycleHasANoteForEachAction) {
  proto::Plan plan = SamplePlan();
  Edit edit(&plan);
  edit.AddEdge("update", "layer0", 0, proto::CONTROL, proto::SAME);
  std::vector<PlanIssue> issues = VerifyPlan(plan, kSampleBlobBytes);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].rule, 2);
  EXPECT_EQ(issues[0].message,
            "edges without tokens form a cycle: 'update' -> 'layer0' (control, "
            "0 tokens) -> 'reduce' (data, 0 tokens) -> 'update' (data, 0 "
            "tokens)");
  EXPECT_EQ(issues[0].notes.size(), 3u);
}

TEST(VerifyTest, LongCyclesAndNamesAreCut) {
  ChainBuilder b({.name = "long", .steps_in_flight = 1, .credits = 1});
  b.Gang("start");
  for (int i = 0; i < 1000; ++i) {
    b.Gang("g" + std::to_string(i) + std::string(300, 'n'));
  }
  proto::Plan plan = b.Finish();
  proto::Edge* back = plan.add_edges();
  back->set_from(1000);
  back->set_to(0);
  back->set_kind(proto::CONTROL);
  back->set_relation(proto::SAME);
  std::vector<PlanIssue> issues = VerifyPlan(plan, 0);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_THAT(issues[0].message, HasSubstr("more edges"));
  EXPECT_LT(issues[0].message.size(), 5000u);
  EXPECT_LE(issues[0].notes.size(), 16u);
}

TEST(VerifyTest, NumberOfIssuesIsBounded) {
  proto::Plan plan;
  plan.mutable_header()->set_steps_in_flight(1);
  for (int i = 0; i < 1000; ++i) plan.add_actions();
  EXPECT_EQ(VerifyPlan(plan, 0).size(), 20u);
  VerifyOptions options;
  options.max_issues = 3;
  EXPECT_EQ(VerifyPlan(plan, 0, options).size(), 3u);
  options.max_issues = 0;
  EXPECT_EQ(VerifyPlan(plan, 0, options).size(), 1u);
}

TEST(VerifyTest, AxisNamesInMessagesAreEscaped) {
  proto::Plan plan = SamplePlan();
  Edit(&plan).LayoutOf("w")->mutable_dims(0)->set_axes(0, "q\n\x7f");
  std::vector<PlanIssue> issues = VerifyPlan(plan, kSampleBlobBytes);
  ASSERT_FALSE(issues.empty());
  EXPECT_THAT(issues[0].message, HasSubstr("'q\\x0a\\x7f'"));
}

TEST(VerifyTest, NamesInMessagesAreEscaped) {
  proto::Plan plan = SamplePlan();
  Edit edit(&plan);
  edit.RemoveEdge("layer0", "reduce", proto::DATA);
  edit.Action("layer0")->set_name("a\n\x1b[31mb");
  std::vector<PlanIssue> issues = VerifyPlan(plan, kSampleBlobBytes);
  ASSERT_FALSE(issues.empty());
  EXPECT_THAT(issues[0].message, HasSubstr("'a\\n\\x1b[31mb'"));
}

TEST(VerifyTest, BeforeCodegenKernelsMayLackSegments) {
  proto::Plan plan = SamplePlan();
  plan.mutable_kernels(0)->clear_segments();
  plan.mutable_kernels(0)->clear_objects();
  EXPECT_FALSE(VerifyPlan(plan, 0).empty());
  VerifyOptions options;
  options.before_codegen = true;
  std::vector<PlanIssue> issues = VerifyPlan(plan, 0, options);
  EXPECT_TRUE(issues.empty()) << issues[0].message;
  // Rules that do not need the code are checked all the same.
  Edit edit(&plan);
  edit.Action("layer0")->mutable_steps(0)->mutable_run()->set_buffers(
      0, edit.B("w2"));
  issues = VerifyPlan(plan, 0, options);
  ASSERT_FALSE(issues.empty());
  EXPECT_THAT(issues[0].message, HasSubstr("uses buffer 'w2'"));
}

TEST(VerifyTest, CollectiveShapesThatAgreeAreAccepted) {
  layout::Layout from{{4, 6}, {{}, {}}, {}, layout::Reduction::kNone};
  struct Case {
    proto::CollectiveKind kind;
    std::vector<int64_t> shape;
  };
  for (const Case& c : std::vector<Case>{{proto::ALL_REDUCE, {4, 6}},
                                         {proto::ALL_GATHER, {8, 6}},
                                         {proto::REDUCE_SCATTER, {2, 6}},
                                         {proto::ALL_TO_ALL, {2, 12}},
                                         {proto::PERMUTE, {4, 6}}}) {
    layout::Layout to{c.shape, {{}, {}}, {}, layout::Reduction::kNone};
    ChainBuilder b({.steps_in_flight = 1,
                    .slice = {.mesh = {{"x", 2}, {"y", 3}}},
                    .layout = from,
                    .credits = 1});
    b.Feed("a").Collective("c", c.kind, {.layout = to});
    auto* collective = b.plan()
                           .mutable_actions(b.last_action())
                           ->mutable_steps(0)
                           ->mutable_collective();
    if (c.kind == proto::ALL_REDUCE || c.kind == proto::REDUCE_SCATTER)
      collective->set_reduction(proto::MAX);
    if (c.kind == proto::ALL_TO_ALL) collective->set_concat_dim(1);
    absl::Status status = CheckPlan(b.Finish(), 0);
    EXPECT_TRUE(status.ok()) << CollectiveKindName(c.kind) << ": " << status;
  }
}

// Arguments that go in and out in the same memory, and one that comes back
// unchanged: the paths of rule 5 and 6 that join queue order at both ends.
TEST(VerifyTest, DonatedArgumentsAreAccepted) {
  PlanBuilder b("donated", 2);
  uint32_t s = b.AddSlice("s", {{"x", 2}}, 0);
  layout::Layout rows{{4}, {{"x"}}, {}, layout::Reduction::kNone};
  uint32_t p = b.AddBuffer("p", s, rows, 2);
  uint32_t q = b.AddBuffer("q", s, rows, 2);
  uint32_t same = b.AddBuffer("same", s, rows, 2);
  uint32_t p_feed = b.AddFeed("p", p);
  uint32_t same_feed = b.AddFeed("same", same);
  uint32_t gang = b.AddGang("update", s, {p, same}, {q});
  uint32_t q_fetch = b.AddFetch("q", q);
  uint32_t same_fetch = b.AddFetch("same", same);
  b.AddAlias(gang, p, q);
  b.ShareMemory({p, q});
  b.AddEdge(q_fetch, p_feed, 2, proto::REUSE, proto::SAME);
  b.Carry(same_feed, same_fetch);
  proto::Plan plan = b.Finish();
  absl::Status status = CheckPlan(plan, 0);
  EXPECT_TRUE(status.ok()) << status;
  // Its own data and credit edge may be said, but need not.
  Edit edit(&plan);
  edit.AddEdge("same.feed", "same.feed", 1, proto::DATA, proto::SAME);
  edit.AddEdge("same.feed", "same.feed", 1, proto::CREDIT, proto::SAME);
  EXPECT_TRUE(CheckPlan(plan, 0).ok());
  // The next argument may come too early without the way back.
  edit.RemoveEdge("q.fetch", "p.feed", proto::REUSE);
  std::vector<PlanIssue> issues = VerifyPlan(plan, 0);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_THAT(issues[0].message, HasSubstr("fetch 'q.fetch'"));
}

// A gang may write the next value of a carried argument where the argument
// lies, even without an alias.
TEST(VerifyTest, CarriedMemoryIsUsedInPlace) {
  for (uint32_t credits : {1, 2}) {
    for (bool alias : {false, true}) {
      PlanBuilder b("in_place", 2);
      uint32_t s = b.AddSlice("s", {{"x", 2}}, 0);
      layout::Layout rows{{128}, {{"x"}}, {}, layout::Reduction::kNone};
      uint32_t p = b.AddBuffer("p", s, rows, credits);
      uint32_t t = b.AddBuffer("t", s, rows, credits);
      uint32_t q = b.AddBuffer("q", s, rows, credits);
      uint32_t feed = b.AddFeed("p", p);
      if (!alias) b.AddGang("between", s, {p}, {t});
      uint32_t gang = b.AddGang("update", s, {alias ? p : t}, {q});
      if (alias) b.AddGang("after", s, {}, {t});
      uint32_t fetch = b.AddFetch("q", q);
      if (alias) b.AddAlias(gang, p, q);
      b.ShareMemory({p, q});
      b.AddEdge(fetch, feed, credits, proto::REUSE, proto::SAME);
      b.Carry(feed, fetch);
      proto::Plan plan = b.Finish();
      absl::Status status = CheckPlan(plan, 0);
      EXPECT_TRUE(status.ok()) << status;

      // The next launch's argument must not overwrite a value that is fetched.
      proto::Plan early = plan;
      Edit(&early).RemoveEdge("q.fetch", "p.feed", proto::REUSE);
      std::vector<PlanIssue> issues = VerifyPlan(early, 0);
      ASSERT_EQ(issues.size(), 1u);
      EXPECT_THAT(issues[0].message, HasSubstr("fetch 'q.fetch'"));
      if (alias || credits > 1) continue;
      // With one slot it is copied, unless it is just there.
      plan.mutable_buffers(static_cast<int>(p))->set_offset(1 << 20);
      plan.mutable_buffers(static_cast<int>(q))->set_offset((1 << 20) + 128);
      issues = VerifyPlan(plan, 0);
      ASSERT_EQ(issues.size(), 1u);
      EXPECT_EQ(issues[0].rule, 6);
      EXPECT_EQ(issues[0].message,
                "buffers 'q' and 'p' of slice 's' share memory, but feed "
                "'p.feed' copies one into the other, expected equal places or "
                "none in common");
    }
  }
}

// A buffer that is carried must not share memory with what comes after it: it
// is read in the next step.
TEST(VerifyTest, CarriedMemoryIsNotGivenAway) {
  PlanBuilder b("carried", 1);
  uint32_t s = b.AddSlice("s", {}, 0);
  layout::Layout scalar;
  uint32_t p = b.AddBuffer("p", s, scalar);
  uint32_t q = b.AddBuffer("q", s, scalar);
  uint32_t r = b.AddBuffer("r", s, scalar);
  uint32_t feed = b.AddFeed("p", p);
  b.AddGang("update", s, {p}, {q});
  uint32_t fetch = b.AddFetch("q", q);
  uint32_t use = b.AddGang("use", s, {}, {r});
  b.Carry(feed, fetch);
  b.ShareMemory({q, r});
  b.AddEdge(fetch, use, 0, proto::REUSE, proto::SAME);
  std::vector<PlanIssue> issues = VerifyPlan(b.Finish(), 0);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_THAT(
      issues[0].message,
      ::testing::AllOf(HasSubstr("'q' and 'r'"),
                       HasSubstr("feed 'p.feed', which uses the first")));
}

TEST(VerifyTest, EdgesWithoutAnyWayBackAreUnbounded) {
  PlanBuilder b("unbounded", 4);
  uint32_t s = b.AddSlice("s", {}, 0);
  uint32_t p = b.AddFeed("p", b.AddBuffer("p", s, {}));
  uint32_t q = b.AddFeed("q", b.AddBuffer("q", s, {}));
  b.AddEdge(p, q, 1, proto::REUSE, proto::SAME);
  std::vector<PlanIssue> issues = VerifyPlan(b.Finish(), 0);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].rule, 5);
  EXPECT_EQ(issues[0].message,
            "reuse edge 'p.feed' -> 'q.feed' (same, 1 token) is not bounded: "
            "there is no path back");
}

// Received memory is entered by the send.
TEST(VerifyTest, ReceivedMemoryWaitsForItsLastUser) {
  auto make = [](bool with_edge) {
    PlanBuilder b("received", 1);
    uint32_t s = b.AddSlice("s", {{"x", 2}}, 0);
    uint32_t d = b.AddSlice("d", {{"x", 2}}, 1);
    layout::Layout rows{{4}, {{"x"}}, {}, layout::Reduction::kNone};
    uint32_t a = b.AddBuffer("a", s, rows);
    uint32_t old = b.AddBuffer("old", d, rows);
    uint32_t g = b.AddBuffer("g", d, rows);
    uint32_t r = b.AddBuffer("r", d, rows);
    b.AddFeed("a", a);
    uint32_t before = b.AddGang("before", d, {}, {old});
    auto [send, recv] = b.AddMove("m", a, g);
    b.AddGang("after", d, {g}, {r});
    b.ShareMemory({old, g});
    if (with_edge) b.AddEdge(before, send, 0, proto::REUSE, proto::PIECES);
    return VerifyPlan(b.Finish(), 0);
  };
  EXPECT_TRUE(make(true).empty()) << make(true)[0].message;
  std::vector<PlanIssue> issues = make(false);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_THAT(issues[0].message, ::testing::AllOf(HasSubstr("gang 'before'"),
                                                  HasSubstr("send 'm.send'")));
}

// Ten thousand gangs that take turns in two places: the size that must stay
// quick. Also with one fault in the middle, which must be found.
TEST(VerifyTest, LongChainsInTwoPlaces) {
  ChainBuilder b({.name = "chain", .layout = Rows({64}), .credits = 1});
  std::vector<uint32_t> odd, even;
  for (int i = 0; i < 10000; ++i) {
    (i % 2 == 0 ? even : odd).push_back(b.Gang("g" + std::to_string(i)).last());
  }
  b.ShareMemory(odd);
  b.ShareMemory(even);
  proto::Plan plan = b.Finish();
  std::vector<PlanIssue> issues = VerifyPlan(plan, 0);
  ASSERT_TRUE(issues.empty()) << issues[0].message;
  plan.mutable_buffers(5000)->set_offset(plan.buffers(5001).offset());
  issues = VerifyPlan(plan, 0);
  ASSERT_FALSE(issues.empty());
  EXPECT_THAT(issues[0].message, HasSubstr("'g4999' and 'g5000'"));
}

// Very many readers outside gangs, shared with very many others: refused, or
// it would take the square of the plan's size.
TEST(VerifyTest, SharingIsBoundedInWork) {
  PlanBuilder b("work", 1);
  uint32_t s = b.AddSlice("s", {}, 0);
  layout::Layout large{{128 * 3000}, {{}}, {}, layout::Reduction::kNone};
  layout::Layout small{{32}, {{}}, {}, layout::Reduction::kNone};
  uint32_t a = b.AddBuffer("a", s, large);
  std::vector<uint32_t> shared = {a};
  b.AddGang("write", s, {}, {a});
  for (int i = 0; i < 3000; ++i) b.AddFetch("f" + std::to_string(i), a);
  uint32_t first = b.plan().actions_size();
  for (int i = 0; i < 3000; ++i) {
    uint32_t next = b.AddBuffer("b" + std::to_string(i), s, small);
    shared.push_back(next);
    b.AddGang("g" + std::to_string(i), s, {}, {next});
  }
  for (uint32_t f = 1; f < first; ++f)
    b.AddEdge(f, first, 0, proto::REUSE, proto::SAME);
  b.ShareMemory(shared);
  proto::Plan plan = b.Finish();
  for (size_t i = 1; i < shared.size(); ++i)
    plan.mutable_buffers(shared[i])->set_offset(128 * i);
  std::vector<PlanIssue> issues = VerifyPlan(plan, 0);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_THAT(issues[0].message, HasSubstr("takes too long"));
}

TEST(TablesTest, DeviceOf) {
  PlanBuilder b("devices", 1);
  b.AddSlice("wrap", {{"x", 2}, {"y", 3}}, 0, /*base=*/1, /*span=*/4);
  b.AddSlice("list", {{"x", 2}}, 0);
  auto* list = b.plan().mutable_slices(1)->mutable_binding()->mutable_list();
  list->add_devices(3);
  list->add_devices(1);
  std::vector<int64_t> devices;
  for (int64_t s = 0; s < 6; ++s)
    devices.push_back(
        DeviceOf(b.plan().slices(0), s).value_or(BoundDevice{0, -1}).device);
  EXPECT_THAT(devices, ::testing::ElementsAre(1, 2, 3, 4, 1, 2));
  EXPECT_EQ(DeviceOf(b.plan().slices(1), 0), (BoundDevice{0, 3}));
  EXPECT_EQ(DeviceOf(b.plan().slices(1), 1), (BoundDevice{0, 1}));
  EXPECT_FALSE(DeviceOf(b.plan().slices(1), 2).has_value());
  EXPECT_FALSE(DeviceOf(b.plan().slices(1), -1).has_value());
  EXPECT_FALSE(DeviceOf(proto::Slice(), 0).has_value());

  // Over islands, in equal runs.
  proto::IslandRun* run =
      b.plan().mutable_slices(0)->mutable_binding()->add_more();
  run->set_island(7);
  run->set_base(5);
  EXPECT_EQ(DeviceOf(b.plan().slices(0), 2), (BoundDevice{0, 3}));
  EXPECT_EQ(DeviceOf(b.plan().slices(0), 3), (BoundDevice{7, 8}));
  run = b.plan().mutable_slices(1)->mutable_binding()->add_more();
  run->set_island(2);
  EXPECT_EQ(DeviceOf(b.plan().slices(1), 1), (BoundDevice{2, 1}));
  b.plan().mutable_slices(1)->mutable_binding()->add_more();
  EXPECT_FALSE(DeviceOf(b.plan().slices(1), 1).has_value());
}

TEST(VerifyTest, RunsOfIslandsAreEqualAndHaveDevices) {
  PlanBuilder b("devices", 1);
  b.AddSlice("s", {{"x", 4}}, 0);
  proto::Plan plan = b.Finish();
  proto::Binding* binding = plan.mutable_slices(0)->mutable_binding();
  binding->add_more();
  EXPECT_TRUE(VerifyPlan(plan, 0).empty());
  for (int64_t base : {int64_t{-1}, int64_t{1} << 31, INT64_MAX, INT64_MIN}) {
    binding->mutable_more(0)->set_base(base);
    const std::vector<PlanIssue> issues = VerifyPlan(plan, 0);
    ASSERT_EQ(issues.size(), 1u) << base;
    EXPECT_THAT(issues[0].message, HasSubstr("is bound from "));
  }
  binding->mutable_more(0)->set_base(0);
  binding->add_more();
  const std::vector<PlanIssue> issues = VerifyPlan(plan, 0);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_THAT(
      issues[0].message,
      HasSubstr("is bound to 3 islands, which do not divide its 4 shards"));
}

TEST(TablesTest, GroupsAreRankedByTheirAxesAsNamed) {
  const layout::Mesh mesh = {{"a", 2}, {"b", 3}, {"c", 2}};
  proto::Collective c;
  EXPECT_THAT(GroupOf(mesh, c, 7), ::testing::ElementsAre(7));
  c.add_axes("c");
  c.add_axes("a");
  EXPECT_THAT(GroupAxes(mesh, c), ::testing::ElementsAre(2, 2));
  // Shard 8 is at (1, 1, 0).
  EXPECT_THAT(GroupOf(mesh, c, 8), ::testing::ElementsAre(2, 8, 3, 9));
  EXPECT_THAT(GroupOf(mesh, c, 3), ::testing::ElementsAre(2, 8, 3, 9));
  for (int64_t shard = 0; shard < 12; ++shard) {
    const std::vector<int32_t> members = GroupOf(mesh, c, shard);
    const GroupPlace place = GroupPlaceOf(mesh, c, shard);
    EXPECT_EQ(place.first, members[0]);
    EXPECT_EQ(members[place.rank], shard);
  }
}

TEST(TablesTest, PermutesShift) {
  auto all = [](int64_t shift, bool wrap) {
    proto::Collective c;
    c.set_shift(shift);
    c.set_wrap(wrap);
    return PermuteSources(c, 3);
  };
  EXPECT_THAT(all(1, true), ::testing::ElementsAre(2, 0, 1));
  EXPECT_THAT(all(-4, true), ::testing::ElementsAre(1, 2, 0));
  EXPECT_THAT(all(1, false), ::testing::ElementsAre(-1, 0, 1));
  EXPECT_THAT(all(-2, false), ::testing::ElementsAre(2, -1, -1));
  EXPECT_THAT(all(INT64_MAX, false), ::testing::ElementsAre(-1, -1, -1));
  EXPECT_THAT(all(INT64_MIN, false), ::testing::ElementsAre(-1, -1, -1));
  EXPECT_EQ(all(INT64_MIN, true).size(), 3u);
}

TEST(TablesTest, PairsAndBroadcasts) {
  proto::Collective c;
  for (int64_t rank : {0, 2, 2, 0, 2, 1}) c.add_pairs(rank);
  EXPECT_THAT(PermuteSources(c, 4), ::testing::ElementsAre(2, 2, 0, -1));
  c.Clear();
  c.set_kind(proto::BROADCAST);
  c.set_root(2);
  EXPECT_THAT(PermuteSources(c, 3), ::testing::ElementsAre(2, 2, 2));
}

TEST(TablesTest, SizesAndNames) {
  proto::Plan plan = SamplePlan();
  Edit edit(&plan);
  EXPECT_EQ(NumShards(plan.slices(0)), 2);
  EXPECT_THAT(ShardShape(plan, *edit.Buffer("t")),
              ::testing::ElementsAre(4, 3));
  EXPECT_EQ(ShardBytes(plan, *edit.Buffer("t")), 48u);
  EXPECT_EQ(SpanBytes(*edit.Buffer("w")), 128u + 48u);
  EXPECT_EQ(SegmentBytes(plan, 1, proto::DEVICE), 256u + 128u + 24u);
  EXPECT_EQ(SegmentBytes(plan, 1, proto::HOST), 0u);
  EXPECT_THAT(GroupAxes(MeshOf(plan.slices(0)), *edit.Reduce()),
              ::testing::ElementsAre(2));
  EXPECT_EQ(EntryOf(plan, edit.A("m.recv")), edit.A("m.send"));
  EXPECT_EQ(EntryOf(plan, edit.A("layer0")), edit.A("layer0"));
  EXPECT_EQ(elementBytes(proto::BF16), 2);
  EXPECT_EQ(elementBytes(static_cast<proto::ElementType>(77)), 0);
  EXPECT_EQ(ShapeText({2, 3}, proto::I1), "2x3xi1");
  EXPECT_EQ(ShapeText({}, proto::ELEMENT_TYPE_UNSPECIFIED), "unknown");
  EXPECT_STREQ(ReductionName(proto::MIN), "min");
  for (int kind = proto::ADD; kind <= proto::ReductionKind_MAX; ++kind) {
    const auto reduction = static_cast<proto::ReductionKind>(kind);
    EXPECT_EQ(ReductionKindOf(ReductionOf(reduction)), reduction);
    EXPECT_STRNE(ReductionName(reduction), "unknown");
  }
  EXPECT_EQ(KernelElement(proto::UI16), proto::I16);
  EXPECT_EQ(KernelElement(proto::BF16), proto::BF16);
  EXPECT_EQ(WhyNotReduced(proto::UMAX, proto::I32), "");
  EXPECT_EQ(WhyNotReduced(proto::ADD, proto::UI8), "");
  EXPECT_EQ(WhyNotReduced(proto::OR, proto::F64),
            "expected integers, got or of f64");
  EXPECT_EQ(WhyNotReduced(proto::MIN, proto::UI16),
            "expected umin for unsigned integers, got min of ui16");
  EXPECT_STREQ(ActionKindName(static_cast<proto::ActionKind>(9)), "unknown");
  EXPECT_EQ(Quoted(std::string(500, 'a')).size(), 2u + 64 + 3 + 64);
  layout::Layout layout = LayoutOf(plan.layouts(1));
  EXPECT_EQ(ToProto(layout, proto::F32).SerializeAsString(),
            plan.layouts(1).SerializeAsString());
}

}  // namespace
}  // namespace pathways::testing
