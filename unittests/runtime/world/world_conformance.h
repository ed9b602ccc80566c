//===- world_conformance.h - Conformance tests of worlds --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instantiate WorldConformance, and WorldHookConformance where possible, with a
// WorldCase for each world, and link the conformance_*_test.cc that contain the
// tests. No test sleeps or measures time: a case advances the clock of its
// world itself.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_WORLD_WORLD_CONFORMANCE_H_
#define UNITTESTS_RUNTIME_WORLD_WORLD_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "runtime/world/fault.h"
#include "runtime/world/remote_channel.h"
#include "runtime/world/world.h"
#include "unittests/runtime/world/test_actor.h"

namespace pathways {

struct MadeWorld {
  std::unique_ptr<World> world;
  // Lets this much of the world's time pass. Work that became due runs in a
  // later RunUntil at the latest.
  std::function<void(TimeNs)> advance;
};

struct Hooks {
  FaultHook fault;
  ControlFaultHook control_fault;
  RemoteChannel remote_channel;
};

struct WorldCase {
  std::string name;
  std::function<MadeWorld(Hooks)> make;
  friend void PrintTo(const WorldCase& c, std::ostream* out) { *out << c.name; }
};

class WorldConformance : public testing::TestWithParam<WorldCase> {
 protected:
  void Make(FaultHook hook = nullptr, ControlFaultHook control = nullptr,
            RemoteChannel remote_channel = {}) {
    MadeWorld made = GetParam().make(
        {std::move(hook), std::move(control), std::move(remote_channel)});
    advance_ = made.advance;
    world_ = std::move(made.world);
  }
  TestActor& Add(int host, int worker) {
    TestActor& actor = actors_.emplace_back();
    actor.Join(*world_, host, worker);
    return actor;
  }
  // Runs until `count` is `want`; each change of `count` must call Notify.
  bool RunTo(const std::atomic<int64_t>& count, int64_t want) {
    return world_->RunUntil([&] { return count.load() >= want; });
  }
  void Bump(std::atomic<int64_t>& count) {
    count.fetch_add(1);
    world_->Notify();
  }

  std::deque<TestActor> actors_;  // outlive the world
  std::unique_ptr<World> world_;
  std::function<void(TimeNs)> advance_;
};

// Tests that use Hooks, for worlds that call the hooks for messages between
// hosts.
class WorldHookConformance : public WorldConformance {};

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_WORLD_WORLD_CONFORMANCE_H_
