//===- host_executor_test.cc - What others may send it --------------------===//
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
  host.TellFromController(Stop(0));
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
  host.TellWire(1, message);
  EXPECT_EQ(counters.duplicates.get(), 0u);
  host.TellWire(1, message);
  EXPECT_EQ(counters.duplicates.get(), 1u);
  message.sequence = 2;
  message.incarnation = 9;
  host.TellWire(1, message);
  EXPECT_EQ(counters.stale.get(), 1u);
  EXPECT_EQ(counters.foreign.get(), 0u);
  host.TellWire(0, message);  // itself
  message.kind = 0;
  host.TellWire(1, message);
  message.kind = kNumWireKinds;
  host.TellWire(1, message);
  EXPECT_EQ(counters.foreign.get(), 3u);
}

TEST(HostExecutorTest, DropsWhatItsSenderMayNotSay) {
  RecordedHost host("2x1x1");
  host.Load(MovePlan("p", 1, 0, 1));
  const ActorId strangers[] = {
      kNoActor, host.directory().client(0), host.directory().executor(1),
      host.directory().scheduler(1), host.directory().scheduler(0)};
  for (ActorId stranger : strangers) {
    EXPECT_THAT(host.Tell(stranger, Stop(1)), IsEmpty()) << stranger;
  }
  EXPECT_EQ(host.executor->counters().foreign.get(), 5u);
  EXPECT_THAT(host.TellFromController(Stop(1)), SizeIs(1));
}

}  // namespace
}  // namespace pathways::testing
