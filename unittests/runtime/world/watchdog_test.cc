//===- watchdog_test.cc - Gates of kernels and the watchdog ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "unittests/runtime/world/await.h"

namespace pathways {
namespace {

using ::testing::ElementsAre;

TEST(KernelGateTest, SaysWhatIsInside) {
  KernelGate gate;
  EXPECT_FALSE(gate.Read());
  gate.Announce(KernelGate::Place(3, 5), 7, uint64_t{1} << 40);
  EXPECT_FALSE(gate.Read());
  gate.Enter(11, 2);
  std::optional<KernelCall> call = gate.Read();
  ASSERT_TRUE(call);
  EXPECT_EQ(call->host, 3u);
  EXPECT_EQ(call->device, 5u);
  EXPECT_EQ(call->incarnation, 7u);
  EXPECT_EQ(call->gang, 11u);
  EXPECT_EQ(call->shard, 2u);
  EXPECT_EQ(call->step, uint64_t{1} << 40);
  EXPECT_EQ(gate.Read()->number, call->number);
  gate.Leave();
  EXPECT_FALSE(gate.Read());
  gate.Enter(11, 2);
  EXPECT_NE(gate.Read()->number, call->number);
  gate.Leave();
}

TEST(KernelGateTest, KernelsOfARunDiffer) {
  KernelGate gate;
  gate.Enter(11, 2);
  gate.Leave();
  gate.Announce(KernelGate::Place(0, 0), 1, 0);
  const uint64_t run = gate.Open();
  EXPECT_FALSE(gate.Read());
  gate.Pass(run, 0);
  const KernelCall first = *gate.Read();
  gate.Pass(run, 1);
  EXPECT_EQ(first.gang, 0u);
  EXPECT_EQ(first.shard, 0u);
  EXPECT_EQ(gate.Read()->gang, 1u);
  EXPECT_NE(gate.Read()->number, first.number);
  gate.Leave();
  gate.Pass(gate.Open(), 0);
  EXPECT_NE(gate.Read()->number, first.number);
  gate.Leave();
}

// A watchdog over two gates, with a clock that the test advances.
class WatchdogTest : public ::testing::Test {
 protected:
  static constexpr TimeNs kMs = 1'000'000;

  void Start(TimeNs report_ns, TimeNs limit_ns) {
    WatchOptions options;
    options.report_ns = report_ns;
    options.limit_ns = limit_ns;
    options.on_long = [this](const KernelCall& call, TimeNs ns) {
      reports.emplace_back(call.gang, ns);
    };
    watchdog = std::make_unique<Watchdog>(
        options, clock, &gates, [this](int worker, const KernelCall& call) {
          given_up.emplace_back(worker, call.gang);
          return gives_up;
        });
    ASSERT_TRUE(watchdog->Start().ok());
  }
  // Wakes the watchdog from its first sleep and waits for its first look.
  void Hold() {
    const uint64_t looks = watchdog->looks();
    watchdog->Hold();
    Await([&] { return watchdog->looks() > looks; });
  }
  // Advances time by at least an interval and waits for one look to end.
  void Look(TimeNs duration = 0) {
    const uint64_t looks = watchdog->looks();
    clock->Advance(std::max(duration, watchdog->interval()));
    Await([&] { return watchdog->looks() > looks; });
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  KernelGate one, two;
  std::vector<KernelGate*> gates = {&one, &two};
  std::vector<std::pair<uint32_t, TimeNs>> reports;
  std::vector<std::pair<int, uint32_t>> given_up;
  bool gives_up = true;
  std::unique_ptr<Watchdog> watchdog;
};

TEST_F(WatchdogTest, ReportsAKernelOnceWhenItsTimeHasPassed) {
  Start(100 * kMs, 0);
  EXPECT_EQ(watchdog->interval(), 25 * kMs);
  Hold();
  two.Enter(4, 0);
  for (int i = 0; i < 4; ++i) Look();  // the first look finds the kernel
  EXPECT_TRUE(reports.empty());
  Look();
  EXPECT_THAT(reports, ElementsAre(std::make_pair(4u, 100 * kMs)));
  for (int i = 0; i < 10; ++i) Look();
  EXPECT_EQ(reports.size(), 1u);
  EXPECT_TRUE(given_up.empty());
  two.Leave();
  watchdog->Release();
}

TEST_F(WatchdogTest, AKernelThatReturnsInTimeIsNotReported) {
  Start(100 * kMs, 0);
  Hold();
  for (int i = 0; i < 12; ++i) {
    // One kernel runs repeatedly.
    if (i % 4 == 0) one.Enter(1, 0);
    Look();
    if (i % 4 == 3) one.Leave();
  }
  EXPECT_TRUE(reports.empty());
  watchdog->Release();
}

// Four times the limit passes at once, as when the process was stopped. That
// counts as one look.
TEST_F(WatchdogTest, AJumpOfTimeIsOneLook) {
  Start(100 * kMs, 0);
  Hold();
  one.Enter(1, 0);
  for (int i = 0; i < 4; ++i) Look(400 * kMs);
  EXPECT_TRUE(reports.empty());
  Look(400 * kMs);
  EXPECT_THAT(reports, ElementsAre(std::make_pair(1u, 100 * kMs)));
  one.Leave();
  watchdog->Release();
}

TEST_F(WatchdogTest, GivesUpAtTheLimitAndAsksAgain) {
  Start(0, 40 * kMs);
  EXPECT_EQ(watchdog->interval(), 10 * kMs);
  gives_up = false;
  Hold();
  one.Enter(1, 0);
  two.Enter(2, 0);
  for (int i = 0; i < 4; ++i) Look();
  EXPECT_TRUE(given_up.empty());
  two.Leave();
  Look();
  EXPECT_THAT(given_up, ElementsAre(std::make_pair(0, 1u)));
  Look();
  EXPECT_EQ(given_up.size(), 2u);
  gives_up = true;
  Look();
  EXPECT_EQ(given_up.size(), 3u);
  EXPECT_TRUE(reports.empty());
  one.Leave();
  watchdog->Release();
}

// The watchdog does not look if there is no holder and the gates are empty,
// whatever the clock does. A kernel in a gate keeps it awake.
TEST_F(WatchdogTest, SleepsWhenThereIsNothingToSee) {
  Start(100 * kMs, 0);
  for (int i = 0; i < 10; ++i) clock->Advance(1000 * kMs);
  EXPECT_EQ(watchdog->looks(), 0u);
  Hold();
  one.Enter(1, 0);
  Look();
  watchdog->Release();
  for (int i = 0; i < 6; ++i) Look();
  EXPECT_EQ(reports.size(), 1u);
  one.Leave();
  Look();  // finds nothing, so it is the last look
  const uint64_t looks = watchdog->looks();
  for (int i = 0; i < 10; ++i) clock->Advance(1000 * kMs);
  EXPECT_EQ(watchdog->looks(), looks);
  watchdog->Hold();
  Look();
  watchdog->Release();
}

TEST_F(WatchdogTest, HoldersComeAndGoWithoutALostWakeUp) {
  Start(4 * kMs, 0);
  for (int i = 0; i < 2000; ++i) {
    watchdog->Hold();
    if (i % 50 == 0) Look();
    watchdog->Release();
    if (i % 3 == 0) clock->Advance(kMs);
  }
}

}  // namespace
}  // namespace pathways
