//===- device_kernels_test.cc - Time of gangs, and its limit --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/device/device_fixture.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// In virtual time, where a gang takes what the plan says that it costs.
class DeviceKernelsTest : public DeviceTest {
 protected:
  static constexpr TimeNs kCost = 70'000;

  DeviceKernelsTest() : DeviceTest(/*simulated=*/true) {}

  // A gang of that cost, 0: not known, before one of cost 1.
  void Begin(TimeNs cost) {
    Build(ChainBuilder({.slice = {.shards = 1}})
              .Gang("g", {.cost_ns = static_cast<uint64_t>(cost)})
              .Gang("h", {.cost_ns = 1})
              .Fetch("v")
              .Finish());
    Attach();
  }
  std::vector<int> After(TimeNs duration) {
    world_.Advance(duration);
    world_.DeliverAll();
    return std::exchange(executor_.kinds, {});
  }
  uint64_t gangs() const { return device_.counters().gangs.get(); }
};

TEST_F(DeviceKernelsTest, AGangTakesWhatItCosts) {
  Begin(kCost);
  EXPECT_THAT(Grant(0, 2, 2), IsEmpty());
  After(kCost - 1);
  EXPECT_EQ(gangs(), 0u);
  After(1);
  EXPECT_EQ(gangs(), 1u);
  After(1);
  EXPECT_EQ(gangs(), 2u);
  // The next firing of the first one begins when that is over.
  EXPECT_THAT(After(kCost), IsEmpty());
  EXPECT_EQ(gangs(), 3u);
  EXPECT_THAT(After(1), ElementsAre(kDeviceDone));
}

TEST_F(DeviceKernelsTest, WhatCostsNobodyKnowsWhatTakesAMicrosecond) {
  Begin(0);
  Grant(0, 1, 1);
  EXPECT_THAT(After(999), IsEmpty());
  EXPECT_EQ(gangs(), 0u);
  EXPECT_THAT(After(2), ElementsAre(kDeviceDone));
}

TEST_F(DeviceKernelsTest, WhatTakesLongIsReportedOnce) {
  limits_.report_ns = kCost - 1;
  Begin(kCost);
  Grant(0, 1, 1);
  EXPECT_THAT(After(kCost - 2), IsEmpty());
  EXPECT_THAT(After(1), ElementsAre(kLongKernel));
  EXPECT_EQ(executor_.last.target, ActionOf(*program_->plan, "g"));
  EXPECT_EQ(executor_.last.shard, 0u);
  EXPECT_EQ(executor_.last.extra, static_cast<uint64_t>(kCost - 1));
  EXPECT_THAT(After(1), IsEmpty());
  EXPECT_THAT(After(1), ElementsAre(kDeviceDone));
}

TEST_F(DeviceKernelsTest, WhatTakesTooLongCostsTheWorker) {
  limits_.limit_ns = kCost - 1;
  Begin(kCost);
  Grant(0, 3, 3);
  EXPECT_THAT(After(kCost - 2), IsEmpty());
  EXPECT_THAT(After(1), ElementsAre(kWorkerLost));
  EXPECT_EQ(executor_.last.step, 0u);
  EXPECT_EQ(executor_.last.item, 0u);
  // Nothing runs there any more, and nobody answers.
  EXPECT_THAT(After(10 * kCost), IsEmpty());
  EXPECT_EQ(gangs(), 0u);
}

// Kernels of a device that each take so long.
class SlowBackend final : public NoBackend {
 public:
  static constexpr TimeNs kKernelNs = 50'000;

  explicit SlowBackend(RecordingWorld* world)
      : NoBackend(/*costs=*/false), world_(*world) {}

  uint32_t Run(const SegmentRun&) override {
    world_.Suspend(kKernelNs);
    return 1;
  }

 private:
  RecordingWorld& world_;
};

// Kernels that return 7, 8 and so on.
class FailingBackend final : public NoBackend {
 public:
  explicit FailingBackend(RecordingWorld*) : NoBackend(/*costs=*/false) {}

  uint32_t Run(const SegmentRun& run) override {
    failures().push_back({run.program->incarnation, /*shard=*/0, next_code_++});
    return 1;
  }

 private:
  int32_t next_code_ = 7;
};

template <typename Backend>
class BackendsOf final : public DeviceBackends {
 public:
  bool has_values() const override { return false; }
  std::unique_ptr<DeviceBackend> Make(World* world, const Actor*, Cohort*,
                                      uint64_t) const override {
    return std::make_unique<Backend>(static_cast<RecordingWorld*>(world));
  }
};

template <typename Backend>
class KernelDeviceTest : public DeviceTest {
 protected:
  KernelDeviceTest() : DeviceTest(/*simulated=*/false, Backends()) {}
  static const DeviceBackends& Backends() {
    static const BackendsOf<Backend> backends;
    return backends;
  }
  // One gang, which runs a kernel.
  void Begin(TimeNs cost) {
    Build(ChainBuilder({.slice = {.shards = 1}})
              .Run("g", "k", {.cost_ns = static_cast<uint64_t>(cost)})
              .Fetch("u")
              .Finish());
    Attach();
  }
};

class SlowDeviceTest : public KernelDeviceTest<SlowBackend> {
 protected:
  // Turns that were asked for.
  uint64_t turns() const { return device_.counters().sent[kContinue].get(); }
};

// A turn of a device, in which its worker hears nobody, has as much in it as
// the plan says that is short, or as has shown to be.
TEST_F(SlowDeviceTest, TurnsAreShort) {
  Begin(SlowBackend::kKernelNs);
  Grant(0, 10, 20);
  EXPECT_EQ(turns(), 10u);
  Grant(10, 20, 20);
  EXPECT_EQ(turns(), 20u);
}

TEST_F(SlowDeviceTest, WhatCostsNobodyKnowsIsMeasured) {
  Begin(0);
  Grant(0, 10, 20);
  EXPECT_EQ(turns(), 0u);
  Grant(10, 20, 20);
  EXPECT_EQ(turns(), 10u);
}

using FailingDeviceTest = KernelDeviceTest<FailingBackend>;

// The executor hears of a grant's end, and finds there what failed first.
TEST_F(FailingDeviceTest, WhatFailsFirstIsThereWhenTheGrantIsOver) {
  Begin(0);
  EXPECT_THAT(Grant(0, 2, 5), ElementsAre(kDeviceDone));
  EXPECT_THAT(Grant(2, 5, 5), ElementsAre(kDeviceDone));
  for (const auto& grant : grants_) {
    const FirstFailure& failure = grant->cohorts[0].failure;
    EXPECT_EQ(failure.firing, grant->first);
    EXPECT_EQ(failure.code, static_cast<int32_t>(7 + grant->first));
    EXPECT_EQ(failure.action, ActionOf(*program_->plan, "g"));
    EXPECT_EQ(failure.shard, 0u);
    EXPECT_EQ(failure.step, 0u);
  }
}

TEST(FirstFailureTest, IsTheSmallest) {
  FirstFailure first;
  first.Add({});
  EXPECT_EQ(first.code, 0);
  // Each comes before those that were added, but for every other one.
  const FirstFailure in_order[] = {
      {1, 2, 3, 0, 10}, {2, 0, 0, 0, 11},  // another firing
      {1, 2, 2, 0, 12}, {1, 2, 2, 9, 13},  // another shard; the same
      {1, 1, 9, 0, 14}, {1, 1, 10, 0, 15}, {0, 9, 9, 0, 16}, {0, 10, 0, 0, 17}};
  for (int i = 0; i < 8; ++i) {
    first.Add(in_order[i]);
    first.Add({});
    EXPECT_EQ(first.code, 10 + i / 2 * 2) << i;
  }
}

}  // namespace
}  // namespace pathways::testing
