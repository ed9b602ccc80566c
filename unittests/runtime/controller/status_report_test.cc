//===- status_report_test.cc - Status of the controller's tables ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/status_report.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/protocol/client_id.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::SizeIs;

class StatusReportTest : public ::testing::Test {
 protected:
  StatusReportTest() {
    std::vector<ClientAnswer> answers;
    clients_.Connect({1, 1}, "ann",
                     {.weight = 2, .priority = 3, .quota_bytes = 4000},
                     &answers);
  }

  const Topology topology_ = MakeTopology("1x2x2");
  ObjectTable objects_;
  LaunchTable launches_{&objects_};
  ProgramTable programs_{topology_, /*timeout_ns=*/100};
  GrantOrder grants_{*MakePolicy(kPolicyNames[0])};
  LoadQueue loads_{&programs_.admission()};
  ClientTable clients_;
  const StatusReport report_{topology_, clients_, programs_, launches_,
                             grants_,   objects_, loads_};
};

TEST_F(StatusReportTest, AnEmptyClusterHasNothingButItsClients) {
  const proto::ControllerStatus status = report_.Describe(0);
  EXPECT_THAT(status.programs(), SizeIs(0));
  EXPECT_THAT(status.away(), SizeIs(0));
  ASSERT_THAT(status.clients(), SizeIs(1));
  EXPECT_EQ(status.clients(0).name(), "ann");
  EXPECT_EQ(status.clients(0).weight(), 2);
  EXPECT_EQ(status.clients(0).priority(), 3);
  EXPECT_EQ(status.clients(0).quota_bytes(), 4000u);
}

TEST_F(StatusReportTest, AClientIsDescribedByWhatItHas) {
  const auto next = programs_.Load(0, Prepare(MovePlan("p", 2), topology_),
                                   PlanName(), "ann", {1, 2});
  ASSERT_TRUE(next.ok()) << next.status();
  clients_.AddProgram(1, programs_.Find(next->program)->incarnation);
  const std::vector<uint32_t> hosts = {0, 1};
  const std::vector<uint64_t> bytes = {30, 40};
  objects_.Add(ClientId(1, 1), hosts, bytes, /*held=*/true, /*filling=*/0,
               /*arriving=*/false);
  const proto::ControllerStatus status = report_.Describe(0);
  ASSERT_THAT(status.programs(), SizeIs(1));
  EXPECT_EQ(status.programs(0).name(), "p");
  EXPECT_EQ(status.programs(0).client(), "ann");
  EXPECT_EQ(status.programs(0).state(), "loading");
  EXPECT_GT(status.programs(0).device_bytes(), 0u);
  ASSERT_THAT(status.clients(), SizeIs(1));
  EXPECT_EQ(status.clients(0).programs(), 1u);
  EXPECT_EQ(status.clients(0).device_bytes(),
            status.programs(0).device_bytes());
  EXPECT_EQ(status.clients(0).arrays(), 1u);
  EXPECT_EQ(status.clients(0).array_bytes(), 70u);
}

TEST_F(StatusReportTest, DevicesThatAreAwayAreNamedByHostIfAllOfThemAre) {
  for (int64_t device : {0, 1, 2}) programs_.Drain(device, true);
  const proto::ControllerStatus status = report_.Describe(0);
  ASSERT_THAT(status.away(), SizeIs(2));
  EXPECT_EQ(status.away(0).name(), topology_.HostName(0));
  EXPECT_EQ(status.away(0).devices(), 2u);
  EXPECT_EQ(status.away(0).why(), "drained");
  EXPECT_EQ(status.away(1).name(), topology_.GlobalDeviceName(2));
  EXPECT_EQ(status.away(1).devices(), 1u);
}

TEST_F(StatusReportTest, AWaitingLoadTellsSinceWhenAndWhy) {
  const auto plan = Prepare(MovePlan("p", 2), topology_);
  LoadQueue::Load load{{1, 3}, {}};
  load.programs.push_back({{}, plan});
  load.need = Admission::NeedOf(*plan);
  load.since = 1'000'000;
  std::string why;
  ASSERT_TRUE(
      loads_
          .Add(
              load,
              [this](uint32_t client) { return clients_.LabelOf(client); },
              &why)
          .ok());
  const proto::ControllerStatus status = report_.Describe(5'000'000);
  ASSERT_THAT(status.waiting_loads(), SizeIs(1));
  EXPECT_EQ(status.waiting_loads(0).client(), "ann");
  EXPECT_EQ(status.waiting_loads(0).program(), "p");
  EXPECT_EQ(status.waiting_loads(0).why(), why);
  EXPECT_EQ(status.waiting_loads(0).since_ms(), 4u);
}

}  // namespace
}  // namespace pathways::testing
