//===- host_executor.cc - One host: its tables, links and grants ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_executor.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {

HostExecutor::HostExecutor(RuntimeContext* context, const HostActors* actors,
                           int host)
    : ControlActor(context->world, &context->directory, &context->controls,
                   context->directory.executor(host)),
      context_(*context),
      world_(context->world),
      actors_(*actors),
      host_(host),
      host_arena_(
          absl::StrCat("host memory of ", context->topology->HostName(host)),
          HostMemoryBytes(context->topology->host(host)),
          context->backends->has_values()),
      staging_(this, &host_arena_, context->topology->HostName(host)),
      outbox_(context, actors, host, &counters_),
      dispatcher_(context, host, &programs_, &outbox_),
      exchanges_(context->topology, &outbox_),
      tokens_(context->topology, actors, host, &programs_, &outbox_,
              &counters_),
      inspections_(host, context->topology->num_host_devices(host), &programs_,
                   &lost_, &exchanges_, &outbox_),
      grants_(context, host, &programs_, &outbox_, &staging_, &dispatcher_),
      loads_(context, actors, host, &arenas_, &host_arena_, &staging_,
             &programs_, &outbox_, &dispatcher_, &grants_, &lost_, &counters_) {
  const Topology& topology = *context->topology;
  const int island = topology.island_of_host(host);
  for (int d = 0; d < topology.num_host_devices(host); ++d) {
    const int64_t device = topology.first_device(host) + d;
    arenas_.push_back(std::make_unique<Arena>(
        topology.DeviceName(island, device),
        DeviceMemoryBytes(topology.device(island, device)),
        context->backends->has_values()));
  }
  const auto disk = context->spill_disks.find(host);
  if (disk != context->spill_disks.end()) {
    StartSpilling(std::move(disk->second));
  }
}

// Work that the host left unfinished ends with its programs, which the
// controller stops.
void HostExecutor::OnWire(ActorId from, const WireMessage& message,
                          Payload payload) {
  const int64_t client = context_.directory.ClientOf(from);
  if (client >= 0) {
    OnClientWire(static_cast<uint32_t>(client), message, payload);
    return Proceed();
  }
  if (HostProgram* program = AcceptWire(from, message)) {
    HandleWire(context_.directory.HostOfExecutor(from), program, message,
               payload);
  }
}

HostProgram* HostExecutor::AcceptWire(ActorId from,
                                      const WireMessage& message) {
  const int host = context_.directory.HostOfExecutor(from);
  if (host < 0 || host == host_ || message.kind == 0 ||
      message.kind >= kNumWireKinds) {
    counters_.foreign.Add();
    return nullptr;
  }
  switch (outbox_.Accept(host, message)) {
    case PeerLink::kNew:
      break;
    case PeerLink::kSecondCopy:
      counters_.duplicates.Add();
      return nullptr;
    case PeerLink::kOtherEpoch:
      counters_.stale.Add();
      return nullptr;
  }
  HostProgram* program = programs_.Find(message.program, message.incarnation);
  if (program == nullptr) counters_.stale.Add();
  return program;
}

void HostExecutor::HandleWire(int host, HostProgram* program,
                              const WireMessage& message, Payload payload) {
  if (outbox_.trace() != nullptr) {
    outbox_.Trace(TraceKind::kReceived, host, message, payload.bytes);
  }
  switch (message.kind) {
    case kTokenMessage:
      return tokens_.OnToken(program, message);
    case kPieceMessage:
      return tokens_.OnPiece(program, message, payload);
    case kBroadcastMessage:
      return tokens_.OnBroadcast(program, message.target, message.step,
                                 message.item, message.flags & kPoisoned);
    case kContributionMessage:
      return exchanges_.OnContribution(host, program, message, payload);
    case kEnqueuedMessage:
      return dispatcher_.OnEnqueued(host, program, message);
    case kTokensMessage:
    case kPiecesMessage:
      return tokens_.OnRecord(program, message, payload);
    default:
      return;
  }
}

void HostExecutor::OnLocal(const LocalMessage& message) {
  switch (message.kind) {
    case kAttached:
      return loads_.OnAttached(message);
    case kDetached:
      loads_.OnDetached(message);
      return Proceed();
    case kInspected:
      return inspections_.OnInspected(message);
    case kHostWorkDone:
      return dispatcher_.OnHostWorkDone(message);
    case kLongHostWork:
      return dispatcher_.OnLongHostWork(message);
    case kHostWorkLimit:
      return OnHostWorkLimit(message);
    case kWorkerLost:
      OnWorkerLost(message);
      return Proceed();
    case kPayloadReturned:
      OnPayloadReturned(message);
      return Proceed();
    case kPayloadLanded:
      OnPayloadLanded(message);
      return Proceed();
    case kForwardRecords:
      return tokens_.ForwardRecords(static_cast<RecordBatch*>(message.payload));
    case kSpillDone:
      return OnSpillDone();
    case kStoredDue:
      stored_due_ = false;
      return SendStored(staging_.last());
    default:
      break;
  }
  HostProgram* program = programs_.Find(message.program, message.incarnation);
  if (program == nullptr) return;
  switch (message.kind) {
    case kForwardToken:
    case kForwardPiece:
      return tokens_.Forward(program, message);
    case kAllFired:
      return tokens_.OnAllFired(program, message);
    case kArrive:
      return exchanges_.OnArrive(program, message);
    case kActionFired:
      return dispatcher_.OnActionFired(program, message);
    case kLongKernel:
      return OnLongKernel(message);
    case kDeviceDone:
      grants_.OnDeviceDone(program, message);
      return Proceed();
    default:
      return;
  }
}

void HostExecutor::OnMessage(ActorId, ControlRef control) {
  if (control->restarts() != outbox_.restarts()) return counters_.stale.Add();
  Handle(std::move(control));
  Proceed();
  if (outbox_.trace() != nullptr) TraceMemory();
}

void HostExecutor::Handle(ControlRef control) {
  switch (control->kind_case()) {
    case proto::Control::kLoadProgram:
      return loads_.OnLoad(control->load_program());
    case proto::Control::kPlanArrived:
      return loads_.OnPlanArrived(control->plan_arrived());
    case proto::Control::kStopProgram:
      return loads_.OnStop(control->stop_program());
    case proto::Control::kFreeProgram:
      return loads_.OnFree(control->free_program());
    case proto::Control::kGrant:
      return grants_.OnGrant(std::move(control));
    case proto::Control::kQuery:
      loads_.NotifyLosses();
      return inspections_.OnQuery(control->query());
    case proto::Control::kPrepareLaunch:
    case proto::Control::kDropObjects:
    case proto::Control::kFetchBegin:
      return OnStore(control);
    default:
      return;
  }
}

void HostExecutor::TraceMemory() {
  traced_bytes_.resize(1 + arenas_.size());
  for (size_t i = 0; i < traced_bytes_.size(); ++i) {
    const uint64_t used = i == 0 ? host_arena_.used() : arenas_[i - 1]->used();
    if (used == traced_bytes_[i]) continue;
    traced_bytes_[i] = used;
    TraceEvent event =
        NewTraceEvent(i == 0 ? TraceKind::kHostBytes : TraceKind::kDeviceBytes,
                      IndexOf(local_id()), outbox_.trace()->Now());
    event.value = used;
    if (i > 0) event.other = IndexOf(actors_.devices[i - 1]);
    outbox_.trace()->Record(event);
  }
}

}  // namespace pathways
