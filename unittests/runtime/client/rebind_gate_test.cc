//===- rebind_gate_test.cc - Launches and rebindings of a program ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/rebind_gate.h"

#include <gtest/gtest.h>

#include "unittests/runtime/client/answered_channel.h"
#include "unittests/runtime/client/test_program.h"

namespace pathways::testing {
namespace {

class RebindGateTest : public ::testing::Test {
 protected:
  RebindGateTest() { programs_.Add(program_); }

  AnsweredChannel it_;
  const HandleOwner owner_{"ann"};
  const SharedProgram program_ = ProgramForTest(3);
  const ProgramHandle handle_ = owner_.Make<ProgramHandle>(3);
  LoadedPrograms programs_;
  RebindGate gate_{&it_.channel, &owner_, &it_.world, &programs_};
};

TEST_F(RebindGateTest, CallsDoNotWaitForEachOther) {
  EXPECT_EQ(*gate_.BeginCall(handle_), program_);
  EXPECT_TRUE(gate_.BeginCall(handle_).ok());
  EXPECT_EQ(program_->calls().load(), 2);
  gate_.EndCall(*program_);
  gate_.EndCall(*program_);
  EXPECT_EQ(program_->calls().load(), 0);
  EXPECT_EQ(it_.world.notified, 0);
}

TEST_F(RebindGateTest, ARebindingWaitsForCalls) {
  EXPECT_TRUE(gate_.BeginCall(handle_).ok());
  int waits = 0;
  it_.world.on_wait = [&] {
    ++waits;
    gate_.EndCall(*program_);
  };
  EXPECT_TRUE(gate_.BeginRebind(handle_).ok());
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(it_.world.notified, 1);
}

TEST_F(RebindGateTest, ACallWaitsForTheRebinding) {
  EXPECT_TRUE(gate_.BeginRebind(handle_).ok());
  int waits = 0;
  it_.world.on_wait = [&] {
    ++waits;
    gate_.EndRebind(handle_);
  };
  EXPECT_TRUE(gate_.BeginCall(handle_).ok());
  EXPECT_EQ(waits, 1);
}

TEST_F(RebindGateTest, ALostProgramIsReboundButNotCalled) {
  program_->Lose(absl::UnavailableError("its host is gone"));
  EXPECT_EQ(gate_.BeginCall(handle_).status(),
            absl::UnavailableError("program 'twice' is no longer loaded: its "
                                   "host is gone"));
  EXPECT_TRUE(gate_.BeginRebind(handle_).ok());
}

TEST_F(RebindGateTest, AWaitThatFailsLeavesTheGateOpen) {
  EXPECT_TRUE(gate_.BeginCall(handle_).ok());
  it_.context.ended = absl::UnavailableError("the cluster has ended");
  it_.world.on_wait = [&] { it_.context.stopping = true; };
  EXPECT_EQ(gate_.BeginRebind(handle_).status(), it_.context.ended);
  EXPECT_TRUE(gate_.BeginCall(handle_).ok());
}

}  // namespace
}  // namespace pathways::testing
