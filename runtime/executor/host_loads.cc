//===- host_loads.cc - Programs of a host, from load to end ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_loads.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/binding/plan_index.h"

namespace pathways {
namespace {

// Upper bound on messages in flight to an actor beyond those that a plan
// accounts for.
constexpr int64_t kControlReserve = 64;

}  // namespace

void HostLoads::ReplyLoaded(uint32_t program, uint32_t incarnation,
                            const absl::Status& status, uint64_t lacking) {
  ControlRef control = outbox_.New();
  proto::LoadReply* reply = control->mutable_load_reply();
  reply->set_program(program);
  reply->set_incarnation(incarnation);
  reply->set_host(host_);
  reply->set_code(static_cast<int>(status.code()));
  reply->set_message(std::string(status.message()));
  reply->set_memory_bytes(lacking);
  if (const HostProgram* loaded = programs_.Find(program, incarnation)) {
    reply->set_memory_bytes(loaded->host_memory.bytes());
  }
  outbox_.SendToController(std::move(control));
}

void HostLoads::OnLoad(const proto::LoadProgram& load) {
  if (waiting_.count(load.incarnation()) > 0) return;
  const uint64_t lacking = Load(load, /*is_last=*/!staging_.spills());
  if (lacking == 0) return;
  waiting_.insert(load.incarnation());
  staging_.AwaitRoom(lacking, [this, load](bool is_last) {
    const uint64_t lacks = Load(load, is_last);
    if (lacks == 0) waiting_.erase(load.incarnation());
    return lacks;
  });
}

uint64_t HostLoads::Load(const proto::LoadProgram& load, bool is_last) {
  const uint32_t id = load.program();
  if (id >= HostPrograms::kMaxPrograms) {
    ReplyLoaded(id, load.incarnation(),
                absl::InvalidArgumentError(
                    absl::StrCat("program ", id, " was loaded, expected below ",
                                 HostPrograms::kMaxPrograms)));
    return 0;
  }
  if (const HostProgram* old = programs_.At(id)) {
    if (old->incarnation == load.incarnation() && old->waiting.empty() &&
        !old->stopping) {
      ReplyLoaded(id, load.incarnation(), CheckLosses(*old));
    }
    return 0;
  }
  if (programs_.Refuses(id, load.incarnation())) return 0;
  // Record the epochs before the first message of the program to or from any of
  // these hosts.
  for (const proto::HostEpoch& life : load.lives()) {
    outbox_.Advance(static_cast<int32_t>(life.host()), life.restarts() + 1);
  }
  PlanHash hash;
  if (!hash.Read(load.plan().hash())) {
    ReplyLoaded(id, load.incarnation(),
                absl::InvalidArgumentError(
                    "the request does not name a plan by its hash"));
    return 0;
  }
  std::shared_ptr<const PreparedPlan> plan = context_.plans.Find(hash);
  if (plan == nullptr) {
    // The controller has every plan that it names, so this load has ended.
    if (context_.IsHere(/*the controller*/ -1)) return 0;
    ControlRef control = outbox_.New();
    *control->mutable_plan_wanted()->mutable_load() = load;
    outbox_.SendControl(context_.directory.reporter(context_.process),
                        std::move(control));
    return 0;
  }
  if (context_.trace != nullptr) {
    context_.trace->AddProgram(
        load.incarnation(),
        std::shared_ptr<const proto::Plan>(plan, &plan->plan()));
  }
  uint64_t lacking = 0;
  std::vector<Arena*> arenas;
  for (auto& arena : arenas_) arenas.push_back(arena.get());
  absl::StatusOr<std::unique_ptr<HostProgram>> built = HostProgram::Build(
      std::move(plan), *context_.topology, actors_, context_.dispatch, host_,
      id, load.incarnation(), arenas, &host_arena_,
      {[this](int host) {
         return world_.Lends(context_.directory.executor(host));
       },
       [this](int host) { return !context_.IsHere(host); }},
      &lacking);
  if (!built.ok()) {
    if (lacking > 0 && !is_last) return lacking;
    ReplyLoaded(id, load.incarnation(), built.status(), lacking);
    return 0;
  }
  if (absl::Status lost = CheckLosses(**built); !lost.ok()) {
    NotifyLosses();
    ReplyLoaded(id, load.incarnation(), lost);
    return 0;
  }
  HostProgram* program = programs_.Add(*std::move(built));
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
    outbox_.SendToDevice(device->device, message);
  }
  return 0;
}

void HostLoads::OnPlanArrived(const proto::PlanArrived& arrived) {
  const proto::LoadProgram& load = arrived.load();
  if (arrived.code() == 0) return OnLoad(load);
  ReplyLoaded(load.program(), load.incarnation(),
              StatusFromWire(arrived.code(), arrived.message()));
}

void HostLoads::Reserve(HostProgram* program, int sign) {
  // At most `window` firings of any entry are open.
  const int64_t window = program->plan->window();
  int64_t own = kControlReserve;
  for (auto& device : program->devices) {
    if (device == nullptr) continue;
    int64_t in = kControlReserve;
    for (const InEdge& edge : device->in_edges) in += edge.expected * window;
    // Each meeting notifies twice, when all have arrived and when all are about
    // to leave, in each of two firings.
    in += int64_t{device->queue->num_meetings} * 4;
    own += int64_t{device->queue->num_meetings} * 2;
    own += (device->out.size() + device->pieces.size()) * window;
    world_.Reserve(actors_.devices[device->device], sign * in);
  }
  own += static_cast<int64_t>(program->pieces_in.size()) * window;
  for (const HostGroup& group : program->groups) {
    if (group.exchange == nullptr) continue;
    own += 2 * group.exchange->plan().receives.size();
  }
  for (const HostAllEdge& all : program->all_edges) {
    own += window * (all.target_hosts.size() + 1);
  }
  // Tokens from other hosts pass through the executor too.
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
        world_.Reserve(actors_.devices[device], sign * window);
      }
    }
    // The sending host may be one window ahead of what its devices have sent,
    // and those one window ahead of what was read here.
    own += program->dispatch->remotes.size() * 2 * window;
  }
  world_.Reserve(actors_.executor, sign * own);
}

void HostLoads::UpdateCounters() {
  uint64_t shards = 0, entries = 0, queue = 0, edges = 0, bytes = 0;
  for (const auto& program : programs_.all()) {
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

void HostLoads::OnAttached(const LocalMessage& message) {
  HostProgram* program = programs_.Find(message.program, message.incarnation);
  if (program == nullptr ||
      !program->waiting.Erase(static_cast<int32_t>(message.item))) {
    return;
  }
  if (program->waiting.empty()) {
    ReplyLoaded(program->program, program->incarnation, CheckLosses(*program));
  }
}

void HostLoads::OnStop(const proto::StopProgram& stop) {
  programs_.Refuse(stop.program(), stop.incarnation());
  HostProgram* program = programs_.FindAny(stop.program(), stop.incarnation());
  if (program != nullptr) {
    if (program->stopping && !program->stopped) return;  // already in progress
    if (!program->stopping) {
      program->stopping = true;
      dispatcher_.Drop(*program);
      program->waiting.Clear();
      for (auto& device : program->devices) {
        if (device == nullptr) continue;
        if (lost_.IsDeaf(device->device)) continue;
        program->waiting.Insert(static_cast<int32_t>(device->device));
        LocalMessage message;
        message.kind = kDetach;
        message.program = program->program;
        message.incarnation = program->incarnation;
        outbox_.SendToDevice(device->device, message);
      }
      return TryFinishStop(program);
    }
  }
  ControlRef control = outbox_.New();
  proto::StopReply* reply = control->mutable_stop_reply();
  reply->set_program(stop.program());
  reply->set_incarnation(stop.incarnation());
  reply->set_host(host_);
  outbox_.SendToController(std::move(control));
}

void HostLoads::OnDetached(const LocalMessage& message) {
  HostProgram* program =
      programs_.FindAny(message.program, message.incarnation);
  if (program == nullptr || !program->stopping ||
      !program->waiting.Erase(static_cast<int32_t>(message.item))) {
    return;
  }
  TryFinishStop(program);
}

void HostLoads::TryFinishStop(HostProgram* program) {
  if (program->stopping && !program->stopped && program->waiting.empty() &&
      program->payloads_away == 0) {
    FinishStop(program);
  }
}

void HostLoads::FinishStop(HostProgram* program) {
  program->stopped = true;
  // No device reads the launches' values any more.
  grants_.End(program);
  proto::StopProgram again;
  again.set_program(program->program);
  again.set_incarnation(program->incarnation);
  OnStop(again);
}

void HostLoads::DropDevices(const std::vector<uint32_t>& devices) {
  auto erase = [&](WaitSet* waiting) {
    bool erased = false;
    for (uint32_t device : devices) {
      erased |= waiting->Erase(static_cast<int32_t>(device));
    }
    return erased && waiting->empty();
  };
  for (const auto& program : programs_.all()) {
    if (program == nullptr || !erase(&program->waiting)) continue;
    if (program->stopping) {
      FinishStop(program.get());
    } else {
      ReplyLoaded(program->program, program->incarnation,
                  CheckLosses(*program));
    }
  }
}

void HostLoads::OnFree(const proto::FreeProgram& free) {
  HostProgram* program = programs_.FindAny(free.program(), free.incarnation());
  if (program != nullptr) {
    if (!program->stopped) return;  // out of order: StopProgram comes first
    // All hosts have stopped it.
    context_.loaded.Remove(program->incarnation);
    Reserve(program, -1);
    lost_.Release(programs_.Remove(*program));
    UpdateCounters();
    context_.plans.Trim();
  }
  ControlRef control = outbox_.New();
  proto::FreeReply* reply = control->mutable_free_reply();
  reply->set_program(free.program());
  reply->set_incarnation(free.incarnation());
  reply->set_host(host_);
  outbox_.SendToController(std::move(control));
}

void HostLoads::NotifyLosses() {
  for (const proto::WorkerLost& lost : lost_.losses()) {
    ControlRef control = outbox_.New();
    *control->mutable_worker_lost() = lost;
    outbox_.SendToController(std::move(control));
  }
}

absl::Status HostLoads::CheckLosses(const HostProgram& program) const {
  const std::optional<uint32_t> device = lost_.Find(program);
  if (!device) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      arenas_[*device]->name(), " is lost", Tag(ErrorId::kWorkerLost)));
}

}  // namespace pathways
