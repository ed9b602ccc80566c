//===- host_exchanges_test.cc - Collectives between hosts -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_exchanges.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/executor/outbox_test_support.h"
#include "unittests/runtime/program/host_program_test_support.h"

namespace pathways::testing {
namespace {

// Host 0 of two hosts whose four devices add up a number.
class HostExchangesTest : public OutboxTest {
 protected:
  HostExchangesTest() : OutboxTest("1x2x2"), host_(topology, 0) {
    auto built =
        host_.Build(Prepare(AllReducePlan({.slice = {.shards = 4}}), topology));
    EXPECT_TRUE(built.ok()) << built.status();
    program_ = *std::move(built);
  }
  // The devices arrive at a firing. Returns the contribution of this host.
  Sent Arrive(uint64_t firing, uint16_t flags = 0) {
    LocalMessage message;
    message.flags = flags;
    message.step = firing;
    exchanges_.OnArrive(program_.get(), message);
    const std::vector<Sent> sent = world.Take();
    EXPECT_EQ(sent.size(), 1u);
    return sent.empty() ? Sent() : sent[0];
  }
  // The other host contributes what this one has contributed.
  void Contribute(int host, const Sent& own, uint16_t flags = 0) {
    WireMessage message = own.wire;
    message.flags = flags;
    const std::string bytes(own.payload.bytes, '\0');
    exchanges_.OnContribution(host, program_.get(), message,
                              {bytes.data(), bytes.size()});
  }

  TestHost host_;
  std::unique_ptr<HostProgram> program_;
  HostExchanges exchanges_{&topology, &outbox_};
};

TEST_F(HostExchangesTest, NotifiesTheDevicesOnceBothHostsHaveContributed) {
  const Sent own = Arrive(0);
  EXPECT_EQ(own.wire.kind, kContributionMessage);
  EXPECT_EQ(own.to, context.directory.executor(1));
  EXPECT_EQ(own.wire.incarnation, program_->incarnation);
  Contribute(1, own);
  const std::vector<Sent> sent = world.Take();
  ASSERT_FALSE(sent.empty());
  for (const Sent& one : sent) {
    EXPECT_EQ(one.local.kind, kGroupDone);
    EXPECT_EQ(one.local.flags, 0);
    EXPECT_EQ(one.local.step, 0u);
  }
  Contribute(1, own);  // a second one has no effect
  EXPECT_TRUE(world.Take().empty());
}

TEST_F(HostExchangesTest, PoisonsAFiringThatAnyHostHasPoisoned) {
  Contribute(1, Arrive(0), kPoisoned);
  for (const Sent& one : world.Take()) EXPECT_EQ(one.local.flags, kPoisoned);
  const Sent own = Arrive(1, kPoisoned);
  EXPECT_EQ(own.wire.flags, kPoisoned);
}

TEST_F(HostExchangesTest, IgnoresContributionsThatFitNoGroup) {
  Sent own = Arrive(0);
  EXPECT_NE(HostExchanges::Find(program_.get(), own.wire), nullptr);
  ++own.wire.shard;
  EXPECT_EQ(HostExchanges::Find(program_.get(), own.wire), nullptr);
  Contribute(1, own);
  EXPECT_TRUE(world.Take().empty());
}

TEST_F(HostExchangesTest, ReportsTheMembersOfTheHostThatItWaitsFor) {
  Arrive(0);
  HostGroup group;
  group.action = program_->groups[0].action;
  group.members = program_->groups[0].members;
  group.exchange = std::move(program_->groups[0].exchange);
  proto::StuckShard stuck;
  exchanges_.Report(*program_, group, &stuck);
  ASSERT_EQ(stuck.absent_size(), 2);
  EXPECT_EQ(stuck.absent(0), 2u);
  EXPECT_EQ(stuck.absent(1), 3u);
}

}  // namespace
}  // namespace pathways::testing
