//===- ucx_loop.cc - One thread at a time ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/ucx/ucx_loop.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

namespace pathways {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// After so many polls the own thread makes room: fewer may be a chance visit,
// after which nobody would be there.
constexpr int kPollsToTakeOver = 16;
constexpr milliseconds kLook{1};
// Where others have polled for long, the own thread looks whether they still do
// after so long: to wake up takes time from who polls.
constexpr milliseconds kLongestLook{4};
// UCX has something under way that no event tells of: it is asked so often at
// once, and then each millisecond.
constexpr int kIdleAtOnce = 256;

}  // namespace

UcxLoop::UcxLoop(UcxWork* work)
    : work_(work), wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

UcxLoop::~UcxLoop() { Stop(); }

void UcxLoop::Start() {
  thread_ = std::thread([this] { Watch(); });
}

bool UcxLoop::TryTake() {
  if (taken_.load(std::memory_order_relaxed) || taken_.exchange(true)) {
    return false;
  }
  inside_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  depth_ = 1;
  return true;
}

bool UcxLoop::Enter() {
  if (TryTake()) return true;
  if (inside_.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
    return false;
  }
  ++depth_;
  return true;
}

bool UcxLoop::EnterWaiting() {
  if (Enter()) return true;
  ++waiting_;
  bool entered = false;
  {
    MutexLock lock(&mutex_);
    while (!stopping_.load() && !(entered = TryTake())) changed_.wait(mutex_);
  }
  --waiting_;
  return entered;
}

void UcxLoop::Release() {
  inside_.store(std::thread::id(), std::memory_order_relaxed);
  taken_.store(false);
  if (waiting_.load() == 0) return;
  MutexLock lock(&mutex_);
  changed_.notify_all();
}

void UcxLoop::Leave() {
  if (--depth_ > 0) return;
  do {
    ++depth_;  // for what Enter inside sees
    if (urgent_.load() && urgent_.exchange(false)) work_->MoveUrgent();
    --depth_;
    Release();
    // Who came meanwhile, and was sent away, relied on this thread.
  } while (urgent_.load() && TryTake() && --depth_ == 0);
}

void UcxLoop::Wake() {
  if (watching_.load() && watching_.exchange(false)) {
    eventfd_write(wake_fd_.get(), 1);
  }
}

void UcxLoop::WakeAt(UcxWork::Time time) {
  UcxWork::Time due = due_.load();
  while (time < due && !due_.compare_exchange_weak(due, time)) {
  }
  Wake();
}

bool UcxLoop::Poll() {
  if (watching_.load(std::memory_order_relaxed)) {
    if (polls_.fetch_add(1, std::memory_order_relaxed) + 1 >=
        kPollsToTakeOver) {
      polled_.store(true);
      Wake();
    }
  } else if (!polled_.load(std::memory_order_relaxed)) {
    polled_.store(true, std::memory_order_relaxed);
  }
  // Who waits has its turn.
  if (waiting_.load(std::memory_order_relaxed) > 0 || !TryTake()) return false;
  const bool moved = work_->Move();
  Leave();
  // This may be a chance visit, and what follows from it the own thread's.
  if (moved) Wake();
  return moved;
}

void UcxLoop::OnIdle() {
  if (!polled_.exchange(false)) return;
  // Under the lock: the own thread looks, then waits, under it.
  MutexLock lock(&mutex_);
  changed_.notify_all();
}

void UcxLoop::Watch() {
  while (!stopping_.load()) {
    WaitWhileOthersPoll();
    TickIfDue();
    WatchOnce();
  }
}

void UcxLoop::WaitWhileOthersPoll() {
  MutexLock lock(&mutex_);
  milliseconds look = kLook;
  while (!stopping_.load() && polled_.exchange(false)) {
    changed_.wait_for(mutex_, look);
    if (Clock::now() >= due_.load()) return;
    look = std::min(2 * look, kLongestLook);
  }
}

void UcxLoop::TickIfDue() {
  if (Clock::now() < due_.load() || !EnterWaiting()) return;
  due_.store(UcxWork::Time::max());
  const UcxWork::Time due = work_->Tick(Clock::now());
  Leave();
  WakeAt(due);
}

void UcxLoop::WatchOnce() {
  if (polled_.load() || !EnterWaiting()) return;
  const bool moved = work_->Move();
  polls_.store(0, std::memory_order_relaxed);
  // Before Arm looks: what others leave to this thread from now on wakes it.
  watching_.store(true);
  const bool armed = !moved && work_->Arm();
  Leave();
  idle_ = moved || armed ? 0 : idle_ + 1;
  if (moved || (!armed && idle_ < kIdleAtOnce)) {
    watching_.store(false);
    if (!moved) std::this_thread::yield();
    return;
  }
  pollfd fds[] = {{work_->event_fd(), POLLIN, 0}, {wake_fd_.get(), POLLIN, 0}};
  const auto left = due_.load() - Clock::now();
  milliseconds sleep = kLook;
  if (armed) {
    sleep =
        left > std::chrono::hours(1)
            ? milliseconds(-1)
            : std::max(milliseconds(0), std::chrono::ceil<milliseconds>(left));
  }
  if (watching_.load()) poll(fds, 2, sleep.count());
  watching_.store(false);
  eventfd_t unused;
  eventfd_read(wake_fd_.get(), &unused);
}

bool UcxLoop::Stop() {
  {
    MutexLock lock(&mutex_);
    if (stopping_.exchange(true)) return false;
    changed_.notify_all();
  }
  eventfd_write(wake_fd_.get(), 1);
  if (thread_.joinable()) thread_.join();
  ++waiting_;
  MutexLock lock(&mutex_);
  while (!TryTake()) changed_.wait(mutex_);
  return true;
}

}  // namespace pathways
