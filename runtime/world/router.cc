//===- router.cc - Way of a message to its worker -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/router.h"

#include <sched.h>

#include <cstddef>
#include <cstring>

#include "runtime/world/envelope_body.h"

namespace pathways {

// The whole body is copied, whatever its type.
void Router::Route(ThreadWorker& self, const Envelope& envelope) {
  struct Body {
    alignas(8) std::byte bytes[sizeof(Envelope::body)];
  } body;
  std::memcpy(body.bytes, envelope.body, sizeof(body));
  Route(self, QueueOf(envelope), static_cast<Envelope::Kind>(envelope.kind),
        body, envelope.from, LocalId{envelope.to});
}

void Router::Post(TimeNs deadline, const Envelope& envelope) {
  Mailbox& mailbox = workers_[actors_.hot(envelope.to).worker].mailbox;
  if (!mailbox.Post(Posted{deadline, envelope}, stopping_, calls_.IsInCall())) {
    DropEnvelope(envelope);
  }
}

void Router::Arrive(int worker, absl::Span<const Posted> posted) {
  // Earlier messages for the worker are in its own queue or in its inbox. While
  // the inbox is empty, a worker that polls may put messages directly into its
  // own queue.
  ThreadWorker* self = workers_.Self();
  if (self != nullptr && self->index == worker && self->polls &&
      !self->mailbox.has_posted()) {
    self->stats.outside.Add(posted.size());
    for (const Posted& one : posted) Route(*self, one.envelope);
    return;
  }
  if (workers_[worker].mailbox.PostAll(posted, stopping_)) return;
  for (const Posted& one : posted) DropEnvelope(one.envelope);
}

void Router::Rouse(int worker) {
  ThreadWorker& own = workers_[worker];
  if (!own.mailbox.seems_asleep()) return;
  // A sleeping core wakes up while the system works on the next call.
  if (own.core.load(std::memory_order_relaxed) != sched_getcpu()) {
    own.mailbox.Wake();
  }
  Mailbox& next = workers_[(worker + 1) % workers_.size()].mailbox;
  if (next.asleep()) next.Wake();
}

}  // namespace pathways
