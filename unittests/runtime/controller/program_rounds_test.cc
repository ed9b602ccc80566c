//===- program_rounds_test.cc - Rounds of messages about programs ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/program_rounds.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProgramRoundsTest : public TablesTest {
 protected:
  void Answer(uint32_t program, ProgramTable::State state, int32_t host) {
    programs_.Answered(world_.Now(), state, program,
                       programs_.Find(program)->incarnation, host,
                       absl::OkStatus());
  }
};

TEST_F(ProgramRoundsTest, HostsAreAskedForWhatTheStateSays) {
  const uint32_t p = AddProgram(1);
  rounds_.Send(p);
  EXPECT_THAT(Sent(),
              ElementsAre("load_program to host0", "load_program to host1"));
  Answer(p, ProgramTable::State::kLoading, 0);
  rounds_.Send(p);
  EXPECT_THAT(Sent(), ElementsAre("load_program to host1"));
  Answer(p, ProgramTable::State::kLoading, 1);
  ASSERT_TRUE(programs_
                  .Unload(world_.Now(), programs_.Find(p)->incarnation, {1, 3},
                          /*launches=*/0)
                  .ok());
  rounds_.Send(p);
  EXPECT_THAT(Sent(),
              ElementsAre("stop_program to host0", "stop_program to host1"));
  for (int32_t host : {0, 1}) Answer(p, ProgramTable::State::kStopping, host);
  rounds_.Send(p);
  EXPECT_THAT(Sent(),
              ElementsAre("free_program to host0", "free_program to host1"));
  for (int32_t host : {0, 1}) Answer(p, ProgramTable::State::kFreeing, host);
  rounds_.Send(p);  // it is gone
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(ProgramRoundsTest, ALoadNamesTheHostsThatWereReplaced) {
  ASSERT_TRUE(epochs_.Down(1, 1));
  ASSERT_TRUE(epochs_.Up(1, 2));
  const uint32_t p = AddProgram(1);
  rounds_.Send(p);
  const auto load = world_.Take()[0].As<proto::Control>().load_program();
  EXPECT_EQ(load.program(), p);
  ASSERT_THAT(load.lives(), SizeIs(1));
  EXPECT_EQ(load.lives(0).host(), 1u);
  EXPECT_EQ(load.lives(0).restarts(), 1u);
}

}  // namespace
}  // namespace pathways::testing
