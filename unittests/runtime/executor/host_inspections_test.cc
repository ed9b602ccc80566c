//===- host_inspections_test.cc - Reports of what a host waits for --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_inspections.h"

#include <gtest/gtest.h>

#include <vector>

#include "unittests/runtime/executor/outbox_test_support.h"

namespace pathways::testing {
namespace {

class HostInspectionsTest : public OutboxTest {
 protected:
  void Query(uint64_t round) {
    proto::Query query;
    query.set_program(2);
    query.set_incarnation(7);
    query.set_round(round);
    inspections_.OnQuery(query);
  }
  void Answer(uint32_t device) {
    LocalMessage message;
    message.program = 2;
    message.item = device;
    inspections_.OnInspected(message);
  }
  // Takes the only message, which is a report, and returns its round.
  uint64_t Round() {
    const std::vector<Sent> sent = world.Take();
    EXPECT_EQ(sent.size(), 1u);
    if (sent.empty()) return 0;
    const auto report = sent[0].As<proto::Control>().report();
    EXPECT_EQ(report.program(), 2u);
    EXPECT_EQ(report.incarnation(), 7u);
    return report.round();
  }

  LostDevices lost_;
  HostExchanges exchanges_{&topology, &outbox_};
  HostInspections inspections_{0, 2, &programs_, &lost_, &exchanges_, &outbox_};
};

TEST_F(HostInspectionsTest, ReportsOnceAllDevicesHaveAnswered) {
  Query(4);
  const std::vector<Sent> asked = world.Take();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].local.kind, kInspect);
  EXPECT_EQ(asked[1].local_to, actors_.devices[1]);
  Answer(1);
  Answer(1);
  Query(5);  // shares the answer
  EXPECT_TRUE(world.Take().empty());
  Answer(0);
  EXPECT_EQ(Round(), 5u);
  Answer(0);
  EXPECT_TRUE(world.Take().empty());
}

TEST_F(HostInspectionsTest, DoesNotWaitForUnresponsiveDevices) {
  Query(1);
  world.Take();
  Answer(0);
  inspections_.DropDevices({0, 1});
  EXPECT_EQ(Round(), 1u);
  proto::WorkerLost loss;
  loss.add_devices(0);
  loss.add_devices(1);
  lost_.Add(loss, /*unresponsive=*/true);
  Query(2);
  EXPECT_EQ(Round(), 2u);
}

}  // namespace
}  // namespace pathways::testing
