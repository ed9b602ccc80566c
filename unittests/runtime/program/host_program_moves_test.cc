//===- host_program_moves_test.cc - Destinations of tokens and pieces -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/program/host_program_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Returns how many tokens of each type `action` passes on.
std::map<int, int> TokensOf(const HostProgram& program, int device,
                            const std::string& action) {
  std::map<int, int> types;
  const DeviceProgram& of = *program.devices[device];
  const uint32_t a = ActionOf(*program.plan, action);
  for (const Entry& entry : of.entries) {
    if (entry.action != a) continue;
    for (uint32_t t = entry.out_begin; t < entry.out_end; ++t) {
      ++types[of.out[t].type];
    }
  }
  return types;
}

TEST(HostProgramMovesTest, ACreditGoesToTheSenderWhereverItIs) {
  const Topology topology = MakeTopology("2x1x1");
  const auto plan = Prepare(MovePlan("p", 1, 0, 1), topology);
  TestHost host(topology, /*host=*/1);
  const auto program = host.MustBuild(plan);
  // To fetch, here; to the send, there.
  EXPECT_EQ(TokensOf(*program, 0, "second")[OutToken::kOtherHost], 1);
  EXPECT_EQ(TokensOf(*program, 0, "second")[OutToken::kSameDevice], 1);
}

TEST(HostProgramMovesTest, DevicesOfAWorkerAreNearAndOthersArePeers) {
  const Topology topology = MakeTopology("1x1x3");
  const auto plan = Prepare(
      TransferPlan({.slice = {.shards = 1}, .layout = Rows({2})}, {.base = 1}),
      topology);
  TestHost host(topology, 0, /*cohorts=*/{0, 0, 1});
  const auto program = host.MustBuild(plan);
  const DeviceProgram& from = *program->devices[0];
  ASSERT_THAT(from.pieces, SizeIs(2));
  EXPECT_EQ(from.pieces[0].token.type, OutToken::kSameWorker);
  EXPECT_EQ(from.pieces[0].token.where, 1u);
  EXPECT_EQ(from.pieces[1].token.type, OutToken::kSameHost);
  EXPECT_EQ(from.pieces[1].token.where, IndexOf(host.actors().devices[2]));
}

}  // namespace
}  // namespace pathways::testing
