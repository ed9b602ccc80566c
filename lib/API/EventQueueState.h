//===- EventQueueState.h - State of an EventQueue ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_API_EVENTQUEUESTATE_H
#define LIB_API_EVENTQUEUESTATE_H

#include "pathways/EventQueue.h"
#include "pathways/Session.h"
#include "runtime/base/mutex.h"

#include "absl/base/thread_annotations.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

namespace pathways {

/// Invariant: the descriptor is readable if and only if there are events.
struct EventQueue::State {
  /// Takes ownership of an eventfd that is 0.
  explicit State(int descriptor) : descriptor(descriptor) {}
  State(const State &) = delete;
  ~State();

  /// Records that a run of `session` will add an event, and returns the number
  /// to give to `add`, or to `forget` if it will not.
  uint64_t expect(std::weak_ptr<Session::State> session);
  void forget(uint64_t number);
  void add(uint64_t number, RunEvent event);
  /// Removes the first event. Requires that there is one.
  RunEvent takeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  const int descriptor;
  Mutex mutex;
  std::condition_variable_any added;
  std::deque<RunEvent> events ABSL_GUARDED_BY(mutex);
  /// Sessions of the runs whose ends are not in the queue yet.
  std::map<uint64_t, std::weak_ptr<Session::State>>
      awaited ABSL_GUARDED_BY(mutex);
  uint64_t last ABSL_GUARDED_BY(mutex) = 0;
};

} // namespace pathways

#endif // LIB_API_EVENTQUEUESTATE_H
