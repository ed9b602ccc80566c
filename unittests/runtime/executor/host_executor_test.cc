//===- host_executor_test.cc - Messages to a host from other actors -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unittests/runtime/executor/executor_test_support.h"

namespace pathways::testing {
namespace {

using proto::Control;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(HostExecutorTest, DropsWhatIsOfAProgramOfBefore) {
  RecordedHost host("1x1x2");
  host.Load(MovePlan("p", 2));
  host.NotifyFromController(Stop(0));
  EXPECT_THAT(Done(host.Grant(7, 3, 0, 0, 2, 0, 2)), ElementsAre(3));
}

// A send to another island, whose credits that host gives back.
TEST(HostExecutorTest, CountsWireMessagesThatItDrops) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  WireMessage message;
  message.kind = kTokenMessage;
  message.incarnation = 1;
  message.sequence = 1;
  message.target = UINT32_MAX;
  const HostCounters& counters = host.executor->counters();
  host.NotifyWire(1, message);
  EXPECT_EQ(counters.duplicates.get(), 0u);
  host.NotifyWire(1, message);
  EXPECT_EQ(counters.duplicates.get(), 1u);
  message.sequence = 2;
  message.incarnation = 9;
  host.NotifyWire(1, message);
  EXPECT_EQ(counters.stale.get(), 1u);
  EXPECT_EQ(counters.foreign.get(), 0u);
  host.NotifyWire(0, message);  // itself
  message.kind = 0;
  host.NotifyWire(1, message);
  message.kind = kNumWireKinds;
  host.NotifyWire(1, message);
  EXPECT_EQ(counters.foreign.get(), 3u);
}

// The host takes messages of the other host's current epoch, which the links
// between processes or the load of a program announce.
TEST(HostExecutorTest, TakesOnlyWhatIsOfTheLifeOfTheOtherHost) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  const HostCounters& counters = host.executor->counters();
  WireMessage message;
  message.kind = kTokenMessage;
  message.incarnation = 1;
  message.target = UINT32_MAX;
  message.to_epoch = 1;
  uint64_t stale = 0;
  auto comes = [&](uint32_t epoch, uint64_t sequence) {
    message.from_epoch = epoch;
    message.sequence = sequence;
    host.executor->OnWire(host.directory().executor(1), message, {});
    const bool came = counters.stale.get() == stale;
    stale = counters.stale.get();
    return came;
  };
  EXPECT_TRUE(comes(1, 1));
  EXPECT_FALSE(comes(2, 1));  // not announced
  host.executor->OnPeer({1, 1, /*is_up=*/false});
  EXPECT_FALSE(comes(1, 2));
  host.executor->OnPeer({1, 2, /*is_up=*/true});
  EXPECT_TRUE(comes(2, 1));
  EXPECT_FALSE(comes(1, 3));
  host.executor->OnPeer({1, 1, /*is_up=*/false});  // late
  EXPECT_TRUE(comes(2, 2));
  EXPECT_EQ(counters.duplicates.get(), 0u);
  // A load may say so first, whatever comes of it.
  Control load;
  load.mutable_load_program()->set_program(1);
  load.mutable_load_program()->set_incarnation(2);
  proto::HostEpoch* life = load.mutable_load_program()->add_lives();
  life->set_host(1);
  life->set_restarts(2);
  host.NotifyFromController(load);
  EXPECT_FALSE(comes(2, 3));
  EXPECT_TRUE(comes(3, 1));
  host.executor->OnPeer({1, 3, /*is_up=*/true});
  EXPECT_TRUE(comes(3, 2));
  // Hosts that there are not.
  host.executor->OnPeer({2, 1, /*is_up=*/false});
  host.executor->OnPeer({-1, 1, /*is_up=*/true});
}

// The controller or the scheduler sent these messages to the epoch before.
TEST(HostExecutorTest, DropsWhatIsForAnotherLife) {
  RecordedHost host("1x1x1");
  Control stop = Stop(1);
  stop.set_restarts(1);
  EXPECT_THAT(host.NotifyFromController(stop), IsEmpty());
  EXPECT_EQ(host.executor->counters().stale.get(), 1u);

  RecordedHost again("1x1x1", /*host=*/0, {}, /*has_values=*/false,
                     /*epoch=*/2);
  EXPECT_THAT(again.NotifyFromController(Stop(1)), IsEmpty());
  const std::vector<Sent> sent = again.NotifyFromController(stop);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].As<Control>().restarts(), 1u);
}

TEST(HostExecutorTest, DropsWhatItsSenderMayNotSay) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  const ActorId strangers[] = {
      kNoActor, host.directory().client(0), host.directory().executor(1),
      host.directory().scheduler(1), host.directory().scheduler(0)};
  for (ActorId stranger : strangers) {
    EXPECT_THAT(host.Notify(stranger, Stop(1)), IsEmpty()) << stranger;
  }
  EXPECT_EQ(host.executor->counters().foreign.get(), 5u);
  EXPECT_THAT(host.NotifyFromController(Stop(1)), SizeIs(1));
}

}  // namespace
}  // namespace pathways::testing
