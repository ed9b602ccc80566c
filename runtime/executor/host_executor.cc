//===- host_executor.cc - One host: its tables, links and grants ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_executor.h"

#include <algorithm>
#include <cstring>
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
      first_device_(context->topology->GlobalDevice({host, 0})),
      host_arena_(
          absl::StrCat("host memory of ", context->topology->HostName(host)),
          HostMemoryBytes(context->topology->host(host)),
          context->backends->has_values()),
      staging_(this, &host_arena_, context->topology->HostName(host)),
      outbox_(context, actors, host, &counters_),
      dispatcher_(context, host, &programs_, &outbox_),
      exchanges_(context->topology, &outbox_) {
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
      return OnToken(program, message);
    case kPieceMessage:
      return OnPiece(program, message, payload);
    case kBroadcastMessage:
      return OnAll(program, message.target, message.step, message.item,
                   message.flags & kPoisoned);
    case kContributionMessage:
      return exchanges_.OnContribution(host, program, message, payload);
    case kEnqueuedMessage:
      return dispatcher_.OnEnqueued(host, program, message);
    case kTokensMessage:
    case kPiecesMessage:
      return OnRecord(program, message, payload);
    default:
      return;
  }
}

void HostExecutor::OnLocal(const LocalMessage& message) {
  switch (message.kind) {
    case kAttached:
      return OnAttached(message);
    case kDetached:
      OnDetached(message);
      return Proceed();
    case kInspected:
      return OnInspected(message);
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
      return ForwardRecords(static_cast<RecordBatch*>(message.payload));
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
      return Forward(program, message);
    case kAllFired:
      return OnAllFired(program, message);
    case kArrive:
      return exchanges_.OnArrive(program, message);
    case kActionFired:
      return dispatcher_.OnActionFired(program, message);
    case kLongKernel:
      return OnLongKernel(message);
    case kDeviceDone:
      OnDeviceDone(program, message);
      return Proceed();
    default:
      return;
  }
}

void HostExecutor::Forward(HostProgram* program, const LocalMessage& message) {
  WireMessage out;
  out.kind = message.kind == kForwardToken ? kTokenMessage : kPieceMessage;
  out.flags = message.flags & kPoisoned;
  out.program = message.program;
  out.incarnation = message.incarnation;
  out.target = message.target;
  out.shard = message.shard;
  out.item = message.item;
  out.step = message.step;
  const int host = static_cast<int>(message.extra);
  const Payload payload = {message.payload, message.payload_bytes};
  if (message.flags & kInPlace) {
    LendPiece(program, host, out, payload);
  } else {
    outbox_.SendToHost(program, host, out, payload);
  }
}

const SliceBinding* HostExecutor::TargetOf(const HostProgram& program,
                                           uint32_t edge) {
  const PreparedPlan& plan = *program.plan;
  if (edge >= plan.edges().size()) return nullptr;
  return &plan.bound(plan.plan().actions(plan.edges()[edge].to).slice());
}

TokenBatch::Member HostExecutor::FindEntry(const HostProgram& program,
                                           uint32_t edge,
                                           const SliceBinding& target,
                                           uint32_t shard) const {
  constexpr TokenBatch::Member kNone{0, UINT32_MAX};
  if (shard >= target.device_of.size()) return kNone;
  const auto device =  // wraps, or is too large, for a device of another host
      static_cast<uint64_t>(target.device_of[shard] - first_device_);
  if (device >= program.devices.size()) return kNone;
  const uint32_t base =
      program.edge_bases.At(edge, static_cast<uint32_t>(device));
  if (base == kNoEntry) return kNone;
  return {static_cast<uint32_t>(device),
          base + static_cast<uint32_t>(target.index_of[shard])};
}

void HostExecutor::OnToken(HostProgram* program, const WireMessage& message) {
  const SliceBinding* target = TargetOf(*program, message.target);
  if (target == nullptr) return;
  const TokenBatch::Member here =
      FindEntry(*program, message.target, *target, message.shard);
  if (here.in_edge == UINT32_MAX) return;
  outbox_.SendToken(*program, here.device, here.in_edge, message.step,
                    message.flags & kPoisoned);
}

void HostExecutor::OnPiece(HostProgram* program, const WireMessage& message,
                           Payload payload) {
  const PieceIn* piece =
      FindPiece(*program, message.target, message.shard, message.item);
  if (piece == nullptr) return;
  const bool poison = message.flags & kPoisoned;
  // The sender had the credit for this slot, so no entry reads it now.
  if (!poison && payload.data != nullptr && piece->to.base != nullptr &&
      payload.bytes == piece->bytes &&
      payload.data != piece->PlaceAt(message.step)) {
    Place(*piece, message.step, payload.data);
  }
  outbox_.SendToken(*program, piece->device, piece->in_edge, message.step,
                    poison);
}

void HostExecutor::Place(const PieceIn& piece, uint64_t firing,
                         const void* bytes) {
  if (char* const dense = piece.PlaceAt(firing)) {
    std::memcpy(dense, bytes, piece.bytes);
  } else {
    layout::CopyBox(bytes, piece.extent, piece.zeros, piece.to.at(firing),
                    piece.destination->shape, piece.destination_offset,
                    piece.extent, piece.destination->element_bytes);
  }
  counters_.placed_bytes.Add(piece.bytes);
}

void HostExecutor::OnAllFired(HostProgram* program,
                              const LocalMessage& message) {
  const int32_t index = message.target < program->all_of_edge.size()
                            ? program->all_of_edge[message.target]
                            : -1;
  if (index < 0) return;
  HostAllEdge& all = program->all_edges[index];
  const uint64_t slot = message.step % program->plan->window();
  all.left_poison[slot] |= (message.flags & kPoisoned) != 0;
  if (--all.left[slot] != 0) return;
  const bool poison = all.left_poison[slot];
  all.left[slot] = all.own_sources;
  all.left_poison[slot] = 0;
  WireMessage out;
  out.kind = kBroadcastMessage;
  out.flags = poison ? kPoisoned : 0;
  out.program = program->program;
  out.incarnation = program->incarnation;
  out.target = message.target;
  out.step = message.step;
  out.item = all.own_sources;
  for (int32_t host : all.target_hosts) outbox_.SendToHost(program, host, out);
  OnAll(program, message.target, message.step, all.own_sources, poison);
}

void HostExecutor::OnAll(HostProgram* program, uint32_t edge, uint64_t firing,
                         uint32_t count, bool poison) {
  const int32_t index =
      edge < program->all_of_edge.size() ? program->all_of_edge[edge] : -1;
  if (index < 0) return;
  HostAllEdge& all = program->all_edges[index];
  if (all.targets.empty()) return;
  const uint64_t slot = firing % program->plan->window();
  all.arrived[slot] += count;
  all.arrived_poison[slot] |= poison;
  if (all.arrived[slot] < all.all_sources) return;
  poison = all.arrived_poison[slot];
  all.arrived[slot] = 0;
  all.arrived_poison[slot] = 0;
  const uint32_t tokens = program->plan->edges()[edge].tokens;
  for (const HostAllEdge::Target& target : all.targets) {
    outbox_.SendToken(*program, target.device, target.in_edge, firing + tokens,
                      poison);
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
      return OnLoad(control->load_program());
    case proto::Control::kPlanArrived:
      return OnPlanArrived(control->plan_arrived());
    case proto::Control::kStopProgram:
      return OnStop(control->stop_program());
    case proto::Control::kFreeProgram:
      return OnFree(control->free_program());
    case proto::Control::kGrant:
      return OnGrant(std::move(control));
    case proto::Control::kQuery:
      return OnQuery(control->query());
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
