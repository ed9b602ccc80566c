//===- sim_driver.cc - The thread that runs a simulation --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/sim_driver.h"

#include <cassert>
#include <utility>

namespace pathways {

// Holding this capability means holding drive_, which the analysis cannot know.
void SimDriver::Start() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  assert(!IsThisThread() && "a handler must not drive the world");
  drive_.lock();
  driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  RunPosted();
}

void SimDriver::Finish() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  driver_.store(std::thread::id(), std::memory_order_relaxed);
  drive_.unlock();
}

void SimDriver::TakePosted() {
  std::vector<std::function<void()>> taken;
  {
    MutexLock lock(&posted_mutex_);
    taken.swap(posted_);
    has_posted_.store(false, std::memory_order_relaxed);
  }
  for (const std::function<void()>& call : taken) call();
}

void SimDriver::Post(std::function<void()> call) {
  MutexLock lock(&posted_mutex_);
  if (stopped()) return;
  posted_.push_back(std::move(call));
  has_posted_.store(true, std::memory_order_release);
}

void SimDriver::Run(absl::FunctionRef<void()> call) {
  if (IsThisThread()) return call();
  MutexLock lock(&drive_);
  call();
}

void SimDriver::Stop(absl::FunctionRef<void()> clear) {
  stopped_.store(true, std::memory_order_relaxed);
  Run([&] {
    clear();
    MutexLock lock(&posted_mutex_);
    posted_.clear();
    has_posted_.store(false, std::memory_order_relaxed);
  });
}

}  // namespace pathways
