//===- clock_turner.h - Time that passes only at rest -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_CLOCK_TURNER_H_
#define UNITTESTS_RUNTIME_CLIENT_CLOCK_TURNER_H_

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "runtime/world/clock.h"
#include "runtime/world/thread_world.h"

namespace pathways::testing {

// Turns the clock of a ThreadWorld as a simulation turns its own: time passes
// only while all workers rest, so that whatever takes longer on a slow machine
// takes no time here, and a timeout expires only where something is missing.
// What the test's own threads do takes time: they may only wait for what does
// not depend on it.
class ClockTurner {
 public:
  // `world` outlives it, and `clock` is the world's.
  ClockTurner(const ThreadWorld* world, std::shared_ptr<ManualClock> clock)
      : thread_([this, world, clock = std::move(clock)] {
          while (!over_.load()) {
            if (world->AtRest()) clock->Advance(kStepNs);
            std::this_thread::yield();
          }
        }) {}
  ~ClockTurner() {
    over_ = true;
    thread_.join();
  }

 private:
  static constexpr TimeNs kStepNs = 1'000'000;

  std::atomic<bool> over_{false};
  std::thread thread_;  // begins last
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_CLOCK_TURNER_H_
