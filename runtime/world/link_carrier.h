//===- link_carrier.h - Faults and costs between hosts ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_LINK_CARRIER_H_
#define RUNTIME_WORLD_LINK_CARRIER_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/world/actor_table.h"
#include "runtime/world/clock.h"
#include "runtime/world/fault.h"
#include "runtime/world/link.h"
#include "runtime/world/message_queue.h"
#include "runtime/world/router.h"
#include "runtime/world/thread_worker.h"
#include "runtime/world/world.h"

namespace pathways {

// Carries the messages of a process's actors that cross hosts, with the faults
// that hooks plant and the costs of links. A message with a cost is held by its
// receiver's worker until it is due. Any thread may call the functions; those
// that send take the worker as which the thread runs.
class LinkCarrier {
 public:
  // Costs apply if there are `links`, and faults if a hook is not null. The
  // pointers must outlive this object.
  LinkCarrier(std::optional<LinkModels> links, FaultHook hook,
              ControlFaultHook control_hook, const WorldClock* clock,
              const ActorTable* actors, Router* router);
  LinkCarrier(const LinkCarrier&) = delete;
  LinkCarrier& operator=(const LinkCarrier&) = delete;

  // Returns true if faults or costs may apply to messages that cross hosts.
  bool is_active() const { return is_active_; }
  // Returns true if a message crosses hosts and faults or costs may apply to
  // it. It must be sent by this object then.
  bool Carries(ActorId from, LocalId to) const {
    return is_active_ && Crosses(from, to);
  }
  // Sends a message. `receiver` is the actor whose address is `to`.
  void Send(ThreadWorker& self, ActorId from, ActorId to, LocalId receiver,
            const WireBody& body);
  void SendControl(ThreadWorker& self, ActorId from, ActorId to,
                   LocalId receiver, std::string bytes);
  // Returns the number of faults that were planted so far.
  uint64_t faults() const { return faults_.load(std::memory_order_relaxed); }

 private:
  bool Crosses(ActorId from, LocalId to) const;
  // Applies a fault and link costs to a message of `bytes` bytes.
  void SendWith(const Fault& fault, ThreadWorker& self,
                const Envelope& envelope, uint64_t bytes);
  // Puts a message on its link. Returns the time of its arrival, or a negative
  // number if the link costs nothing.
  TimeNs Carry(ThreadWorker& self, const Envelope& envelope, uint64_t bytes,
               bool in_order);
  // Makes the receiver's worker hold a message until `time`; a negative time
  // means that it is delivered at once.
  void SendAt(ThreadWorker& self, TimeNs time, const Envelope& envelope);

  const bool is_active_;
  const bool has_links_;
  const FaultHook hook_;
  const ControlFaultHook control_hook_;
  const WorldClock& clock_;
  const ActorTable& actors_;
  Router& router_;
  std::atomic<uint64_t> faults_{0};
  Mutex mutex_;
  // Nullopt if no link costs anything.
  std::optional<LinkTable> links_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_LINK_CARRIER_H_
