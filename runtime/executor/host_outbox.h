//===- host_outbox.h - Messages that a host sends ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_OUTBOX_H_
#define RUNTIME_EXECUTOR_HOST_OUTBOX_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "runtime/device/counters.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/program/host_actors.h"
#include "runtime/program/host_program.h"
#include "runtime/program/local_kind.h"
#include "runtime/protocol/control_message.h"
#include "runtime/protocol/peer_link.h"
#include "runtime/trace/trace.h"
#include "runtime/world/world.h"

namespace pathways {

// Sends the messages of a host's executor, each at once, and counts them. Has
// the links to other hosts, which number the messages. Invariants: (1) a
// message to another host names the current epochs of both hosts; (2) a program
// counts each of its payloads that is lent. One owner calls it, on the
// executor's worker.
class HostOutbox {
 public:
  // All arguments must outlive the outbox. `actors` must be filled before the
  // first message.
  HostOutbox(RuntimeContext* context, const HostActors* actors, int host,
             HostCounters* counters)
      : context_(*context),
        world_(*context->world),
        actors_(*actors),
        host_(host),
        self_(context->directory.executor(host)),
        counters_(*counters) {}

  // Messages of the control protocol, from this epoch of the host.
  ControlRef New() const { return context_.controls.New(); }
  ControlRef New(ControlMessage::Kind kind) const {
    return context_.controls.New(kind);
  }
  void SendControl(ActorId to, ControlRef control);
  void SendToController(ControlRef control) {
    SendControl(context_.directory.controller(), std::move(control));
  }
  // Number of times that this host was replaced.
  uint32_t restarts() const {
    return context_.directory.place(host_).epoch - 1;
  }

  // Messages to actors of this host.
  void Send(LocalId to, const LocalMessage& message) {
    counters_.sent[message.kind].Add();
    world_.SendLocal(actors_.executor, to, message);
  }
  void SendToDevice(uint32_t device, const LocalMessage& message) {
    Send(actors_.devices[device], message);
  }
  void SendToExecutor(const LocalMessage& message) {
    Send(actors_.executor, message);
  }
  void SendToExecutorAfter(TimeNs delay, const LocalMessage& message);
  // Sends a message to one device of each cohort that the program is on.
  void SendToCohorts(const HostProgram& program, LocalKind kind,
                     void* payload = nullptr);
  // Notifies a device that one token has come.
  void SendToken(const HostProgram& program, uint32_t device, uint32_t in_edge,
                 uint64_t firing, bool poison);

  // Messages to other hosts about `program`. Lend returns false if the world
  // did not lend the payload but sent it; `returned` will not come then.
  void SendToHost(HostProgram* program, int host, WireMessage message,
                  Payload payload = {});
  bool Lend(HostProgram* program, int host, WireMessage message,
            Payload payload, LocalMessage returned);
  void SendToClient(uint32_t client, const WireMessage& message,
                    Payload payload);

  // Records a message that another host has sent.
  PeerLink::Verdict Accept(int host, const WireMessage& message) {
    return LinkTo(host).Accept(message);
  }
  // Records the epoch that another host has, or will have when it returns.
  void Advance(int32_t host, uint32_t epoch);

  // Traces the messages to other hosts. `ring` belongs to the executor's
  // worker.
  void StartTrace(TraceRing* ring) { trace_ = ring; }
  // Returns null if there is no trace.
  TraceRing* trace() const { return trace_; }
  // Requires a trace.
  void Trace(TraceKind kind, int host, const WireMessage& message,
             uint64_t payload_bytes);

 private:
  PeerLink& LinkTo(int host);
  // Numbers a message for its link to the host, counts it and traces it.
  void Stamp(int host, uint64_t payload_bytes, WireMessage* message);

  RuntimeContext& context_;
  World& world_;
  const HostActors& actors_;
  const int host_;
  const ActorId self_;
  TraceRing* trace_ = nullptr;
  HostCounters& counters_;
  absl::flat_hash_map<int, PeerLink> links_;  // by host
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_OUTBOX_H_
