//===- ucx_loop.cc - Loop that one thread at a time runs ------------------===//
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

// The own thread makes room after this many polls. Fewer may be a thread that
// happened to come by, after which no thread would poll.
constexpr int kPollsToTakeOver = 16;
constexpr milliseconds kLook{1};
// If other threads have polled for long, the own thread checks them at this
// interval, since waking up takes time from the pollers.
constexpr milliseconds kLongestLook{4};
// UCX may have work in progress for which there is no event: it is then asked
// this often at once, and afterwards each millisecond.
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
    ++depth_;  // so that Enter, called inside, sees it
    if (urgent_.load() && urgent_.exchange(false)) work_->MoveUrgent();
    --depth_;
    Release();
    // A thread that was refused meanwhile relies on this thread.
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
  // Threads that wait to enter have precedence.
  if (waiting_.load(std::memory_order_relaxed) > 0 || !TryTake()) return false;
  const bool moved = work_->Move();
  Leave();
  // This may be a single visit, so the own thread does what follows from it.
  if (moved) Wake();
  return moved;
}

void UcxLoop::OnIdle() {
  if (!polled_.exchange(false)) return;
  // The lock is needed because the own thread checks polled_ and then waits
  // under it.
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
  // watching_ is set before Arm looks, so that work announced from now on wakes
  // this thread.
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
