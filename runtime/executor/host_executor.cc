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
namespace {

// Messages in flight to an actor that no plan accounts for.
constexpr int64_t kControlReserve = 64;
// Numbers of programs are dense, so this many are never loaded.
constexpr uint32_t kMaxPrograms = 1 << 20;

}  // namespace

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
          HostMemoryBytes(context->topology->host(host)), context->run_kernels),
      store_(&host_arena_) {
  const Topology& topology = *context->topology;
  const int island = topology.island_of_host(host);
  for (int d = 0; d < topology.num_host_devices(host); ++d) {
    const int64_t device = topology.first_device(host) + d;
    arenas_.push_back(std::make_unique<Arena>(
        topology.DeviceName(island, device),
        DeviceMemoryBytes(topology.device(island, device)),
        context->run_kernels));
  }
}

HostProgram* HostExecutor::Find(uint32_t program, uint32_t incarnation) const {
  if (program >= programs_.size() || programs_[program] == nullptr ||
      programs_[program]->incarnation != incarnation ||
      programs_[program]->stopping) {
    return nullptr;
  }
  return programs_[program].get();
}

void HostExecutor::Send(LocalId to, const LocalMessage& message) {
  counters_.sent[message.kind].Add();
  world_->SendLocal(local_id(), to, message);
}

void HostExecutor::SendToHost(int host, WireMessage message, Payload payload) {
  LinkTo(host).Stamp(&message);
  counters_.sent[message.kind].Add();
  counters_.messages.Add();
  counters_.bytes.Add(payload.bytes);
  if (trace_ != nullptr) {
    TraceMessage(TraceKind::kSent, host, message, payload.bytes);
  }
  world_->Send(self(), context_.directory.executor(host), message, payload);
}

PeerLink& HostExecutor::LinkTo(int host) {
  const Directory& directory = context_.directory;
  return links_
      .try_emplace(host, directory.place(host_).epoch,
                   directory.place(host).epoch)
      .first->second;
}

void HostExecutor::OnWire(ActorId from, const WireMessage& message,
                          Payload payload) {
  const int host = context_.directory.HostOfExecutor(from);
  const int64_t client = context_.directory.ClientOf(from);
  if (client >= 0) {
    return OnClientWire(static_cast<uint32_t>(client), message, payload);
  }
  if (host < 0 || host == host_ || message.kind == 0 ||
      message.kind >= kNumWireKinds) {
    counters_.foreign.Add();
    return;
  }
  switch (LinkTo(host).Accept(message)) {
    case PeerLink::kNew:
      break;
    case PeerLink::kSecondCopy:
      counters_.duplicates.Add();
      return;
    case PeerLink::kOtherLife:
      counters_.stale.Add();
      return;
  }
  HostProgram* program = Find(message.program, message.incarnation);
  if (program == nullptr) {
    counters_.stale.Add();
    return;
  }
  if (trace_ != nullptr) {
    TraceMessage(TraceKind::kReceived, host, message, payload.bytes);
  }
  switch (message.kind) {
    case kTokenMessage:
      return OnToken(program, message);
    case kPieceMessage:
      return OnPiece(program, message, payload);
    case kAllMessage:
      return OnAll(program, message.target, message.step, message.item,
                   message.flags & kPoisoned);
    case kContributionMessage:
      return OnContribution(host, program, message, payload);
    case kEnqueuedMessage:
      return OnEnqueued(host, program, message);
    default:
      return;
  }
}

void HostExecutor::OnLocal(const LocalMessage& message) {
  switch (message.kind) {
    case kAttached:
      return OnAttached(message);
    case kDetached:
      return OnDetached(message);
    case kInspected:
      return OnInspected(message);
    case kHostWorkDone:
      return OnHostWorkDone(message);
    case kLongHostWork:
      return OnLongHostWork(message);
    case kHostWorkLimit:
      return OnHostWorkLimit(message);
    case kWorkerLost:
      return OnWorkerLost(message);
    default:
      break;
  }
  HostProgram* program = Find(message.program, message.incarnation);
  if (program == nullptr) return;
  switch (message.kind) {
    case kForwardToken:
    case kForwardPiece:
      return Forward(message);
    case kAllFired:
      return OnAllFired(program, message);
    case kArrive:
      return OnArrive(program, message);
    case kActionFired:
      return OnActionFired(program, message);
    case kFailed:
      return OnFailed(program, message);
    case kLongKernel:
      return OnLongKernel(message);
    case kDeviceDone:
      return OnDeviceDone(program, message);
    default:
      return;
  }
}

void HostExecutor::Forward(const LocalMessage& message) {
  WireMessage out;
  out.kind = message.kind == kForwardToken ? kTokenMessage : kPieceMessage;
  out.flags = message.flags;
  out.program = message.program;
  out.incarnation = message.incarnation;
  out.target = message.target;
  out.shard = message.shard;
  out.item = message.item;
  out.step = message.step;
  SendToHost(static_cast<int>(message.extra), out,
             {message.payload, message.payload_bytes});
}

void HostExecutor::TokenToDevice(HostProgram* program, uint32_t device,
                                 uint32_t in_edge, uint64_t firing,
                                 bool poison) {
  LocalMessage message;
  message.kind = kLocalToken;
  message.flags = poison ? kPoisoned : 0;
  message.program = program->program;
  message.incarnation = program->incarnation;
  message.target = in_edge;
  message.step = firing;
  SendToDevice(device, message);
}

void HostExecutor::OnToken(HostProgram* program, const WireMessage& message) {
  const PreparedPlan& plan = *program->plan;
  if (message.target >= plan.edges().size()) return;
  const PreparedSlice& slice =
      plan.slices()
          [plan.plan().actions(plan.edges()[message.target].to).slice()];
  if (message.shard >= slice.device_of.size()) return;
  const Topology::Place place =
      context_.topology->Locate(slice.island, slice.device_of[message.shard]);
  if (place.host != host_) return;
  const uint32_t in_edge =
      program->devices[place.device]->InEdgeOf(message.target, message.shard);
  if (in_edge == UINT32_MAX) return;
  TokenToDevice(program, place.device, in_edge, message.step,
                message.flags & kPoisoned);
}

void HostExecutor::OnPiece(HostProgram* program, const WireMessage& message,
                           Payload payload) {
  const PreparedPlan& plan = *program->plan;
  if (message.target >= plan.edges().size()) return;
  const uint32_t recv = plan.edges()[message.target].to;
  const PreparedSlice& slice = plan.slices()[plan.plan().actions(recv).slice()];
  if (message.shard >= slice.device_of.size()) return;
  const Topology::Place place =
      context_.topology->Locate(slice.island, slice.device_of[message.shard]);
  if (place.host != host_) return;
  const DeviceProgram& device = *program->devices[place.device];
  const uint64_t entry =
      device.first_entry[recv] +
      device.LocalIndex(plan.plan().actions(recv).slice(), message.shard);
  auto pieces = program->pieces_in.find(
      static_cast<uint64_t>(place.device) << 32 | entry);
  if (pieces == program->pieces_in.end()) return;
  const int32_t source = static_cast<int32_t>(message.item);
  auto piece = std::lower_bound(
      pieces->second.begin(), pieces->second.end(), source,
      [](const PieceIn& a, int32_t shard) { return a.source_shard < shard; });
  if (piece == pieces->second.end() || piece->source_shard != source) return;
  const bool poison = message.flags & kPoisoned;
  // The sender had the credit of this slot, so nobody reads it now.
  if (!poison && payload.data != nullptr && piece->to.base != nullptr &&
      payload.bytes == piece->bytes) {
    layout::CopyBox(payload.data, piece->extent, piece->zeros,
                    piece->to.at(message.step), piece->destination->shape,
                    piece->destination_offset, piece->extent,
                    piece->destination->element_bytes);
  }
  TokenToDevice(program, place.device, piece->in_edge, message.step, poison);
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
  out.kind = kAllMessage;
  out.flags = poison ? kPoisoned : 0;
  out.program = program->program;
  out.incarnation = program->incarnation;
  out.target = message.target;
  out.step = message.step;
  out.item = all.own_sources;
  for (int32_t host : all.target_hosts) SendToHost(host, out);
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
    TokenToDevice(program, target.device, target.in_edge, firing + tokens,
                  poison);
  }
}

void HostExecutor::OnFailed(HostProgram* program, const LocalMessage& message) {
  for (auto& launch : program->launches) {
    if (message.step >= launch->end) continue;
    const auto now =
        std::make_tuple(message.step, message.target, message.shard);
    const auto before = std::make_tuple(
        launch->failed_firing, launch->failed_action, launch->failed_shard);
    if (launch->failed && before <= now) return;
    launch->failed = true;
    launch->failed_firing = message.step;
    launch->failed_action = message.target;
    launch->failed_shard = message.shard;
    launch->failed_step = message.item;
    launch->failed_code = static_cast<int32_t>(message.extra);
    return;
  }
}

void HostExecutor::OnDeviceDone(HostProgram* program,
                                const LocalMessage& message) {
  auto grant =
      std::find_if(program->grants.begin(), program->grants.end(),
                   [&](const auto& g) { return g->place == message.extra; });
  if (grant == program->grants.end()) return;
  --(*grant)->cohorts_left;
  // Of two cohorts, that of the later grant may have been heard first.
  while (!program->grants.empty() &&
         program->grants.front()->cohorts_left == 0) {
    FinishGrant(program);
  }
}

void HostExecutor::FinishGrant(HostProgram* program) {
  const std::unique_ptr<HostGrant> grant = std::move(program->grants.front());
  program->grants.pop_front();
  const HostLaunch& launch = *grant->launch;
  ControlRef control = NewControl();
  proto::GrantDone* done = control->mutable_grant_done();
  done->set_program(program->program);
  done->set_incarnation(program->incarnation);
  done->set_launch(launch.id);
  done->set_sender(host_);
  done->set_number(grant->place);
  TimeNs time_ns = 0;
  for (const HostGrant::Cohort& cohort : grant->cohorts) {
    time_ns = std::max(time_ns, cohort.time_ns);
  }
  done->set_time_ns(static_cast<uint64_t>(time_ns));
  if (grant->end == launch.end) FinishLaunch(program, done);
  SendControl(
      context_.directory.scheduler(context_.topology->island_of_host(host_)),
      std::move(control));
}

void HostExecutor::FinishLaunch(HostProgram* program, proto::GrantDone* done) {
  const std::unique_ptr<HostLaunch> launch =
      std::move(program->launches.front());
  program->launches.pop_front();
  done->set_over(true);
  if (launch->failed) {
    proto::Failure* failure = done->mutable_failure();
    failure->set_firing(launch->failed_firing);
    failure->set_action(launch->failed_action);
    failure->set_shard(launch->failed_shard);
    failure->set_step(launch->failed_step);
    failure->set_code(launch->failed_code);
  }
  const auto& results = launch->values->results;
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r].poisoned.load(std::memory_order_relaxed)) {
      done->add_poisoned(static_cast<uint32_t>(r));
    }
  }
  FinishValues(*launch->values, /*failed=*/false);
  world_->ExpectKernels(-1);
  TellFilled();
}

void HostExecutor::OnMessage(ActorId, ControlRef control) {
  Handle(control);
  if (trace_ != nullptr) TraceMemory();
}

void HostExecutor::Handle(const ControlRef& control) {
  switch (control->kind_case()) {
    case proto::Control::kLoadProgram:
      return OnLoad(control->load_program());
    case proto::Control::kStopProgram:
      return OnStop(control->stop_program());
    case proto::Control::kFreeProgram:
      return OnFree(control->free_program());
    case proto::Control::kGrant:
      return OnGrant(control->grant());
    case proto::Control::kQuery:
      return OnQuery(control->query());
    case proto::Control::kPrepareLaunch:
      return OnStore(control->prepare_launch().sequence(), control);
    case proto::Control::kDropObjects:
      return OnStore(control->drop_objects().sequence(), control);
    case proto::Control::kFetchBegin:
      if (control->fetch_begin().sequence() == 0) {
        return OnFetchAgain(control->client(), control->fetch_begin());
      }
      return OnStore(control->fetch_begin().sequence(), control);
    default:
      return;
  }
}

void HostExecutor::TraceMessage(TraceKind kind, int host,
                                const WireMessage& message,
                                uint64_t payload_bytes) {
  TraceEvent event = NewTraceEvent(kind, IndexOf(local_id()), trace_->Now());
  event.program = message.incarnation;
  event.target = message.target;
  event.item = message.kind;
  event.firing = kind == TraceKind::kSent ? message.step : payload_bytes;
  event.value = message.sequence;
  event.other = static_cast<uint32_t>(host);
  trace_->Record(event);
}

void HostExecutor::TraceMemory() {
  traced_bytes_.resize(1 + arenas_.size());
  for (size_t i = 0; i < traced_bytes_.size(); ++i) {
    const uint64_t used = i == 0 ? host_arena_.used() : arenas_[i - 1]->used();
    if (used == traced_bytes_[i]) continue;
    traced_bytes_[i] = used;
    TraceEvent event =
        NewTraceEvent(i == 0 ? TraceKind::kHostBytes : TraceKind::kDeviceBytes,
                      IndexOf(local_id()), trace_->Now());
    event.value = used;
    if (i > 0) event.other = IndexOf(actors_.devices[i - 1]);
    trace_->Record(event);
  }
}

void HostExecutor::ReplyLoaded(uint32_t program, uint32_t incarnation,
                               const absl::Status& status) {
  ControlRef control = NewControl();
  proto::LoadReply* reply = control->mutable_load_reply();
  reply->set_program(program);
  reply->set_incarnation(incarnation);
  reply->set_host(host_);
  reply->set_code(static_cast<int>(status.code()));
  reply->set_message(std::string(status.message()));
  if (const HostProgram* loaded = Find(program, incarnation)) {
    reply->set_memory_bytes(loaded->host_memory.bytes());
  }
  SendControl(context_.directory.controller(), std::move(control));
}

void HostExecutor::OnLoad(const proto::LoadProgram& load) {
  const uint32_t id = load.program();
  if (id >= kMaxPrograms) {
    return ReplyLoaded(
        id, load.incarnation(),
        absl::InvalidArgumentError(absl::StrCat(
            "program ", id, " was loaded, expected below ", kMaxPrograms)));
  }
  if (id < programs_.size() && programs_[id] != nullptr) {
    HostProgram* old = programs_[id].get();
    if (old->incarnation == load.incarnation() && old->waiting.empty() &&
        !old->stopping) {
      ReplyLoaded(id, load.incarnation(), CheckLosses(*old));
    }
    return;
  }
  std::shared_ptr<const PreparedPlan> plan = context_.plans.Find(load.plan());
  if (plan == nullptr) {
    return;  // a second copy, after the program ended
  }
  if (context_.trace != nullptr) {
    context_.trace->AddProgram(
        load.incarnation(),
        std::shared_ptr<const proto::Plan>(plan, &plan->plan()));
  }
  std::vector<Arena*> arenas;
  for (auto& arena : arenas_) arenas.push_back(arena.get());
  absl::StatusOr<std::unique_ptr<HostProgram>> built = HostProgram::Build(
      std::move(plan), *context_.topology, actors_, context_.dispatch, host_,
      id, load.incarnation(), arenas, &host_arena_);
  if (!built.ok()) {
    ReplyLoaded(id, load.incarnation(), built.status());
    return;
  }
  if (absl::Status lost = CheckLosses(**built); !lost.ok()) {
    TellLosses();
    return ReplyLoaded(id, load.incarnation(), lost);
  }
  if (id >= programs_.size()) programs_.resize(id + 1);
  programs_[id] = *std::move(built);
  HostProgram* program = programs_[id].get();
  context_.loaded.Set(load.incarnation(), program->plan);
  Reserve(program, 1);
  UpdateCounters();
  for (auto& device : program->devices) {
    if (device == nullptr) continue;
    program->waiting.Insert(static_cast<int32_t>(device->device));
    LocalMessage message;
    message.kind = kAttach;
    message.program = id;
    message.incarnation = load.incarnation();
    message.payload = device.get();
    SendToDevice(device->device, message);
  }
}

void HostExecutor::Reserve(HostProgram* program, int sign) {
  // At most `window` firings of anything are open.
  const int64_t window = program->plan->window();
  int64_t own = kControlReserve;
  for (auto& device : program->devices) {
    if (device == nullptr) continue;
    int64_t in = kControlReserve;
    for (const InEdge& edge : device->in_edges) in += edge.expected * window;
    // Of two firings, when all have arrived and when all are about to leave.
    in += int64_t{device->queue->num_meetings} * 4;
    own += int64_t{device->queue->num_meetings} * 2;
    own += (device->out.size() + device->pieces.size()) * window;
    world_->Reserve(actors_.devices[device->device], sign * in);
  }
  for (const auto& [entry, pieces] : program->pieces_in) {
    own += pieces.size() * window;
  }
  for (const HostGroup& group : program->groups) {
    if (group.exchange == nullptr) continue;
    own += 2 * group.exchange->plan().receives.size();
  }
  for (const HostAllEdge& all : program->all_edges) {
    own += window * (all.target_hosts.size() + 1);
  }
  // Tokens from other hosts pass through here too.
  for (auto& device : program->devices) {
    if (device == nullptr) continue;
    for (const InEdge& edge : device->in_edges) {
      if (program->plan->edges()[edge.edge].relation == proto::PIECES) {
        own += edge.expected * window;
      }
    }
  }
  if (program->dispatch != nullptr) {
    for (const DispatchTable::Item& item : program->dispatch->items) {
      own += item.shards * window;
      for (uint32_t device : item.devices) {
        world_->Reserve(actors_.devices[device], sign * window);
      }
    }
    // A sender may be a window ahead of what its devices sent, and they one
    // ahead of what was read here.
    own += program->dispatch->remotes.size() * 2 * window;
  }
  world_->Reserve(local_id(), sign * own);
}

void HostExecutor::UpdateCounters() {
  uint64_t shards = 0, entries = 0, queue = 0, edges = 0, bytes = 0;
  for (const auto& program : programs_) {
    if (program == nullptr) continue;
    shards += program->num_own_shards;
    entries += program->num_entries;
    queue += program->num_queue_entries;
    edges += program->num_in_edges;
    bytes += program->host_memory.bytes();
  }
  counters_.own_shards.Set(shards);
  counters_.entries.Set(entries);
  counters_.queue_entries.Set(queue);
  counters_.in_edges.Set(edges);
  counters_.program_bytes.Set(bytes);
}

void HostExecutor::OnAttached(const LocalMessage& message) {
  HostProgram* program = Find(message.program, message.incarnation);
  if (program == nullptr ||
      !program->waiting.Erase(static_cast<int32_t>(message.item))) {
    return;
  }
  if (program->waiting.empty()) {
    ReplyLoaded(program->program, program->incarnation, CheckLosses(*program));
  }
}

void HostExecutor::OnStop(const proto::StopProgram& stop) {
  HostProgram* program = stop.program() < programs_.size()
                             ? programs_[stop.program()].get()
                             : nullptr;
  if (program != nullptr && program->incarnation == stop.incarnation()) {
    if (program->stopping && !program->stopped) return;  // being done
    if (!program->stopping) {
      program->stopping = true;
      work_.Drop(program->program, program->incarnation);
      program->waiting.Clear();
      for (auto& device : program->devices) {
        if (device == nullptr) continue;
        const int32_t number = static_cast<int32_t>(device->device);
        if (deaf_.Contains(number)) continue;
        program->waiting.Insert(number);
        LocalMessage message;
        message.kind = kDetach;
        message.program = program->program;
        message.incarnation = program->incarnation;
        SendToDevice(device->device, message);
      }
      if (!program->waiting.empty()) return;
      return FinishStop(program);
    }
  }
  ControlRef control = NewControl();
  proto::StopReply* reply = control->mutable_stop_reply();
  reply->set_program(stop.program());
  reply->set_incarnation(stop.incarnation());
  reply->set_host(host_);
  SendControl(context_.directory.controller(), std::move(control));
}

void HostExecutor::OnDetached(const LocalMessage& message) {
  HostProgram* program = message.program < programs_.size()
                             ? programs_[message.program].get()
                             : nullptr;
  if (program == nullptr || program->incarnation != message.incarnation ||
      !program->stopping ||
      !program->waiting.Erase(static_cast<int32_t>(message.item))) {
    return;
  }
  if (program->waiting.empty()) FinishStop(program);
}

void HostExecutor::FinishStop(HostProgram* program) {
  program->stopped = true;
  // No device looks at their values any more.
  for (const auto& launch : program->launches) {
    FinishValues(*launch->values, /*failed=*/true);
  }
  std::erase_if(unfilled_,
                [&](const Unfilled& u) { return u.program == program; });
  world_->ExpectKernels(-static_cast<int>(program->launches.size()));
  program->launches.clear();
  program->grants.clear();
  TellFilled();
  proto::StopProgram again;
  again.set_program(program->program);
  again.set_incarnation(program->incarnation);
  OnStop(again);
}

void HostExecutor::OnFree(const proto::FreeProgram& free) {
  HostProgram* program = free.program() < programs_.size()
                             ? programs_[free.program()].get()
                             : nullptr;
  if (program != nullptr && program->incarnation == free.incarnation()) {
    if (!program->stopped) return;  // out of order: StopProgram comes first
    // All hosts have stopped it.
    context_.loaded.Remove(program->incarnation);
    Reserve(program, -1);
    std::unique_ptr<HostProgram> gone = std::move(programs_[free.program()]);
    if (HasDeaf(*gone)) Bury(std::move(gone));
    UpdateCounters();
  }
  ControlRef control = NewControl();
  proto::FreeReply* reply = control->mutable_free_reply();
  reply->set_program(free.program());
  reply->set_incarnation(free.incarnation());
  reply->set_host(host_);
  SendControl(context_.directory.controller(), std::move(control));
}

void HostExecutor::OnGrant(const proto::Grant& grant) {
  if (grant.place() <= last_place_) {
    // A second copy, or one that was given up.
    for (proto::Grant& held : held_) {
      if (held.place() == grant.place() && grant.skip()) held.set_skip(true);
    }
    return;
  }
  if (grant.previous_place() != last_place_) {
    early_[grant.previous_place()] = grant;
    return;
  }
  last_place_ = grant.place();
  TakeGrant(grant);
  for (auto early = early_.find(last_place_); early != early_.end();
       early = early_.find(last_place_)) {
    last_place_ = early->second.place();
    TakeGrant(early->second);
    early_.erase(early);
  }
}

void HostExecutor::TakeGrant(const proto::Grant& grant) {
  if (held_.empty() && grant.store() <= last_store_) return ApplyGrant(grant);
  held_.push_back(grant);
}

HostLaunch* HostExecutor::LaunchOf(HostProgram* program,
                                   const proto::Grant& grant) {
  // One before it was given up, so the program is: devices fire in order.
  if (grant.first() != program->granted) return nullptr;
  if (!program->launches.empty() &&
      program->launches.back()->id == grant.launch()) {
    return program->launches.back().get();
  }
  if (grant.first() != grant.launch_first() || grant.launch_steps() == 0 ||
      grant.launch_steps() > kMaxSteps || grant.first() > UINT64_MAX / 2) {
    return nullptr;
  }
  auto launch = std::make_unique<HostLaunch>();
  launch->id = grant.launch();
  launch->first = grant.launch_first();
  launch->end = grant.launch_first() + grant.launch_steps();
  launch->values = TakeValues(*program, grant);
  if (launch->values == nullptr) return nullptr;
  size_t missing = 0;
  for (const auto& argument : launch->values->arguments) {
    missing += argument != nullptr && !argument->filled.load();
  }
  if (missing > 0) unfilled_.push_back({program, launch.get(), missing});
  program->launches.push_back(std::move(launch));
  world_->ExpectKernels(1);
  return program->launches.back().get();
}

void HostExecutor::ApplyGrant(const proto::Grant& message) {
  HostProgram* program = Find(message.program(), message.incarnation());
  if (program == nullptr || message.skip()) return;
  HostLaunch* launch = LaunchOf(program, message);
  if (launch == nullptr || message.steps() == 0 ||
      message.steps() > launch->end - message.first()) {
    return;
  }
  auto grant = std::make_unique<HostGrant>();
  grant->launch = launch;
  grant->place = message.place();
  grant->first = message.first();
  grant->end = message.first() + message.steps();
  program->granted = grant->end;
  const std::vector<uint32_t>& cohorts = actors_.cohorts;
  grant->cohorts.resize(cohorts.size());
  for (auto& device : program->devices) {
    if (device == nullptr) continue;
    grant->cohorts_left += grant->cohorts[cohorts[device->device]].left++ == 0;
  }
  LocalMessage out;
  out.kind = kGrantDevice;
  out.program = program->program;
  out.incarnation = program->incarnation;
  out.payload = grant.get();
  SendToCohorts(*program, out);
  // Before devices of this worker are in kernels, perhaps for long.
  if (message.store() != 0) SendStored();
  program->grants.push_back(std::move(grant));
  PrepareGranted(program);
}

void HostExecutor::SendToCohorts(const HostProgram& program,
                                 const LocalMessage& message) {
  const std::vector<uint32_t>& cohorts = actors_.cohorts;
  std::vector<bool> told(cohorts.size());
  for (const auto& device : program.devices) {
    if (device == nullptr || told[cohorts[device->device]]) continue;
    told[cohorts[device->device]] = true;
    SendToDevice(device->device, message);
  }
}

void HostExecutor::TellFilled() {
  for (Unfilled& unfilled : unfilled_) {
    size_t missing = 0;
    for (const auto& argument : unfilled.launch->values->arguments) {
      missing += argument != nullptr && !argument->filled.load();
    }
    if (missing == unfilled.missing) continue;
    unfilled.missing = missing;
    LocalMessage message;
    message.kind = kArgumentFilled;
    message.program = unfilled.program->program;
    message.incarnation = unfilled.program->incarnation;
    SendToCohorts(*unfilled.program, message);
  }
  std::erase_if(unfilled_, [](const Unfilled& u) { return u.missing == 0; });
}

void HostExecutor::OnQuery(const proto::Query& query) {
  TellLosses();
  Inspection& inspection = inspections_[query.program()];
  if (!inspection.waiting.empty()) {
    inspection.round = std::max(inspection.round, query.round());
    return;
  }
  inspection.round = query.round();
  inspection.incarnation = query.incarnation();
  inspection.reports.clear();
  for (size_t d = 0; d < arenas_.size(); ++d) {
    inspection.reports.push_back(std::make_unique<DeviceReport>());
    if (deaf_.Contains(static_cast<int32_t>(d))) continue;
    inspection.waiting.Insert(static_cast<int32_t>(d));
    LocalMessage message;
    message.kind = kInspect;
    message.program = query.program();
    message.incarnation = query.incarnation();
    message.payload = inspection.reports.back().get();
    SendToDevice(d, message);
  }
  if (inspection.waiting.empty()) FinishInspection(query.program());
}

void HostExecutor::OnInspected(const LocalMessage& message) {
  auto found = inspections_.find(message.program);
  if (found == inspections_.end() ||
      !found->second.waiting.Erase(static_cast<int32_t>(message.item))) {
    return;
  }
  if (found->second.waiting.empty()) FinishInspection(message.program);
}

void HostExecutor::FinishInspection(uint32_t id) {
  auto found = inspections_.find(id);
  Inspection& inspection = found->second;
  HostProgram* program = Find(id, inspection.incarnation);
  ControlRef control = NewControl();
  proto::Report* report = control->mutable_report();
  report->set_round(inspection.round);
  report->set_program(id);
  report->set_incarnation(inspection.incarnation);
  report->set_host(host_);
  if (program != nullptr) report->set_granted(program->granted);
  // Of the devices, those with the smallest (firing, position).
  auto place = [](const DeviceReport& r) {
    return r.report.stuck_size() == 0
               ? std::make_pair(UINT64_MAX, uint32_t{0})
               : std::make_pair(r.report.stuck(0).firing(),
                                r.report.stuck(0).action());
  };
  std::pair<uint64_t, uint32_t> least{UINT64_MAX, 0};
  for (const auto& r : inspection.reports) {
    report->set_fired(report->fired() + r->report.fired());
    least = std::min(least, place(*r));
  }
  for (auto& r : inspection.reports) {
    if (least.first == UINT64_MAX || place(*r) != least) continue;
    for (int i = 0; i < r->report.stuck_size(); ++i) {
      proto::StuckShard* stuck = report->add_stuck();
      *stuck = r->report.stuck(i);
      if (program != nullptr && stuck->unprepared()) {
        ReportDispatch(*program, stuck);
      }
      if (program == nullptr || r->groups[i] >= program->groups.size()) {
        continue;
      }
      ReportAbsent(*program, program->groups[r->groups[i]], stuck);
    }
  }
  inspections_.erase(found);
  SendControl(context_.directory.controller(), std::move(control));
}

}  // namespace pathways
