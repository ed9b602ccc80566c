//===- link_counters.h - What went over links -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_LINK_COUNTERS_H_
#define RUNTIME_WORLD_LINK_COUNTERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "runtime/base/counter.h"
#include "runtime/base/line_allocator.h"
#include "runtime/base/mutex.h"
#include "runtime/world/remote_channel.h"

namespace pathways {

// Counts without an atomic read-modify-write, of which a hop of a gang would
// have seven: each thread has numbers of its own. Thread-safe.
class LinkCounters {
 public:
  LinkCounters();
  LinkCounters(const LinkCounters&) = delete;

  // By this thread.
  void CountSent(uint64_t messages, uint64_t bytes, uint64_t frames);
  void CountReceived(uint64_t messages, uint64_t bytes, uint64_t frames);
  void CountUnlinked();
  void CountForeign();

  // Of all threads, also of those that are gone.
  LinkStats Sum() const;

 private:
  struct alignas(kLineBytes) Counts {
    Counter messages_sent, bytes_sent, frames_sent;
    Counter messages_received, bytes_received, frames_received;
    Counter unlinked, foreign;
  };
  Counts& Mine();
  Counts& MineAnew();

  const uint64_t number_;  // of these counters, in this process
  mutable Mutex mutex_;
  // A thread that has the id of one that is gone goes on with its numbers.
  std::map<std::thread::id, std::unique_ptr<Counts>> counts_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LINK_COUNTERS_H_
