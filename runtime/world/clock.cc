//===- clock.cc - Time for worlds made of threads ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/clock.h"

#include <algorithm>
#include <chrono>

namespace pathways {

TimeNs SteadyClock::Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TimeNs SteadyClock::RealDelay(TimeNs time) {
  return std::max<TimeNs>(time - Now(), 0);
}

int ManualClock::AddListener(std::function<void()> listener) {
  MutexLock lock(&mutex_);
  listeners_.emplace_back(next_listener_, std::move(listener));
  return next_listener_++;
}

void ManualClock::RemoveListener(int listener) {
  MutexLock lock(&mutex_);
  std::erase_if(listeners_,
                [&](const auto& entry) { return entry.first == listener; });
}

void ManualClock::Advance(TimeNs duration) {
  MutexLock lock(&mutex_);
  if (duration > 0) now_.store(now_.load() + duration);
  for (auto& [number, listener] : listeners_) listener();
}

}  // namespace pathways
