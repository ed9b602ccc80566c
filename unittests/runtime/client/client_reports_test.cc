//===- client_reports_test.cc - Reports of processes to a client ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <sstream>
#include <string>

#include "runtime/client/client.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ClientReportsTest
    : public ::testing::TestWithParam<ClusterOptions::WorldKind> {
 protected:
  ClusterOptions Options() {
    ClusterOptions options;
    options.world = GetParam();
    options.seed = 7;
    options.trace_events = 1000;
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Worlds, ClientReportsTest, BothWorlds(), WorldName);

TEST_P(ClientReportsTest, StatisticsAreOfAllHostsAndOfTheClientThatAsks) {
  auto runtime = Start("2x2x2", Options());
  const std::unique_ptr<Client> bo = runtime.Connect("bo");
  const ProgramHandle program = LoadPlan(*runtime, GoldenPlan(kThreeHosts));
  const RunHandle run = LaunchPlan(*runtime, program, {Floats({2}, {1, 2})}, 5);
  EXPECT_TRUE(runtime->Await(run).ok());
  const ArrayHandle array = *runtime->Put(Floats({3}, {1, 2, 3}));
  const ClusterStats stats = StatsOf(*runtime);
  EXPECT_EQ(stats.programs, 1u);
  EXPECT_EQ(stats.steps_done, 5u);
  ASSERT_EQ(stats.hosts.size(), 4u);
  EXPECT_EQ(stats.hosts[3].name, "host3");
  ASSERT_EQ(stats.devices.size(), 8u);
  EXPECT_EQ(stats.devices[0].gangs_run, 10u);  // a and a2
  // Its own array is with it, and two results are on hosts, once each.
  EXPECT_EQ(stats.object_bytes, 12u + 16u);
  EXPECT_EQ(StatsOf(*bo).object_bytes, 16u);
  EXPECT_TRUE(runtime->ReleaseRun(run).ok());
  EXPECT_TRUE(runtime->Release(array).ok());
  EXPECT_EQ(StatsOf(*runtime).object_bytes, 0u);
  EXPECT_GE(StatsOf(*runtime).now_ns, stats.now_ns);
}

TEST_P(ClientReportsTest, ATraceSaysOfWhatItIs) {
  auto runtime = Start("2x1x2", Options());
  std::ostringstream text;
  EXPECT_TRUE(runtime->WriteTrace(&text).ok());
  EXPECT_THAT(text.str(),
              HasSubstr("\"topology\":\"2 islands x 1 host x 2 cpu devices"));
  if (GetParam() == ClusterOptions::kSim) {
    EXPECT_THAT(text.str(), AllOf(HasSubstr("\"world\":\"sim\""),
                                  HasSubstr("\"seed\":\"7\"")));
  } else {
    EXPECT_THAT(text.str(), AllOf(HasSubstr("\"world\":\"threads\""),
                                  HasSubstr("\"workers\":\"2\"")));
  }
  EXPECT_EQ(runtime->Summarize()->wall_ns(), 0);
}

TEST_P(ClientReportsTest, NothingIsToldToOneThatIsClosed) {
  auto runtime = Start("1x1x1", Options());
  const std::unique_ptr<Client> bo = runtime.Connect("bo");
  bo->Close();
  const absl::Status closed =
      absl::CancelledError("client 'bo' was closed [PW6105]");
  EXPECT_EQ(bo->Stats().status(), closed);
  EXPECT_EQ(bo->Summarize().status(), closed);
  std::ostringstream text;
  EXPECT_EQ(bo->WriteTrace(&text), closed);
  EXPECT_EQ(text.str(), "");
}

}  // namespace
}  // namespace pathways::testing
