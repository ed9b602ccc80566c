//===- host_outbox.cc - Messages that a host sends ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_outbox.h"

namespace pathways {

void HostOutbox::SendControl(ActorId to, ControlRef control) {
  control->set_restarts(restarts());
  world_.PassControl(self_, to, std::move(control).Hand());
}

void HostOutbox::SendToExecutorAfter(TimeNs delay,
                                     const LocalMessage& message) {
  counters_.sent[message.kind].Add();
  world_.SendAfter(actors_.executor, actors_.executor, delay, message);
}

void HostOutbox::SendToCohorts(const HostProgram& program, LocalKind kind,
                               void* payload) {
  LocalMessage message;
  message.kind = kind;
  message.program = program.program;
  message.incarnation = program.incarnation;
  message.payload = payload;
  for (uint32_t device : program.cohort_heads) SendToDevice(device, message);
}

void HostOutbox::SendToken(const HostProgram& program, uint32_t device,
                           uint32_t in_edge, uint64_t firing, bool poison) {
  LocalMessage message;
  message.kind = kLocalToken;
  message.flags = poison ? kPoisoned : 0;
  message.program = program.program;
  message.incarnation = program.incarnation;
  message.target = in_edge;
  message.step = firing;
  SendToDevice(device, message);
}

void HostOutbox::SendToHost(HostProgram* program, int host, WireMessage message,
                            Payload payload) {
  if (payload.bytes >= kMinLentBytes && payload.data != nullptr) [[unlikely]] {
    LocalMessage returned;
    returned.item = UINT32_MAX;  // no device waits
    Lend(program, host, message, payload, returned);
    return;
  }
  Stamp(host, payload.bytes, &message);
  world_.Send(self_, context_.directory.executor(host), message, payload);
}

bool HostOutbox::Lend(HostProgram* program, int host, WireMessage message,
                      Payload payload, LocalMessage returned) {
  Stamp(host, payload.bytes, &message);
  returned.kind = kPayloadReturned;
  returned.program = message.program;
  returned.incarnation = message.incarnation;
  const bool is_lent = world_.Lend(self_, context_.directory.executor(host),
                                   message, payload, returned);
  program->payloads_away += is_lent;
  return is_lent;
}

void HostOutbox::SendToClient(uint32_t client, const WireMessage& message,
                              Payload payload) {
  counters_.sent[message.kind].Add();
  world_.Send(self_, context_.directory.client(client), message, payload);
}

void HostOutbox::Stamp(int host, uint64_t payload_bytes, WireMessage* message) {
  LinkTo(host).Stamp(message);
  counters_.sent[message->kind].Add();
  counters_.messages.Add();
  counters_.bytes.Add(payload_bytes);
  if (trace_ != nullptr) {
    Trace(TraceKind::kSent, host, *message, payload_bytes);
  }
}

PeerLink& HostOutbox::LinkTo(int host) {
  const Directory& directory = context_.directory;
  return links_
      .try_emplace(host, directory.place(host_).epoch,
                   directory.place(host).epoch)
      .first->second;
}

void HostOutbox::Advance(int32_t host, uint32_t epoch) {
  if (host < 0 || host == host_ || host >= context_.topology->num_hosts()) {
    return;
  }
  LinkTo(host).Advance(epoch);
}

void HostOutbox::Trace(TraceKind kind, int host, const WireMessage& message,
                       uint64_t payload_bytes) {
  TraceEvent event =
      NewTraceEvent(kind, IndexOf(actors_.executor), trace_->Now());
  event.program = message.incarnation;
  event.target = message.target;
  event.item = message.kind;
  event.firing = kind == TraceKind::kSent ? message.step : payload_bytes;
  event.value = message.sequence;
  event.other = static_cast<uint32_t>(host);
  trace_->Record(event);
}

}  // namespace pathways
