//===- link_counters.h - Counters of messages on links ----------*- C++ -*-===//
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

// Counters of messages on links. Each thread has counters of its own, which
// avoids atomic read-modify-writes; a hop of a gang would otherwise have seven.
// Thread-safe.
class LinkCounters {
 public:
  LinkCounters();
  LinkCounters(const LinkCounters&) = delete;

  // These functions count on behalf of the calling thread.
  void CountSent(uint64_t messages, uint64_t bytes, uint64_t frames);
  void CountReceived(uint64_t messages, uint64_t bytes, uint64_t frames);
  void CountUnlinked();
  void CountForeign();

  // Returns the sums over all threads, including threads that have ended.
  LinkStats Sum() const;

 private:
  struct alignas(kLineBytes) Counts {
    Counter messages_sent, bytes_sent, frames_sent;
    Counter messages_received, bytes_received, frames_received;
    Counter unlinked, foreign;
  };
  Counts& Mine();
  Counts& MineAnew();

  const uint64_t number_;  // identifies these counters in this process
  mutable Mutex mutex_;
  // A thread that gets the id of an ended one continues with its counters.
  std::map<std::thread::id, std::unique_ptr<Counts>> counts_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LINK_COUNTERS_H_
