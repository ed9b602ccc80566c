//===- router.h - Way of a message to its worker ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_ROUTER_H_
#define RUNTIME_WORLD_ROUTER_H_

#include <atomic>
#include <cstdint>

#include "absl/types/span.h"
#include "runtime/world/actor_table.h"
#include "runtime/world/mailbox.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/open_calls.h"
#include "runtime/world/worker_set.h"
#include "runtime/world/world.h"

namespace pathways {

// Puts messages into the mailbox of their receiver's worker, and wakes that
// worker if it sleeps. Workers use Route, which takes no lock; other threads
// use Post. Messages of one thread to one worker keep their order.
class Router {
 public:
  // All arguments must outlive this object. Messages that are posted once
  // `stopping` is true are dropped.
  Router(const ActorTable* actors, WorkerSet* workers, const OpenCalls* calls,
         const std::atomic<bool>* stopping)
      : actors_(*actors),
        workers_(*workers),
        calls_(*calls),
        stopping_(*stopping) {}
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Returns the worker of an actor of this process.
  int WorkerOf(LocalId actor) const {
    return actors_.hot(IndexOf(actor)).worker;
  }

  // Pushes a message from the worker `self`, as which this thread runs.
  template <typename T>
  void Route(ThreadWorker& self, MailboxQueue queue, Envelope::Kind kind,
             const T& body, ActorId from, LocalId to);
  // Pushes a message that was posted or held back.
  void Route(ThreadWorker& self, const Envelope& envelope);

  // Posts a message from a thread that is not a worker. A negative deadline
  // means that it is not a timer. If the thread is in a call, the worker is not
  // woken before the call ends.
  void Post(TimeNs deadline, const Envelope& envelope);
  // Posts messages together to one worker, from a thread that is not a worker
  // or from a worker that polls.
  void Arrive(int worker, absl::Span<const Posted> posted);
  void Arrive(const Envelope& envelope) {
    const Posted posted = {-1, envelope};
    Arrive(WorkerOf(LocalId{envelope.to}), absl::MakeConstSpan(&posted, 1));
  }
  // Wakes the worker, if it sleeps, and the next one, before a message is
  // posted. A client's request seldom stays on one worker, and two cores leave
  // deep sleep in the time of one. A worker on the caller's core is woken by
  // the post instead.
  void Rouse(int worker);

 private:
  const ActorTable& actors_;
  WorkerSet& workers_;
  const OpenCalls& calls_;
  const std::atomic<bool>& stopping_;
};

template <typename T>
void Router::Route(ThreadWorker& self, MailboxQueue queue, Envelope::Kind kind,
                   const T& body, ActorId from, LocalId to) {
  const int32_t target = actors_.hot(IndexOf(to)).worker;
  if (target == self.index) {
    self.mailbox.PushOwn(queue, kind, body, from, to);
    return;
  }
  Mailbox& other = workers_[target].mailbox;
  other.Push(queue, self.index, kind, body, from, to);
  if (other.asleep()) {
    self.stats.wakes.Add(1);
    other.Wake();
  }
}

}  // namespace pathways

#endif  // RUNTIME_WORLD_ROUTER_H_
