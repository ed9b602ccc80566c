//===- EventQueue.h - Queue of ended runs -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_EVENTQUEUE_H
#define PATHWAYS_EVENTQUEUE_H

#include "pathways/Result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pathways {

/// The end of a run.
struct RunEvent {
  /// Tag that Run::notify was given.
  uint64_t tag = 0;
  /// What Run::await returns.
  Status status;
};

/// Collects the ends of any number of runs, of any sessions, in the order in
/// which they end. The descriptor lets an event loop wait for them beside its
/// other files. Copies refer to the same queue. A moved-from or
/// default-constructed queue never has an event. Thread-safe.
class EventQueue {
public:
  EventQueue() = default;
  /// Errors: Refused if the system has no descriptor left.
  static Result<EventQueue> create();

  /// Descriptor that is readable (poll, epoll, select) while the queue has
  /// events. The queue owns it: the caller must not read, write or close it.
  /// -1 for a moved-from or default-constructed queue.
  int descriptor() const;
  /// Removes and returns all events, in order. Never waits.
  std::vector<RunEvent> take();
  /// Removes and returns the first event. Waits for one for at most `waitNs`
  /// nanoseconds if that is not negative; then returns nullopt. A simulation
  /// makes progress only during calls that wait: this one goes on with it until
  /// an event comes, whatever `waitNs` is. Errors: InvalidArgument for a
  /// moved-from or default-constructed queue; RunFailed if no run of the
  /// simulation can ever end.
  Result<std::optional<RunEvent>> wait(int64_t waitNs = -1);

  struct State;
  explicit EventQueue(std::shared_ptr<State> state) : state(std::move(state)) {}
  const std::shared_ptr<State> &getState() const { return state; }

private:
  std::shared_ptr<State> state;
};

} // namespace pathways

#endif // PATHWAYS_EVENTQUEUE_H
