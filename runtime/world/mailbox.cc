//===- mailbox.cc - Queues and timers of one worker -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/mailbox.h"

#include <algorithm>

namespace pathways {

void Mailbox::Open(BlockPool* pool, int owner, int workers) {
  pool_ = pool;
  owner_ = owner;
  workers_ = workers;
  for (auto& queues : remote_) {
    queues = std::make_unique<RemoteQueue[]>(workers);
  }
  timers_.reserve(64);
  taken_.reserve(kPostedAtOnce);
  MutexLock lock(&mutex_);
  inbox_.reserve(kPostedAtOnce);
}

bool Mailbox::PostAll(absl::Span<const Posted> posted,
                      const std::atomic<bool>& closed, bool quietly) {
  {
    MutexLock lock(&mutex_);
    // DropAll empties the inbox under this lock after the flag is set.
    if (closed.load(std::memory_order_seq_cst)) return false;
    inbox_.insert(inbox_.end(), posted.begin(), posted.end());
  }
  has_posted_.store(true, std::memory_order_seq_cst);
  if (!quietly && asleep()) Wake();
  return true;
}

const std::vector<Posted>& Mailbox::TakePosted() {
  taken_.clear();
  // Cleared before the messages are taken: a post in between sets it again.
  has_posted_.store(false, std::memory_order_seq_cst);
  MutexLock lock(&mutex_);
  taken_.swap(inbox_);
  return taken_;
}

bool Mailbox::empty() const {
  if (has_posted()) return false;
  for (int queue = 0; queue < kNumQueues; ++queue) {
    if (!own_[queue].empty()) return false;
    for (int from = 0; from < workers_; ++from) {
      if (!remote_[queue][from].empty()) return false;
    }
  }
  return true;
}

void Mailbox::AddTimer(TimeNs deadline, const Envelope& envelope) {
  timers_.push_back(Timer{deadline, next_timer_++, envelope});
  std::push_heap(timers_.begin(), timers_.end());
}

Envelope Mailbox::TakeTimer() {
  std::pop_heap(timers_.begin(), timers_.end());
  const Envelope envelope = timers_.back().envelope;
  timers_.pop_back();
  return envelope;
}

void Mailbox::DropAll(void (*drop)(const Envelope& envelope)) {
  for (MailboxQueue queue : {kDirectQueue, kBulkQueue, kTurnQueue}) {
    for (int from = 0; from < workers_; ++from) {
      while (Envelope* envelope = Front(queue, from)) {
        drop(*envelope);
        Pop(queue, from);
      }
    }
  }
  for (const Timer& timer : timers_) drop(timer.envelope);
  timers_.clear();
  MutexLock lock(&mutex_);
  for (const Posted& posted : inbox_) drop(posted.envelope);
  inbox_.clear();
}

}  // namespace pathways
