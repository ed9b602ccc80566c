//===- device_test.cc - One device, told what to do by hand ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/executor/device_report.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/controller/controller_test_support.h"

namespace pathways::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The only device of a host; the test is its executor.
class DeviceTest : public ::testing::Test {
 protected:
  DeviceTest() {
    actors_.executor = world_.Register(&executor_, {}, "executor");
    actors_.cohorts = {0};
    actors_.devices = {world_.Register(&device_, {}, "device")};
  }

  void Build(proto::Plan plan) {
    absl::StatusOr<std::unique_ptr<HostProgram>> built = HostProgram::Build(
        Prepare(std::move(plan), topology_), topology_, actors_, {}, /*host=*/0,
        /*program=*/0, /*incarnation=*/1, {&arena_}, &host_,
        [this](int host) { return lends_ && host == 1; });
    ASSERT_TRUE(built.ok()) << built.status();
    program_ = *std::move(built);
  }
  // Returns the kinds of what the executor is told.
  std::vector<int> Tell(LocalKind kind, void* payload = nullptr,
                        uint32_t target = 0, uint64_t step = 0,
                        uint32_t incarnation = 1) {
    LocalMessage message;
    message.kind = kind;
    message.incarnation = incarnation;
    message.payload = payload;
    message.target = target;
    message.step = step;
    device_.OnLocal(message);
    world_.DeliverAll();
    return std::exchange(executor_.kinds, {});
  }
  std::vector<int> Attach() {
    return Tell(kAttach, program_->devices[0].get());
  }
  // Firings [first, end) of a launch from 0 on, at a place of that number.
  std::vector<int> Grant(uint64_t first, uint64_t end, uint64_t launch_end) {
    launch_.end = launch_end;
    launch_.values.results.resize(1);
    auto grant = std::make_unique<HostGrant>();
    grant->launch = &launch_;
    grant->place = first + 1;
    grant->first = first;
    grant->end = end;
    grant->cohorts = {{/*left=*/1, 0}};
    grants_.push_back(std::move(grant));
    return Tell(kGrantDevice, grants_.back().get());
  }

  class Executor final : public Actor {
   public:
    std::vector<int> kinds;
    LocalMessage last;
    void OnLocal(const LocalMessage& message) override {
      kinds.push_back(message.kind);
      last = message;
    }
  };

  static RecordingWorld* WithoutCosts(RecordingWorld* world) {
    world->is_simulated = false;
    return world;
  }

  RecordingWorld world_;
  const Topology topology_ = MakeTopology("2x1x1");
  HostActors actors_;
  Executor executor_;
  Cohort cohort_{world_.kernel_gate(0)};
  WorkLimits limits_;
  Device device_{WithoutCosts(&world_), &actors_, &cohort_, 0, 0, 0,
                 /*run_kernels=*/false, &limits_};
  bool lends_ = false;  // large pieces to the other host
  Arena arena_{"device", 4 << 20, /*backed=*/true};
  Arena host_{"host", 1 << 20, /*backed=*/true};
  std::unique_ptr<HostProgram> program_;
  HostLaunch launch_;
  std::vector<std::unique_ptr<HostGrant>> grants_;
};

TEST_F(DeviceTest, AnswersWhenAProgramComesAndGoes) {
  Build(MovePlan("p", 1));
  EXPECT_THAT(Attach(), ElementsAre(kAttached));
  EXPECT_THAT(Tell(kDetach), ElementsAre(kDetached));
  // Nothing is left that a grant could run.
  EXPECT_THAT(Grant(0, 1, 1), IsEmpty());
}

TEST_F(DeviceTest, RunsWhatIsGrantedAndNoMore) {
  Build(MovePlan("p", 1));
  Attach();
  EXPECT_EQ(device_.counters().firings.get(), 0u);
  EXPECT_THAT(Grant(0, 3, 5), ElementsAre(kDeviceDone));
  EXPECT_EQ(executor_.last.extra, 1u);  // the grant's place
  EXPECT_EQ(device_.counters().firings.get(), 3u * 6);
  EXPECT_EQ(device_.counters().gangs.get(), 3u * 2);
  EXPECT_THAT(Grant(3, 5, 5), ElementsAre(kDeviceDone));
  EXPECT_EQ(device_.counters().firings.get(), 5u * 6);
}

TEST_F(DeviceTest, DropsWhatIsOfAnotherIncarnation) {
  Build(MovePlan("p", 1));
  Attach();
  EXPECT_THAT(Tell(kDetach, nullptr, 0, 0, /*incarnation=*/2),
              ElementsAre(kDetached));
  EXPECT_THAT(Grant(0, 1, 1), ElementsAre(kDeviceDone));
}

// A send whose piece is read where it lies gives nothing of its buffer back.
TEST_F(DeviceTest, ABufferIsWrittenAgainWhenNobodyReadsIt) {
  for (const int64_t bytes : {kMinLentBytes - 4, kMinLentBytes}) {
    lends_ = true;
    Build(MovePlan("p", 1, 0, /*to=*/1, 0, /*elements=*/bytes / 4));
    Attach();
    const uint32_t send = ActionOf(*program_->plan, "m.send");
    const DeviceProgram& program = *program_->devices[0];
    uint32_t credit = UINT32_MAX;
    for (uint32_t e : program_->plan->in_edges(send)) {
      if (program_->plan->edges()[e].kind == proto::CREDIT) {
        credit = program.InEdgeOf(e, 0);
      }
    }
    EXPECT_THAT(Grant(0, 8, 8), ElementsAre(kForwardPiece, kForwardPiece));
    if (bytes < static_cast<int64_t>(kMinLentBytes)) {
      EXPECT_EQ(executor_.last.flags, 0u);
      EXPECT_THAT(Tell(kLocalToken, nullptr, credit, /*step=*/2),
                  ElementsAre(kForwardPiece));
      Tell(kDetach);
      continue;
    }
    EXPECT_EQ(executor_.last.flags, kInPlace);
    // The other host has room, but this one has nothing new to send.
    for (uint64_t step : {2, 3}) {
      EXPECT_THAT(Tell(kLocalToken, nullptr, credit, step), IsEmpty());
    }
    const uint32_t entry = program.first_entry[send];
    EXPECT_THAT(Tell(kPayloadReturned, nullptr, entry, /*step=*/0),
                ElementsAre(kForwardPiece));
    EXPECT_EQ(executor_.last.step, 2u);
    // Nobody has it any more, or ever had.
    EXPECT_THAT(Tell(kPayloadReturned, nullptr, entry, /*step=*/0), IsEmpty());
    EXPECT_THAT(Tell(kPayloadReturned, nullptr, entry - 1, 0), IsEmpty());
    EXPECT_THAT(Tell(kPayloadReturned, nullptr, UINT32_MAX, 0), IsEmpty());
    EXPECT_THAT(Tell(kLocalToken, nullptr, credit, /*step=*/4), IsEmpty());
    // In any order.
    EXPECT_THAT(Tell(kPayloadReturned, nullptr, entry, /*step=*/2), IsEmpty());
    EXPECT_THAT(Tell(kPayloadReturned, nullptr, entry, /*step=*/1),
                ElementsAre(kForwardPiece, kForwardPiece));
    EXPECT_EQ(executor_.last.step, 4u);
  }
}

// The receiver on the other host gives no credit back.
TEST_F(DeviceTest, AFiringWaitsForATokenAndTakesItOnce) {
  Build(MovePlan("p", 1, 0, /*to=*/1));
  Attach();
  EXPECT_THAT(Grant(0, 4, 4), ElementsAre(kForwardPiece, kForwardPiece));
  const DeviceProgram& program = *program_->devices[0];
  const uint32_t send = ActionOf(*program_->plan, "m.send");
  uint32_t credit = UINT32_MAX;
  for (uint32_t e : program_->plan->in_edges(send)) {
    if (program_->plan->edges()[e].kind == proto::CREDIT) {
      credit = program.InEdgeOf(e, 0);
    }
  }
  ASSERT_NE(credit, UINT32_MAX);
  EXPECT_THAT(Tell(kLocalToken, nullptr, credit, /*step=*/2),
              ElementsAre(kForwardPiece));
  EXPECT_EQ(executor_.last.step, 2u);
  // The same again is for no firing that waits.
  EXPECT_THAT(Tell(kLocalToken, nullptr, credit, /*step=*/3),
              ElementsAre(kForwardPiece, kDeviceDone));
  EXPECT_THAT(Tell(kLocalToken, nullptr, UINT32_MAX), IsEmpty());
}

TEST_F(DeviceTest, SaysWhatItIsStuckAt) {
  Build(MovePlan("p", 1, 0, /*to=*/1));
  Attach();
  Grant(0, 4, 4);
  DeviceReport report;
  EXPECT_THAT(Tell(kInspect, &report), ElementsAre(kInspected));
  ASSERT_THAT(report.report.stuck(), SizeIs(1));
  const proto::StuckShard& stuck = report.report.stuck(0);
  EXPECT_EQ(stuck.firing(), 2u);
  EXPECT_EQ(stuck.action(), ActionOf(*program_->plan, "m.send"));
  ASSERT_THAT(stuck.missing(), SizeIs(1));
  EXPECT_EQ(stuck.missing(0).expected(), 1u);
  EXPECT_EQ(stuck.missing(0).arrived(), 0u);
}

}  // namespace
}  // namespace pathways::testing
