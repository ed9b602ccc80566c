//===- guard_test.cc - Actions that work only where a guard says so -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;

class GuardTest : public InWorldTest {};
INSTANTIATE_TEST_SUITE_P(Worlds, GuardTest, BothWorlds(), WorldName);

// The flag is the second operand. Fails where the first one is -7.
int32_t TakeFlag(void* const* buffers, const int32_t*, void*, uint64_t) {
  *static_cast<char*>(buffers[2]) = *static_cast<const char*>(buffers[1]);
  return *static_cast<const float*>(buffers[0]) == -7;
}

HostArray Flag(bool value) {
  HostArray array;
  array.element = ElementType::kI1;
  array.data.assign(1, static_cast<char>(value));
  return array;
}

// If p, y is the sum of u over all shards, and the program fails where u is
// negative. Else y = u + 1, where u goes to the devices from `base` on and
// back. p is poisoned on each shard where u is -7.
proto::Plan BranchPlan(int64_t base) {
  PlanBuilder b("branch", 2);
  const uint32_t s = b.AddSlice("s", {{"x", 2}}, 0, 0);
  const uint32_t r = b.AddSlice("r", {{"x", 2}}, 0, base);
  const auto buffer = [&](const char* name, uint32_t slice) {
    return b.AddBuffer(name, slice, Rows({2}), 2);
  };
  const uint32_t u = buffer("u", s), t = buffer("t", s), a = buffer("a", s),
                 y = buffer("y", s), m = buffer("m", r), n = buffer("n", s);
  const uint32_t p = b.AddBuffer("p", s, Whole({}), 2, proto::I1);
  const uint32_t q = b.AddBuffer("q", s, Whole({}), 2, proto::I1);
  b.AddFeed("u", u);
  b.AddFeed("p", p);
  AddRun(b, b.AddGang("flag", s, {u, p}, {q}), "take_flag");
  const uint32_t then = b.AddGang("then", s, {u}, {t, a});
  AddRun(b, then, "check1");
  proto::Collective* sum = AddCollective(b, then, proto::ALL_REDUCE, "x");
  sum->set_source(t);
  sum->set_result(a);
  b.AddGuard(then, q);
  b.AddGuard(b.AddMove("there", u, m).first, q, /*unless=*/true);
  b.AddMove("back", m, n);
  const uint32_t other = b.AddGang("else", s, {n}, {y});
  AddRun(b, other, "add_one1");
  b.plan().mutable_actions(other)->add_operands(a);
  b.AddAlias(other, a, y);
  b.ShareMemory({a, y});
  b.AddGuard(other, q, /*unless=*/true);
  // a takes the place of y two firings later.
  b.AddEdge(b.AddFetch("y", y), then, 2, proto::REUSE, proto::SAME);
  return b.Finish();
}

RunHandle Begin(Client& runtime, ProgramHandle program, bool flag,
                const std::vector<float>& u) {
  return LaunchPlan(runtime, program, {Floats({2}, u), Flag(flag)}, 3);
}

TEST_P(GuardTest, OnlyTheBranchThatIsTakenWorks) {
  Kernels().functions["take_flag"] = TakeFlag;
  for (const char* topology : {"1x1x4", "1x2x2", "1x4x1"}) {
    SCOPED_TRACE(topology);
    auto runtime = Start(topology, Options());
    const ProgramHandle program = LoadPlan(*runtime, BranchPlan(2));
    for (int i = 0; i < 4; ++i) {
      const RunHandle yes = Begin(*runtime, program, true, {3, 4});
      const RunHandle no = Begin(*runtime, program, false, {-3, 4});
      EXPECT_THAT(FetchValues(*runtime, yes, "y"), ElementsAre(7, 7));
      EXPECT_THAT(FetchValues(*runtime, no, "y"), ElementsAre(-2, 5));
    }
    const RunHandle failed = Begin(*runtime, program, true, {-3, 4});
    EXPECT_FALSE(runtime->Fetch(failed, "y").ok());
  }
}

// One shard does not know the flag. It meets the other one in the collective,
// whatever that shard does there.
TEST_P(GuardTest, APoisonedGuardPoisonsTheFiring) {
  Kernels().functions["take_flag"] = TakeFlag;
  for (const char* topology : {"1x1x4", "1x2x2", "1x4x1"}) {
    SCOPED_TRACE(topology);
    auto runtime = Start(topology, Options());
    const ProgramHandle program = LoadPlan(*runtime, BranchPlan(2));
    for (bool flag : {false, true}) {
      const RunHandle bad = Begin(*runtime, program, flag, {-7, 4});
      EXPECT_FALSE(runtime->Fetch(bad, "y").ok());
      const RunHandle good = Begin(*runtime, program, flag, {3, 4});
      EXPECT_THAT(FetchValues(*runtime, good, "y"),
                  flag ? ElementsAre(7, 7) : ElementsAre(4, 5));
    }
  }
}

}  // namespace
}  // namespace pathways::testing
