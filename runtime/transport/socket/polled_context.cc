//===- polled_context.cc - One thread, or those that poll -------*- C++ -*-===//
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

// After so many polls the own thread makes room: fewer may be a chance visit,
// after which nobody would be there.
constexpr int kPollsToTakeOver = 16;
constexpr int kRunsInAPoll = 8;
// Looks at readers for each time that the context has its turn; and so many in
// which it has one each time, since it had something.
constexpr uint32_t kLooksPerRun = 8;
constexpr uint32_t kLooksWhenBusy = 64;
// After so many looks that found nothing readers wait in the context, and are
// no reason for another call of the system in each poll.
constexpr int kMaxMisses = 256;
// Where others have polled for long, the own thread looks whether they still do
// after so many times `look`: to wake up takes time from who polls.
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

// It would not look after readers while it is in the context. Who polls may
// take what was to wake it, and then it is woken again.
void PolledContext::WakeOwnThread() {
  asio::post(context_, [this] {
    if (std::this_thread::get_id() != thread_.get_id()) is_woken_.store(false);
  });
}

void PolledContext::AwaitReadable(std::shared_ptr<PolledReader> reader) {
  {
    MutexLock lock(&readers_mutex_);
    // The own thread says that it watches before it sends readers to the
    // context.
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
    // Others have only added some behind these.
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
  // Under the lock: the own thread looks, then waits, under it.
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
