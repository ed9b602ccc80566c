//===- world_parts.h - Interfaces of a world beside World -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each interface serves one group of callers: actors that run kernels or send
// large payloads, the links to other processes, and threads that make calls
// from outside.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_WORLD_WORLD_PARTS_H_
#define RUNTIME_WORLD_WORLD_PARTS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "runtime/protocol/address.h"
#include "runtime/protocol/wire_message.h"
#include "runtime/world/actor.h"
#include "runtime/world/kernel_gate.h"

namespace pathways {

// News of hosts that go and come again.
class PeerEvents {
 public:
  virtual ~PeerEvents() = default;

  // Notifies `actor` through OnPeer of each host that goes or comes again, once
  // for each of its epochs. For hosts that changed before this call, the actor
  // gets the last state. It gets no news of its own host.
  virtual void WatchPeers(LocalId actor) = 0;
  // Reports that a host is gone in `epoch` and all earlier ones. No watcher is
  // notified if that is known already, or if the host is up in a newer epoch.
  // Called by the transport between processes (on any thread that is not a
  // worker), and by a simulation.
  virtual void ReportPeerDown(int32_t host, uint32_t epoch) = 0;
  // Reports that a host is up in `epoch`, which implies that it is gone in the
  // epoch before; watchers are notified of that first if it was not reported.
  // Messages of the host may come before this report, and also after it is
  // reported down. Same callers as ReportPeerDown.
  virtual void ReportPeerUp(int32_t host, uint32_t epoch) = 0;
};

// Supervision of kernels, for the actors that run them.
class KernelSupervisor {
 public:
  virtual ~KernelSupervisor() = default;

  // Returns the place where the handlers of `worker` (taken modulo
  // num_workers()) find the gate through which they enter kernels. The returned
  // pointer is valid as long as the world; the gate that it points to may
  // differ from one handler to the next.
  virtual KernelGate* const* kernel_gate(int worker) = 0;
  // Adds `by` (negative to subtract) to the number of launches that may run
  // kernels. While the number is positive, a world that can do so looks for
  // kernels that do not return. Any thread.
  virtual void ExpectKernels(int by) = 0;
  // Returns the virtual time that `actor` now takes for work of nominal time
  // `cost`.
  virtual TimeNs CostNow(LocalId actor, TimeNs cost) {
    (void)actor;
    return cost;
  }
};

// Hints about messages that a world may send together. The default does
// nothing.
class SendBatching {
 public:
  virtual ~SendBatching() = default;

  // The handler is about to run for long. Flushes messages batched so far.
  virtual void TakesLong() {}
  // Messages that a thread which is not a worker sends between BeginCall and
  // EndCall may be delayed until EndCall, and this thread may then handle them
  // inside EndCall. The thread must not hold a lock there that a handler takes.
  // Calls may be nested.
  virtual void BeginCall() {}
  virtual void EndCall() {}
};

// Large payloads that stay in the memory of their sender (World::Lend).
class PayloadLoans {
 public:
  virtual ~PayloadLoans() = default;

  virtual bool LendsTo(ActorId to) const = 0;
  virtual bool LendTo(ActorId from, ActorId to, const WireMessage& message,
                      Payload payload, const LocalMessage& returned) = 0;
};

// A hot message that came from another process.
struct Arrival {
  ActorId from = kNoActor;
  ActorId to = kNoActor;
  WireMessage message;
  Payload payload;
};

// Entry of messages from other processes that do not come alone.
class RemoteArrivals {
 public:
  virtual ~RemoteArrivals() = default;

  // Brings an offer from another process; `offer` is its number in this
  // process's links. Returns false if the receiver does not exist.
  virtual bool Offer(ActorId from, ActorId to, const WireMessage& message,
                     uint64_t bytes, uint64_t offer) = 0;
  // Sends each message in order, like World::Send. A world may bring messages
  // to the worker of their receivers together, so that the worker handles none
  // before all are there.
  virtual void SendAll(absl::Span<const Arrival> arrivals) = 0;
};

}  // namespace pathways

#endif  // RUNTIME_WORLD_WORLD_PARTS_H_
