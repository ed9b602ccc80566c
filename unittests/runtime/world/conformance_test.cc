//===- conformance_test.cc - Conformance of all worlds ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <utility>

#include "runtime/world/sim_world.h"
#include "runtime/world/thread_world.h"
#include "unittests/runtime/world/joined_worlds.h"
#include "unittests/runtime/world/world_conformance.h"

namespace pathways {
namespace {

WorldCase Threads(int workers, TimeNs spin_ns, bool followers = false) {
  std::string name = "threads" + std::to_string(workers);
  if (spin_ns == 0) name += "nospin";
  if (followers) name += "followers";
  return {name, [=](Hooks hooks) {
            ThreadOptions options;
            options.workers = workers;
            options.followers = followers;
            options.spin_ns = spin_ns;
            auto clock = std::make_shared<ManualClock>();
            options.clock = clock;
            options.fault_hook = std::move(hooks.fault);
            options.control_fault_hook = std::move(hooks.control_fault);
            options.remote_channel = std::move(hooks.remote_channel);
            auto world = ThreadWorld::Create(std::move(options));
            EXPECT_TRUE(world.ok()) << world.status();
            return MadeWorld{*std::move(world),
                             [clock](TimeNs by) { clock->Advance(by); }};
          }};
}

WorldCase Sim(uint64_t seed) {
  return {"sim" + std::to_string(seed), [=](Hooks hooks) {
            SimOptions options;
            options.seed = seed;
            options.workers = 4;
            options.fault_hook = std::move(hooks.fault);
            options.control_fault_hook = std::move(hooks.control_fault);
            options.remote_channel = std::move(hooks.remote_channel);
            auto world = SimWorld::Create(std::move(options));
            EXPECT_TRUE(world.ok()) << world.status();
            // RunUntil moves the world's time to the next event.
            return MadeWorld{*std::move(world), [](TimeNs) {}};
          }};
}

// Worlds of several processes. They are not tested with hooks, since faults of
// their links are a matter of transports.
WorldCase Processes(int processes, int workers, bool followers = false) {
  const std::string name = "processes" + std::to_string(processes);
  return {followers ? name + "followers" : name, [=](Hooks) {
            auto clock = std::make_shared<ManualClock>();
            return MadeWorld{
                std::make_unique<JoinedWorlds>(processes,
                                               [=] {
                                                 ThreadOptions options;
                                                 options.workers = workers;
                                                 options.followers = followers;
                                                 options.clock = clock;
                                                 return options;
                                               }),
                [clock](TimeNs by) { clock->Advance(by); }};
          }};
}

std::string NameOf(const testing::TestParamInfo<WorldCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Processes, WorldConformance,
                         testing::Values(Processes(2, 1), Processes(3, 2),
                                         Processes(3, 1, /*followers=*/true)),
                         NameOf);
const auto kInOneProcess =
    testing::Values(Threads(1, -1), Threads(1, -1, /*followers=*/true),
                    Threads(1, 0, /*followers=*/true), Threads(2, -1),
                    Threads(2, 0), Threads(4, -1), Sim(1), Sim(2), Sim(3));
INSTANTIATE_TEST_SUITE_P(Worlds, WorldConformance, kInOneProcess, NameOf);
INSTANTIATE_TEST_SUITE_P(Worlds, WorldHookConformance, kInOneProcess, NameOf);

}  // namespace
}  // namespace pathways
