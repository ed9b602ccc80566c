//===- polled_context.cc - io_context that pollers can run ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/socket/polled_context.h"

#include <poll.h>

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace pathways {
namespace {

// The own thread makes room after this many polls. Fewer may be a thread that
// happened to come by, after which no thread would poll.
constexpr int kPollsToTakeOver = 16;
constexpr int kRunsInAPoll = 8;
// The io_context has its turn once in kLooksPerRun looks at the readers; for
// kLooksWhenBusy looks after it had something to run, it has its turn at every
// look.
constexpr uint32_t kLooksPerRun = 8;
constexpr uint32_t kLooksWhenBusy = 64;
// After so many looks in a row that found nothing, readers are sent to the
// io_context, so that they no longer cost a system call in each poll.
constexpr int kMaxMisses = 256;
// If other threads have polled for long, the own thread checks them at
// intervals of so many times `look`, since waking up takes time from the
// pollers.
constexpr int kLooksWhenPolledLong = 4;

}  // namespace

bool PolledContext::Poll() {
  if (!gate_.Enter()) return false;
  if (watching_.load(std::memory_order_relaxed)) {
    if (polls_.fetch_add(1, std::memory_order_relaxed) + 1 >=
            kPollsToTakeOver &&
        watching_.exchange(false)) {
      polled_.store(true);
      is_woken_.store(false);
    }
  } else if (!polled_.load(std::memory_order_relaxed)) {
    polled_.store(true, std::memory_order_relaxed);
  }
  const Look look = LookAtReaders();
  bool has_run = false;
  const uint32_t looks = looks_.load(std::memory_order_relaxed);
  const uint32_t left = runs_until_.load(std::memory_order_relaxed) - looks;
  if (look == Look::kNobody || looks % kLooksPerRun == 0 ||
      left <= kLooksWhenBusy) {
    for (int i = 0; i < kRunsInAPoll && context_.poll_one() > 0; ++i) {
      has_run = true;
    }
    if (has_run) {
      runs_until_.store(looks + kLooksWhenBusy, std::memory_order_relaxed);
    }
  }
  if (!is_woken_.load(std::memory_order_relaxed) && !is_woken_.exchange(true) &&
      is_inside_.load()) {
    WakeOwnThread();
  }
  gate_.Leave();
  return has_run || look == Look::kSome;
}

// While the own thread is in the io_context it would not see new readers. A
// polling thread may run this handler instead; the own thread then has to be
// woken again.
void PolledContext::WakeOwnThread() {
  asio::post(context_, [this] {
    if (std::this_thread::get_id() != thread_.get_id()) is_woken_.store(false);
  });
}

void PolledContext::AwaitReadable(std::shared_ptr<PolledReader> reader) {
  {
    MutexLock lock(&readers_mutex_);
    // The own thread sets watching_ before it sends readers to the io_context.
    if (!watching_.load() && readers_.size() < kMaxReaders) {
      readers_.push_back(std::move(reader));
      num_readers_.store(readers_.size(), std::memory_order_relaxed);
      return;
    }
  }
  reader->WaitInContext();
}

PolledContext::Look PolledContext::LookAtReaders() {
  if (num_readers_.load(std::memory_order_relaxed) == 0) return Look::kNobody;
  looks_.store(looks_.load(std::memory_order_relaxed) + 1,
               std::memory_order_relaxed);
  if (!TryLook()) return Look::kNothing;
  pollfd fds[kMaxReaders];
  size_t count = 0;
  {
    MutexLock lock(&readers_mutex_);
    for (const auto& reader : readers_) {
      fds[count++] = {reader->fd(), POLLIN, 0};
    }
  }
  if (poll(fds, count, 0) <= 0) {
    const bool is_quiet = ++misses_ >= kMaxMisses;
    if (is_quiet) misses_ = 0;
    EndLook();
    if (is_quiet) SendReadersToContext();
    return Look::kNothing;
  }
  misses_ = 0;
  absl::InlinedVector<std::shared_ptr<PolledReader>, 4> ready;
  {
    MutexLock lock(&readers_mutex_);
    // Other threads have only appended readers after these.
    size_t kept = 0;
    for (size_t i = 0; i < readers_.size(); ++i) {
      if (i < count && fds[i].revents != 0) {
        ready.push_back(std::move(readers_[i]));
      } else {
        std::swap(readers_[kept++], readers_[i]);
      }
    }
    readers_.resize(kept);
    num_readers_.store(kept, std::memory_order_relaxed);
  }
  EndLook();
  for (const auto& reader : ready) reader->OnReadable();
  return Look::kSome;
}

void PolledContext::SendReadersToContext() {
  while (!TryLook()) std::this_thread::yield();
  std::vector<std::shared_ptr<PolledReader>> readers;
  {
    MutexLock lock(&readers_mutex_);
    readers.swap(readers_);
    num_readers_.store(0, std::memory_order_relaxed);
  }
  EndLook();
  for (const auto& reader : readers) reader->WaitInContext();
}

void PolledContext::OnIdle() {
  if (!polled_.exchange(false) && !waits_.load()) return;
  // The lock is needed because the own thread checks polled_ and then waits
  // under it.
  MutexLock lock(&mutex_);
  changed_.notify_all();
}

void PolledContext::Watch() {
  while (!gate_.is_shut()) {
    polls_.store(0, std::memory_order_relaxed);
    is_inside_.store(true);
    watching_.store(true);
    SendReadersToContext();
    while (watching_.load() && context_.run_one() > 0) {
    }
    watching_.store(false);
    is_inside_.store(false);
    WaitWhileOthersPoll();
  }
}

void PolledContext::WaitWhileOthersPoll() {
  MutexLock lock(&mutex_);
  waits_.store(true);
  auto look = look_;
  while (!stopping_ && polled_.exchange(false)) {
    changed_.wait_for(mutex_, look);
    look = std::min(2 * look, kLooksWhenPolledLong * look_);
  }
  waits_.store(false);
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
