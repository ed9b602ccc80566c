//===- stall_rounds_test.cc - Queries about stalled programs --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/stall_rounds.h"

#include "unittests/runtime/controller/tables_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StallRoundsTest : public TablesTest {
 protected:
  // Begins a launch of a program.
  uint32_t Run() {
    const uint32_t program = LoadProgram(1);
    Begin(AddLaunch(1, 1, program));
    return program;
  }
  // Returns the report of a host all of whose granted work is done.
  static proto::Report Report(const proto::Query& query, uint32_t host) {
    proto::Report report;
    report.set_round(query.round());
    report.set_program(query.program());
    report.set_incarnation(query.incarnation());
    report.set_host(host);
    report.set_granted(1);
    return report;
  }
  proto::Query LastQuery() {
    return world_.Take().back().As<proto::Control>().query();
  }

  std::vector<std::string> given_up_;
  StallRounds rounds_{
      topology_,
      kTimeout,
      programs_,
      open_,
      &outbox_,
      &clock_,
      [this](uint32_t program, const absl::Status& why) {
        given_up_.push_back(absl::StrCat(program, " ", why.message()));
        launches_.Abort(program, why, &effects_);
      }};
};

TEST_F(StallRoundsTest, ThereIsNothingToAskWithoutLaunches) {
  rounds_.Tick();
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(StallRoundsTest, EachTickAsksAllHostsOfRunningPrograms) {
  Run();
  rounds_.Tick();
  EXPECT_THAT(Sent(), ElementsAre("query to host0", "query to host1"));
  rounds_.Tick();
  EXPECT_THAT(Sent(), ElementsAre("query to host0", "query to host1"));
  EXPECT_THAT(given_up_, IsEmpty());
}

TEST_F(StallRoundsTest, AStalledProgramIsGivenUpBeforeTheDiagnosisIsAnswered) {
  const uint32_t program = Run();
  rounds_.Diagnose({2, 7});
  const proto::Query query = LastQuery();
  EXPECT_EQ(query.program(), program);
  rounds_.Take(Report(query, 0));
  EXPECT_THAT(given_up_, IsEmpty());
  EXPECT_THAT(Sent(), IsEmpty());
  rounds_.Take(Report(query, 1));
  ASSERT_THAT(given_up_, SizeIs(1));
  EXPECT_THAT(given_up_[0],
              HasSubstr("program 'p' is stalled: all its actions are done, but "
                        "island0 did not announce the end"));
  EXPECT_THAT(Sent(), ElementsAre("client2 7: "));
}

TEST_F(StallRoundsTest, ADiagnosisAsksHostsAgainThatDidNotAnswer) {
  Run();
  rounds_.Diagnose({2, 7});
  const proto::Query query = LastQuery();
  rounds_.Take(Report(query, 0));
  rounds_.Diagnose({2, 8});
  EXPECT_THAT(Sent(), ElementsAre("query to host1"));
  rounds_.Take(Report(query, 1));
  EXPECT_THAT(Sent(), ElementsAre("client2 7: ", "client2 8: "));
}

}  // namespace
}  // namespace pathways::testing
