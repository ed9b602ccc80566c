//===- polled_context.cc - One thread, or those that poll -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/polled_context.h"

#include <asio/post.hpp>
#include <chrono>

namespace pathways {
namespace {

// After so many polls the own thread makes room: fewer may be a chance visit,
// after which nobody would be there.
constexpr int kPollsToTakeOver = 16;
constexpr std::chrono::milliseconds kLook{1};
constexpr int kRunsInAPoll = 8;

}  // namespace

bool PolledContext::Poll() {
  if (!gate_.Enter()) return false;
  if (watching_.load(std::memory_order_relaxed)) {
    if (polls_.fetch_add(1, std::memory_order_relaxed) + 1 >=
            kPollsToTakeOver &&
        watching_.exchange(false)) {
      polled_.store(true);
      asio::post(context_, [] {});  // wakes it
    }
  } else if (!polled_.load(std::memory_order_relaxed)) {
    polled_.store(true, std::memory_order_relaxed);
  }
  bool moved = false;
  for (int i = 0; i < kRunsInAPoll && context_.poll_one() > 0; ++i) {
    moved = true;
  }
  gate_.Leave();
  return moved;
}

void PolledContext::Rest() {
  if (!polled_.exchange(false)) return;
  // Under the lock: the own thread looks, then waits, under it.
  MutexLock lock(&mutex_);
  changed_.notify_all();
}

void PolledContext::Watch() {
  while (!gate_.is_shut()) {
    polls_.store(0, std::memory_order_relaxed);
    watching_.store(true);
    while (watching_.load() && context_.run_one() > 0) {
    }
    watching_.store(false);
    WaitWhileOthersPoll();
  }
}

void PolledContext::WaitWhileOthersPoll() {
  MutexLock lock(&mutex_);
  while (!stopping_ && polled_.exchange(false)) {
    changed_.wait_for(mutex_, kLook);
  }
}

void PolledContext::Stop() {
  MutexLock stop_lock(&stop_mutex_);
  context_.stop();
  gate_.Shut();
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace pathways
