//===- link_counters.cc - Counters of messages on links -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/link_counters.h"

#include <atomic>

namespace pathways {
namespace {

std::atomic<uint64_t> last_number{0};

}  // namespace

LinkCounters::LinkCounters() : number_(++last_number) {}

LinkCounters::Counts& LinkCounters::Mine() {
  // Cache of the counters that this thread used last.
  static thread_local uint64_t number = 0;
  static thread_local Counts* counts = nullptr;
  if (number != number_) {
    counts = &MineAnew();
    number = number_;
  }
  return *counts;
}

LinkCounters::Counts& LinkCounters::MineAnew() {
  MutexLock lock(&mutex_);
  std::unique_ptr<Counts>& counts = counts_[std::this_thread::get_id()];
  if (counts == nullptr) counts = std::make_unique<Counts>();
  return *counts;
}

void LinkCounters::CountSent(uint64_t messages, uint64_t bytes,
                             uint64_t frames) {
  Counts& mine = Mine();
  mine.messages_sent.Add(messages);
  mine.bytes_sent.Add(bytes);
  mine.frames_sent.Add(frames);
}

void LinkCounters::CountReceived(uint64_t messages, uint64_t bytes,
                                 uint64_t frames) {
  Counts& mine = Mine();
  mine.messages_received.Add(messages);
  mine.bytes_received.Add(bytes);
  mine.frames_received.Add(frames);
}

void LinkCounters::CountUnlinked() { Mine().unlinked.Add(); }
void LinkCounters::CountForeign() { Mine().foreign.Add(); }

LinkStats LinkCounters::Sum() const {
  MutexLock lock(&mutex_);
  LinkStats sum;
  for (const auto& [thread, counts] : counts_) {
    sum.messages_sent += counts->messages_sent.get();
    sum.bytes_sent += counts->bytes_sent.get();
    sum.frames_sent += counts->frames_sent.get();
    sum.messages_received += counts->messages_received.get();
    sum.bytes_received += counts->bytes_received.get();
    sum.frames_received += counts->frames_received.get();
    sum.unlinked += counts->unlinked.get();
    sum.foreign += counts->foreign.get();
  }
  return sum;
}

}  // namespace pathways
