//===- device_fixture.h - One device, told what to do -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_DEVICE_DEVICE_FIXTURE_H_
#define UNITTESTS_RUNTIME_DEVICE_DEVICE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/binding/binding_test_support.h"

namespace pathways::testing {

// The only device of a host; the test is its executor.
class DeviceTest : public ::testing::Test {
 protected:
  // Bytes of a shard of each argument and each result of any plan here.
  static constexpr uint64_t kArgumentBytes = 1 << 10;

  // `simulated`: gangs take what they cost.
  explicit DeviceTest(bool simulated = false,
                      const DeviceBackends& backends = NoBackends())
      : device_(Simulated(&world_, simulated), &actors_, &cohort_, 0, 0, 0,
                backends, &limits_) {
    actors_.executor = world_.Register(&executor_, {}, "executor");
    actors_.cohorts = {0};
    actors_.devices = {world_.Register(&device_, {}, "device")};
  }

  void Build(proto::Plan plan) {
    absl::StatusOr<std::unique_ptr<HostProgram>> built = HostProgram::Build(
        Prepare(std::move(plan), topology_), topology_, actors_, {}, /*host=*/0,
        /*program=*/0, /*incarnation=*/1, {&arena_}, &host_,
        {[this](int host) { return lends_ && host == 1; },
         [this](int host) { return is_far_ && host == 1; }});
    ASSERT_TRUE(built.ok()) << built.status();
    program_ = *std::move(built);
  }
  // Returns the kinds of what the executor is told.
  std::vector<int> Notify(LocalKind kind, void* payload = nullptr,
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
    return Notify(kAttach, program_->devices[0].get());
  }
  // Firings [first, end) of a launch from 0 on, at a place of that number.
  std::vector<int> Grant(uint64_t first, uint64_t end, uint64_t launch_end) {
    launch_.end = launch_end;
    const proto::Interface& interface = program_->plan->plan().interface();
    launch_.values.arguments.resize(
        interface.arguments_size(),
        store_.Create(1, kArgumentBytes, "an argument"));
    launch_.values.results.resize(1);
    launch_.values.results[0].object =
        store_.Create(2, kArgumentBytes, "a result");
    auto grant = std::make_unique<HostGrant>();
    grant->launch = &launch_;
    grant->position = first + 1;
    grant->first = first;
    grant->end = end;
    grant->cohorts = {{/*left=*/1, 0, {}}};
    grants_.push_back(std::move(grant));
    return Notify(kGrantDevice, grants_.back().get());
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

  static RecordingWorld* Simulated(RecordingWorld* world, bool simulated) {
    world->is_simulated = simulated;
    return world;
  }

  RecordingWorld world_;
  const Topology topology_ = MakeTopology("2x1x1");
  HostActors actors_;
  Executor executor_;
  Cohort cohort_{world_.kernels().kernel_gate(0)};
  WorkLimits limits_;
  Device device_;
  bool lends_ = false;   // large pieces to the other host
  bool is_far_ = false;  // the other host is
  Arena arena_{"device", 4 << 20, /*backed=*/true};
  Arena host_{"host", 1 << 20, /*backed=*/true};
  std::unique_ptr<HostProgram> program_;
  HostStore store_{&host_};
  HostLaunch launch_;
  std::vector<std::unique_ptr<HostGrant>> grants_;
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_DEVICE_DEVICE_FIXTURE_H_
