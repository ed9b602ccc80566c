//===- load_service.cc - Loads of programs, and their memory --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/load_service.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/status_from_wire.h"

namespace pathways {
namespace {

// The request id that stands for the end of a client; clients do not use it.
constexpr uint64_t kLeaving = UINT64_MAX;

// Returns the devices of the plan's slices, each once.
std::vector<DeviceGroupTable::Device> DevicesOf(const PreparedPlan& plan,
                                                const Topology& topology) {
  std::vector<DeviceGroupTable::Device> devices;
  for (const SliceBinding& slice : plan.binding().slices()) {
    for (const auto& [device, shard] : slice.by_device) {
      devices.push_back({topology.FromGlobalDevice(device).first, device});
    }
  }
  const auto before = [](const auto& a, const auto& b) {
    return a.number < b.number;
  };
  std::sort(devices.begin(), devices.end(), before);
  devices.erase(std::unique(devices.begin(), devices.end(),
                            [](const auto& a, const auto& b) {
                              return a.number == b.number;
                            }),
                devices.end());
  return devices;
}

}  // namespace

DeviceBytes LoadService::NeedOf(const LoadQueue::Load& load) const {
  DeviceBytes need;
  const Admission& admission = uses_.programs.admission();
  auto add = [&](int64_t place, uint64_t bytes) {
    uint64_t& sum = need[place];
    sum = AddBytes(sum, bytes);
  };
  for (const LoadQueue::Program& program : load.programs) {
    if (program.slice == 0) {
      for (const auto& [device, bytes] : admission.NeedOf(*program.plan)) {
        add(device, bytes);
      }
    }
    for (const auto& [host, bytes] : program.on_hosts) {
      admission.AddNeedOf(host, bytes, &need);
    }
  }
  return need;
}

void LoadService::Ask(LoadQueue::Load load) {
  const ClientRequest request = load.request;
  const ClientTerms* terms = uses_.clients.TermsOf(request.client);
  if (terms == nullptr) return;  // no client waits for it
  load.priority = terms->priority;
  if (!load.programs.empty()) load.need = NeedOf(load);
  const absl::Status quota = uses_.quotas.CheckLoad(load);
  if (!quota.ok()) return uses_.outbox.Answer(request, quota);
  absl::Status admitted = absl::ResourceExhaustedError(
      absl::StrCat("other loads have waited longer for the same memory",
                   Tag(ErrorId::kOthersFirst)));
  if (uses_.queue.MayPass(load)) admitted = Admit(load);
  if (admitted.ok()) return uses_.queue.Passed(load);
  if (!absl::IsResourceExhausted(admitted)) {
    return uses_.outbox.Answer(request, admitted);
  }
  Wait(std::move(load), admitted);
}

void LoadService::Take(uint32_t client, const proto::SlicesRequest& request) {
  absl::StatusOr<LoadQueue::Load> load =
      uses_.slices.Read(uses_.clock.Now(), client, request);
  if (!load.ok()) {
    return uses_.outbox.Answer({client, request.request()}, load.status());
  }
  Ask(*std::move(load));
}

void LoadService::Wait(LoadQueue::Load load, const absl::Status& refusal) {
  const ClientRequest request = load.request;
  const bool may_wait = load.deadline > uses_.clock.Now();
  if (!may_wait && load.demands.empty()) {
    return uses_.outbox.Answer(request, refusal);
  }
  // The refusal of a load that awaits devices may name only those devices.
  const bool says_all =
      uses_.queue.empty() && load.demands.empty() && !load.awaits_devices;
  std::string why;
  const absl::Status waits = uses_.queue.Add(
      std::move(load), [this](uint32_t client) { return NameOf(client); },
      &why);
  if (!waits.ok()) {
    // If no other load waits, the refusal says more than that the load is
    // stuck.
    return uses_.outbox.Answer(request, says_all ? refusal : waits);
  }
  if (!may_wait) {
    uses_.queue.Remove(request);
    return uses_.outbox.Answer(
        request, absl::ResourceExhaustedError(
                     absl::StrCat(why, Tag(ErrorId::kTooFewDevices))));
  }
  NotifyWaits(request, why);
  for (int32_t host = 0; host < uses_.topology.num_hosts(); ++host) {
    if (uses_.queue.Awaits(host)) uses_.stores.AskToSettle(host);
  }
  InheritPriorities();
  uses_.deadlines.Arm();
  uses_.timer.Arm();
}

absl::Status LoadService::Admit(const LoadQueue::Load& load) {
  if (load.programs.empty()) return uses_.slices.Grant(load);
  const uint32_t client = load.request.client;
  const Admission& admission = uses_.programs.admission();
  std::vector<ProgramNext> begun;
  absl::Status status;
  for (const LoadQueue::Program& program : load.programs) {
    if (load.awaits_devices) {
      status = admission.CheckDevices(admission.NeedOf(*program.plan),
                                      program.plan->name());
      if (!status.ok()) status = absl::ResourceExhaustedError(status.message());
    }
    if (status.ok()) {
      const absl::StatusOr<ProgramNext> next = uses_.programs.Load(
          uses_.clock.Now(), program.plan, program.name, NameOf(client),
          load.request, program.slice, program.on_hosts);
      status = next.status();
      if (next.ok()) begun.push_back(*next);
    }
    if (status.ok()) continue;
    for (const ProgramNext& next : begun) uses_.programs.Forget(next.program);
    return status;
  }
  std::vector<uint64_t> handles;
  for (const ProgramNext& next : begun) {
    const ProgramTable::Program& program = *uses_.programs.Find(next.program);
    handles.push_back(program.incarnation);
    uses_.grants.Load(next.program, client, CostOf(*program.plan),
                      DevicesOf(*program.plan, uses_.topology));
    uses_.clients.AddProgram(client, program.incarnation);
  }
  parts_.Add(load, handles);
  for (const ProgramNext& next : begun) Proceed(next);
  return absl::OkStatus();
}

void LoadService::Take(const proto::LoadReply& reply) {
  const ProgramTable::Program* program =
      uses_.programs.Find(reply.program(), reply.incarnation());
  const int32_t host = static_cast<int32_t>(reply.host());
  if (program != nullptr && program->state == ProgramTable::State::kLoading &&
      program->waiting.Contains(host)) {
    if (reply.code() == 0) {
      uses_.memory.SetProgram(program->incarnation, host, reply.memory_bytes());
    }
    if (reply.memory_bytes() > 0) {
      parts_.SetBytes(program->request, program->incarnation, host,
                      reply.memory_bytes());
    }
  }
  Proceed(
      uses_.programs.Answered(uses_.clock.Now(), ProgramTable::State::kLoading,
                              reply.program(), reply.incarnation(), host,
                              StatusFromWire(reply.code(), reply.message())));
}

void LoadService::Take(const proto::StopReply& reply) {
  Proceed(uses_.programs.Answered(
      uses_.clock.Now(), ProgramTable::State::kStopping, reply.program(),
      reply.incarnation(), static_cast<int32_t>(reply.host()),
      absl::OkStatus()));
}

void LoadService::Take(const proto::FreeReply& reply) {
  Proceed(uses_.programs.Answered(
      uses_.clock.Now(), ProgramTable::State::kFreeing, reply.program(),
      reply.incarnation(), static_cast<int32_t>(reply.host()),
      absl::OkStatus()));
}

void LoadService::Proceed(const ProgramNext& next) {
  programs_.Set(uses_.programs.loaded());
  if (next.kind == ProgramNext::kAsk) return uses_.rounds.Send(next.program);
  if (next.kind == ProgramNext::kAnswer) Answer(next);
  if (next.gone == 0) return;
  // Even if no request waits for the end of the program, drains and loads may.
  uses_.drains.AnswerComplete();
  Retry();
}

void LoadService::Answer(const ProgramNext& next) {
  const uint32_t client = next.request.client;
  if (next.gone != 0) {
    uses_.plans.Trim();
    uses_.grants.Unload(next.program);
  }
  if (uses_.clients.IsLeaving(client)) {
    if (next.handle != 0) Release(client, next.handle);
  } else {
    LoadParts::Step step = parts_.Take(next);
    switch (step.kind) {
      case LoadParts::Step::kNoPart:
        uses_.outbox.Answer(next.request, next.status, next.handle);
        break;
      case LoadParts::Step::kWait:
        break;
      case LoadParts::Step::kLoaded:
        AnswerLoaded(next.request, step.handles);
        break;
      case LoadParts::Step::kRefused:
        // A retry would wait for memory that this load's own program still
        // holds.
        if (step.is_held) {
          uses_.outbox.Answer(next.request, step.status);
        } else {
          Refused(std::move(step.load), step.status);
        }
        break;
      case LoadParts::Step::kUnload:
        for (uint64_t handle : step.handles) {
          const absl::StatusOr<ProgramNext> gone = uses_.programs.Unload(
              uses_.clock.Now(), handle, next.request, /*launches=*/0);
          if (gone.ok()) Proceed(*gone);
        }
        break;
    }
  }
  if (next.gone == 0) return;
  std::vector<ClientAnswer> answers;
  uses_.clients.RemoveProgram(client, next.gone, &answers);
  uses_.outbox.AnswerAll(answers);
}

void LoadService::AnswerLoaded(ClientRequest request,
                               const std::vector<uint64_t>& all) {
  ControlRef control = uses_.outbox.New();
  control->set_client(request.client);
  proto::Answer* answer = control->mutable_answer();
  answer->set_request(request.id);
  answer->set_program(all.front());
  for (size_t i = 1; i < all.size(); ++i) answer->add_more_programs(all[i]);
  uses_.outbox.SendToClient(std::move(control));
}

void LoadService::Refused(LoadQueue::Load load, const absl::Status& why) {
  bool is_known = false;
  for (const LoadQueue::Program& program : load.programs) {
    is_known |= !program.on_hosts.empty();
  }
  if (!absl::IsResourceExhausted(why) || !is_known ||
      load.deadline <= uses_.clock.Now()) {
    return uses_.outbox.Answer(load.request, why);
  }
  const Admission& admission = uses_.programs.admission();
  bool fits = true;
  for (const auto& [place, bytes] : NeedOf(load)) {
    // No client can release so much.
    if (bytes > admission.BoundOf(place)) {
      return uses_.outbox.Answer(load.request, why);
    }
    fits &= bytes <= admission.FreeAt(place);
  }
  // A host has less memory than it reports; one retry is allowed.
  if (fits && ++load.refused > 1) {
    return uses_.outbox.Answer(load.request, why);
  }
  load.version = 0;
  Ask(std::move(load));
}

void LoadService::NotifyWaits(ClientRequest request, const std::string& why) {
  ControlRef control = uses_.outbox.New();
  control->set_client(request.client);
  control->mutable_load_waits()->set_request(request.id);
  control->mutable_load_waits()->set_why(why);
  uses_.outbox.SendToClient(std::move(control));
}

void LoadService::Retry() {
  if (uses_.queue.empty()) return;
  const bool tried = uses_.queue.Retry([this](const LoadQueue::Load& load) {
    // The client may have loaded more in the meantime.
    if (absl::Status quota = uses_.quotas.CheckLoad(load); !quota.ok()) {
      uses_.outbox.Answer(load.request, quota);
      return absl::CancelledError(quota.message());
    }
    const absl::Status admitted = Admit(load);
    if (!admitted.ok() && !absl::IsResourceExhausted(admitted)) {
      uses_.outbox.Answer(load.request, admitted);
    }
    return admitted;
  });
  if (!tried) return;
  const auto name_of = [this](uint32_t client) { return NameOf(client); };
  for (const auto& [load, why] : uses_.queue.TakeStuck(name_of)) {
    uses_.outbox.Answer(load.request, why);
  }
  for (const LoadQueue::Load& load : uses_.queue.Explain(name_of)) {
    NotifyWaits(load.request, load.why);
  }
  InheritPriorities();
}

void LoadService::InheritPriorities() {
  if (uses_.queue.empty()) return;
  uses_.launches.Inherit(
      [this](const ProgramTable::Program& program) -> std::optional<int32_t> {
        const ClientTerms* terms = uses_.clients.TermsOf(program.owner);
        if (terms == nullptr) return std::nullopt;
        return uses_.queue.PriorityOver(program.owner, terms->priority);
      });
}

void LoadService::Cancel(ClientRequest request) {
  if (!uses_.queue.Remove(request)) return;
  uses_.outbox.Answer(
      request, absl::CancelledError("the load was cancelled while it waited"));
  Retry();
}

void LoadService::Expire() {
  for (const LoadQueue::Load& load : uses_.queue.TakeLate(uses_.clock.Now())) {
    uses_.outbox.Answer(
        load.request,
        absl::DeadlineExceededError(absl::StrCat(
            load.why, ", which was not released within ",
            absl::FormatDuration(absl::Nanoseconds(load.deadline - load.since)),
            Tag(ErrorId::kWaitedTooLong))));
  }
}

void LoadService::Leave(uint32_t client) {
  uses_.queue.RemoveAll(client);
  parts_.Leave(client);
}

void LoadService::Release(uint32_t client, uint64_t handle) {
  const absl::StatusOr<ProgramNext> next = uses_.programs.Unload(
      uses_.clock.Now(), handle, {client, kLeaving}, /*launches=*/0);
  if (next.ok()) Proceed(*next);
}

}  // namespace pathways
