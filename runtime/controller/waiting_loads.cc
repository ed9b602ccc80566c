//===- waiting_loads.cc - Loads, and loads that wait for memory -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/controller/controller.h"

namespace pathways {
namespace {

// Largest number of programs of one load.
constexpr int kMaxTogether = 64;

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

void Controller::OnLoad(uint32_t client, const proto::LoadRequest& load) {
  const ClientRequest request{client, load.request()};
  LoadTerms terms{load.has_wait_ns() ? load.wait_ns() : UINT64_MAX,
                  load.await_devices(),
                  {}};
  std::vector<PlanName> missing;
  auto add = [&](const proto::PlanName& plan, uint64_t slice) {
    LoadQueue::Program program{{{}, plan.bytes()}, nullptr, slice};
    if (!program.name.hash.Read(plan.hash())) return false;
    program.plan = context_.plans.Find(program.name.hash);
    if (program.plan == nullptr) missing.push_back(program.name);
    terms.programs.push_back(std::move(program));
    return true;
  };
  if (load.more_size() >= kMaxTogether) {
    return outbox_.Answer(request,
                          absl::InvalidArgumentError(absl::StrCat(
                              "the load has ", load.more_size() + 1,
                              " programs, expected at most ", kMaxTogether)));
  }
  bool are_named = add(load.plan(), load.slice());
  for (const proto::MoreProgram& more : load.more()) {
    are_named = are_named && add(more.plan(), more.slice());
  }
  if (!are_named) {
    return outbox_.Answer(request,
                          absl::InvalidArgumentError(
                              "the request does not name a plan by its hash"));
  }
  if (request.id == 0 || load_terms_.count(request) > 0 ||
      loading_.count(request) > 0) {
    return;  // nobody to answer, or a duplicate of a request
  }
  load_terms_[request] = std::move(terms);
  if (missing.empty()) return Load(request);
  AwaitedPlans::Outcome outcome;
  for (const PlanName& name : missing) {
    awaited_.Add(clock_.Now(), request, name, &outcome);
  }
  Apply(std::move(outcome));
}

void Controller::OnLoadReply(const proto::LoadReply& reply) {
  const ProgramTable::Program* program =
      programs_.Find(reply.program(), reply.incarnation());
  const int32_t host = static_cast<int32_t>(reply.host());
  if (program != nullptr && program->state == ProgramTable::State::kLoading &&
      program->waiting.Contains(host)) {
    if (reply.code() == 0) {
      memory_.SetProgram(program->incarnation, host, reply.memory_bytes());
    }
    if (const auto loading = loading_.find(program->request);
        loading != loading_.end() && reply.memory_bytes() > 0) {
      Loading& all = loading->second;
      for (size_t i = 0; i < all.parts.size(); ++i) {
        if (all.parts[i].first != program->incarnation) continue;
        all.load.programs[i].on_hosts[host] = reply.memory_bytes();
      }
    }
  }
  Proceed(programs_.Answered(clock_.Now(), ProgramTable::State::kLoading,
                             reply.program(), reply.incarnation(),
                             static_cast<int32_t>(reply.host()),
                             StatusFromWire(reply.code(), reply.message())));
}

void Controller::Load(ClientRequest request) {
  LoadTerms terms = std::move(load_terms_.extract(request).mapped());
  LoadQueue::Load load{request, std::move(terms.programs)};
  load.since = clock_.Now();
  if (terms.wait_ns < static_cast<uint64_t>(kNoDeadline - load.since)) {
    load.deadline = load.since + static_cast<TimeNs>(terms.wait_ns);
  }
  load.awaits_devices = terms.awaits_devices;
  // Slices of the client must not block its own programs.
  std::map<uint64_t, DeviceBytes> promised;
  for (LoadQueue::Program& program : load.programs) {
    if (program.slice != 0) continue;
    const Admission& admission = programs_.admission();
    program.slice = admission.OwnSlice(
        request.client, admission.NeedOf(*program.plan), &promised);
  }
  load.need = NeedOf(load);
  Ask(std::move(load));
}

DeviceBytes Controller::NeedOf(const LoadQueue::Load& load) const {
  DeviceBytes need;
  const Admission& admission = programs_.admission();
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

void Controller::Ask(LoadQueue::Load load) {
  const ClientRequest request = load.request;
  const ClientTerms* terms = clients_.TermsOf(request.client);
  if (terms == nullptr) return;  // no client waits for it
  load.priority = terms->priority;
  const absl::Status quota = quotas_.CheckLoad(load);
  if (!quota.ok()) return outbox_.Answer(request, quota);
  absl::Status admitted = absl::ResourceExhaustedError(
      absl::StrCat("other loads have waited longer for the same memory",
                   Tag(ErrorId::kOthersFirst)));
  if (loads_.MayPass(load)) admitted = Admit(load);
  if (admitted.ok()) return loads_.Passed(load);
  if (!absl::IsResourceExhausted(admitted))
    return outbox_.Answer(request, admitted);
  if (load.deadline <= clock_.Now() && load.demands.empty()) {
    return outbox_.Answer(request, admitted);
  }
  const bool may_wait = load.deadline > clock_.Now();
  // The refusal of a load that awaits devices may name only those devices.
  const bool says_all =
      loads_.empty() && load.demands.empty() && !load.awaits_devices;
  std::string why;
  const absl::Status waits = loads_.Add(
      std::move(load),
      [this](uint32_t client) { return clients_.LabelOf(client); }, &why);
  if (!waits.ok()) {
    // If no other load waits, the refusal says more than that the load is
    // stuck.
    return outbox_.Answer(request, says_all ? admitted : waits);
  }
  if (!may_wait) {
    loads_.Remove(request);
    return outbox_.Answer(request, absl::ResourceExhaustedError(absl::StrCat(
                                       why, Tag(ErrorId::kTooFewDevices))));
  }
  NotifyWaits(request, why);
  for (int32_t host = 0; host < context_.topology->num_hosts(); ++host) {
    if (loads_.Awaits(host)) stores_.AskToSettle(host);
  }
  InheritPriorities();
  ArmLoadTimer();
  answer_timer_.Arm();
}

absl::Status Controller::Admit(const LoadQueue::Load& load) {
  if (load.programs.empty()) return slices_.Grant(load);
  const uint32_t client = load.request.client;
  std::vector<ProgramNext> begun;
  absl::Status status;
  for (const LoadQueue::Program& program : load.programs) {
    if (load.awaits_devices) {
      status = programs_.admission().CheckDevices(
          programs_.admission().NeedOf(*program.plan), program.plan->name());
      if (!status.ok()) status = absl::ResourceExhaustedError(status.message());
    }
    if (status.ok()) {
      const absl::StatusOr<ProgramNext> next = programs_.Load(
          clock_.Now(), program.plan, program.name, clients_.LabelOf(client),
          load.request, program.slice, program.on_hosts);
      status = next.status();
      if (next.ok()) begun.push_back(*next);
    }
    if (status.ok()) continue;
    for (const ProgramNext& next : begun) programs_.Forget(next.program);
    return status;
  }
  Loading& loading = loading_[load.request] = {load, {}, {}};
  for (const ProgramNext& next : begun) {
    const ProgramTable::Program& program = *programs_.Find(next.program);
    loading.parts.emplace_back(program.incarnation, Loading::Part::kLoading);
    grants_.Load(next.program, client, CostOf(*program.plan),
                 DevicesOf(*program.plan, *context_.topology));
    clients_.AddProgram(client, program.incarnation);
  }
  for (const ProgramNext& next : begun) Proceed(next);
  return absl::OkStatus();
}

bool Controller::IsPart(const ProgramNext& next) {
  using Part = Loading::Part;
  const auto found = loading_.find(next.request);
  if (found == loading_.end()) return false;
  Loading& loading = found->second;
  for (auto& [handle, part] : loading.parts) {
    if (next.handle != 0 && handle == next.handle) part = Part::kLoaded;
    if (next.handle == 0 && handle == next.gone) part = Part::kGone;
  }
  loading.status.Update(next.status);
  loading.is_held |= next.is_held;
  std::vector<uint64_t> loaded;
  for (const auto& [handle, part] : loading.parts) {
    if (part == Part::kLoading) return true;
    if (part == Part::kLoaded) loaded.push_back(handle);
  }
  if (loading.status.ok()) {
    ControlRef control = outbox_.New();
    control->set_client(next.request.client);
    proto::Answer* answer = control->mutable_answer();
    answer->set_request(next.request.id);
    answer->set_program(loaded.front());
    for (size_t i = 1; i < loaded.size(); ++i) {
      answer->add_more_programs(loaded[i]);
    }
    loading_.erase(found);
    outbox_.SendToClient(std::move(control));
    return true;
  }
  if (loaded.empty()) {
    Loading over = std::move(loading);
    loading_.erase(found);
    if (over.is_held) {
      // A retry would wait for memory that this load's own program still holds.
      outbox_.Answer(over.load.request, over.status);
    } else {
      Refused(std::move(over.load), over.status);
    }
    return true;
  }
  // Unload the others; the load ends when they are gone.
  for (auto& [handle, part] : loading.parts) {
    if (part == Part::kLoaded) part = Part::kLoading;
  }
  for (uint64_t handle : loaded) {
    const absl::StatusOr<ProgramNext> gone =
        programs_.Unload(clock_.Now(), handle, next.request, /*launches=*/0);
    if (gone.ok()) Proceed(*gone);
  }
  return true;
}

void Controller::Refused(LoadQueue::Load load, const absl::Status& why) {
  bool is_known = false;
  for (const LoadQueue::Program& program : load.programs) {
    is_known |= !program.on_hosts.empty();
  }
  if (!absl::IsResourceExhausted(why) || !is_known ||
      load.deadline <= clock_.Now()) {
    return outbox_.Answer(load.request, why);
  }
  const Admission& admission = programs_.admission();
  load.need = NeedOf(load);
  bool fits = true;
  for (const auto& [place, bytes] : load.need) {
    // No client can release so much.
    if (bytes > admission.BoundOf(place))
      return outbox_.Answer(load.request, why);
    fits &= bytes <= admission.FreeAt(place);
  }
  // A host has less memory than it reports; one retry is allowed.
  if (fits && ++load.refused > 1) return outbox_.Answer(load.request, why);
  load.version = 0;
  Ask(std::move(load));
}

void Controller::NotifyWaits(ClientRequest request, const std::string& why) {
  ControlRef control = outbox_.New();
  control->set_client(request.client);
  control->mutable_load_waits()->set_request(request.id);
  control->mutable_load_waits()->set_why(why);
  outbox_.SendToClient(std::move(control));
}

void Controller::RetryLoads() {
  if (loads_.empty()) return;
  const bool tried = loads_.Retry([this](const LoadQueue::Load& load) {
    // The client may have loaded more in the meantime.
    if (absl::Status quota = quotas_.CheckLoad(load); !quota.ok()) {
      outbox_.Answer(load.request, quota);
      return absl::CancelledError(quota.message());
    }
    const absl::Status admitted = Admit(load);
    if (!admitted.ok() && !absl::IsResourceExhausted(admitted)) {
      outbox_.Answer(load.request, admitted);
    }
    return admitted;
  });
  if (!tried) return;
  const auto name_of = [this](uint32_t client) {
    return clients_.LabelOf(client);
  };
  for (const auto& [load, why] : loads_.TakeStuck(name_of)) {
    outbox_.Answer(load.request, why);
  }
  for (const LoadQueue::Load& load : loads_.Explain(name_of)) {
    NotifyWaits(load.request, load.why);
  }
  InheritPriorities();
}

void Controller::InheritPriorities() {
  if (loads_.empty()) return;
  launch_service_.Inherit(
      [this](const ProgramTable::Program& program) -> std::optional<int32_t> {
        const ClientTerms* terms = clients_.TermsOf(program.owner);
        if (terms == nullptr) return std::nullopt;
        return loads_.PriorityOver(program.owner, terms->priority);
      });
}

void Controller::OnLoadCancel(uint32_t client,
                              const proto::LoadCancel& cancel) {
  const ClientRequest request{client, cancel.request()};
  if (!loads_.Remove(request)) return;
  outbox_.Answer(
      request, absl::CancelledError("the load was cancelled while it waited"));
  RetryLoads();
}

void Controller::ArmLoadTimer() {
  const TimeNs next = std::min(loads_.NextDeadline(), drains_.NextDeadline());
  if (next >= load_timer_) return;
  load_timer_ = next;
  LocalMessage message;
  message.kind = kLoadDeadline;
  context_.world->SendAfter(local_id(), local_id(),
                            std::max<TimeNs>(0, next - clock_.Now()), message);
}

void Controller::OnLoadDeadline() {
  load_timer_ = kNoDeadline;
  for (const LoadQueue::Load& load : loads_.TakeLate(clock_.Now())) {
    outbox_.Answer(
        load.request,
        absl::DeadlineExceededError(absl::StrCat(
            load.why, ", which was not released within ",
            absl::FormatDuration(absl::Nanoseconds(load.deadline - load.since)),
            Tag(ErrorId::kWaitedTooLong))));
  }
  drains_.Expire();
  ArmLoadTimer();
  RetryLoads();
}

}  // namespace pathways
