//===- blocking_kernel.h - A kernel that a test holds back ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To plans of runtime_test_support.h it adds the kernel "block1": twice1, but
// that it first waits until the test lets it.
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_BLOCKING_KERNEL_H_
#define UNITTESTS_RUNTIME_CLIENT_BLOCKING_KERNEL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/plan/testing/test_plans.h"
#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {

inline constexpr TimeNs kSecond = 1'000'000'000;

// Counts and holds all kernels "block1" of this process; one test uses it at a
// time.
class BlockedKernels {
 public:
  // Kernels that have been called since the last Hold.
  static int entered() { return State().entered.load(); }
  static void Hold() {
    State().entered = 0;
    State().left = 0;
    State().held = true;
  }
  // Lets all go on, also those that come later.
  static void Release() { State().held = false; }
  // Returns how many kernels have returned since the last Hold.
  static int left() { return State().left.load(); }

  static int32_t Run(void* const* buffers, const int32_t* coordinates,
                     void* scratch, uint64_t step) {
    ++State().entered;
    while (State().held.load()) std::this_thread::yield();
    const int32_t code = Twice<1>(buffers, coordinates, scratch, step);
    ++State().left;
    return code;
  }

 private:
  struct Flags {
    std::atomic<bool> held{false};
    std::atomic<int> entered{0}, left{0};
  };
  static Flags& State() {
    static Flags* flags = new Flags;
    return *flags;
  }
};

inline TestKernels& KernelsThatBlock() {
  static TestKernels* kernels = [] {
    auto* k = new TestKernels(Kernels());
    k->functions["block1"] = BlockedKernels::Run;
    return k;
  }();
  return *kernels;
}

// x: one float on one device. y = block1(x).
inline proto::Plan BlockPlan(const std::string& name, uint32_t island,
                             int64_t device) {
  ChainBuilder b(
      {.name = name, .slice = {.shards = 1, .island = island, .base = device}});
  b.Feed("x").Run("wait", "block1");
  b.plan().mutable_actions(b.last_action())->set_location("model.mlir:3:8");
  return b.Fetch("y").Finish();
}

// The warnings of a runtime.
class Warnings {
 public:
  std::function<void(const LongWork&)> Hook() {
    return [this](const LongWork& work) {
      MutexLock lock(&mutex_);
      all_.push_back(work);
    };
  }
  std::vector<LongWork> all() {
    MutexLock lock(&mutex_);
    return all_;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> texts;
    for (const LongWork& work : all()) texts.push_back(work.Text());
    return texts;
  }

 private:
  Mutex mutex_;
  std::vector<LongWork> all_ ABSL_GUARDED_BY(mutex_);
};

// Turns the clock by `step` again and again until `state` holds.
inline void TurnUntil(ManualClock& clock, TimeNs step,
                      const std::function<bool()>& state) {
  while (!state()) {
    clock.Advance(step);
    std::this_thread::yield();
  }
}
inline void AwaitState(const std::function<bool()>& state) {
  while (!state()) std::this_thread::yield();
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_BLOCKING_KERNEL_H_
