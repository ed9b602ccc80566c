//===- waiting_loads.cc - Loads, and those that wait for memory -----------===//
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
#include "runtime/controller/controller.h"

namespace pathways {
namespace {

// Of which each program's slices have some, each once.
std::vector<LaneTable::Device> DevicesOf(const PreparedPlan& plan,
                                         const Topology& topology) {
  std::vector<LaneTable::Device> devices;
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

std::string Controller::NameOf(uint32_t client) const {
  const std::string* name = clients_.NameOf(client);
  return name == nullptr ? absl::StrCat("number ", client) : *name;
}

void Controller::Load(ClientRequest request, const PlanName& name,
                      std::shared_ptr<const PreparedPlan> plan) {
  LoadQueue::Load load{request, name, std::move(plan), /*since=*/Now()};
  if (auto terms = load_terms_.extract(request); !terms.empty()) {
    if (terms.mapped().wait_ns <
        static_cast<uint64_t>(kNoDeadline - load.since)) {
      load.deadline = load.since + static_cast<TimeNs>(terms.mapped().wait_ns);
    }
    load.awaits_devices = terms.mapped().awaits_devices;
  }
  const ClientTerms& terms = clients_.TermsOf(request.client);
  load.priority = terms.priority;
  load.need = programs_.admission().NeedOf(*load.plan);
  const absl::Status quota = CheckQuota(load);
  if (!quota.ok()) return Answer(request, quota);
  absl::Status admitted =
      absl::ResourceExhaustedError("others have waited longer for its memory");
  if (loads_.MayPass(load)) admitted = Admit(load);
  if (admitted.ok()) return loads_.Passed(load);
  if (!absl::IsResourceExhausted(admitted)) return Answer(request, admitted);
  if (load.deadline <= Now()) return Answer(request, admitted);
  const absl::Status waits =
      loads_.Add(load, [this](uint32_t client) { return NameOf(client); });
  if (!waits.ok()) {
    // The refusal says more than that it is stuck, if nobody else waits.
    return Answer(request, loads_.empty() ? admitted : waits);
  }
  TellWaits(loads_.loads().back());
  HurryHolders();
  ArmLoadTimer();
}

absl::Status Controller::CheckQuota(uint32_t client,
                                    absl::FunctionRef<uint64_t()> need,
                                    absl::string_view what,
                                    const PreparedPlan& plan) const {
  const uint64_t quota = clients_.TermsOf(client).quota_bytes;
  if (quota == 0) return absl::OkStatus();
  const uint64_t needed = need(), used = BytesOf(client);
  if (needed <= quota - std::min(quota, used)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(what, " of program '", plan.name(), "': ", needed,
                   " bytes; client '", NameOf(client), "' has ", used,
                   " of the ", quota, " bytes of its quota"));
}

absl::Status Controller::CheckQuota(const LoadQueue::Load& load) const {
  const auto need = [&] {
    uint64_t bytes = 0;
    for (const auto& [device, count] : load.need) {
      bytes = AddBytes(bytes, count);
    }
    return bytes;
  };
  return CheckQuota(load.request.client, need, "device memory", *load.plan);
}

uint64_t Controller::BytesOf(uint32_t client) const {
  uint64_t bytes = objects_.BytesOf(client);
  for (uint32_t id = 0; id < programs_.end(); ++id) {
    if (programs_.Has(id) && programs_.at(id).owner == client) {
      bytes += programs_.BytesOf(id);
    }
  }
  return bytes;
}

absl::Status Controller::Admit(const LoadQueue::Load& load) {
  const uint32_t client = load.request.client;
  if (load.awaits_devices) {
    const absl::Status there =
        programs_.admission().CheckDevices(load.need, load.plan->name());
    if (!there.ok()) return absl::ResourceExhaustedError(there.message());
  }
  const absl::StatusOr<ProgramNext> next =
      programs_.Load(Now(), load.plan, load.name, NameOf(client), load.request);
  if (!next.ok()) return next.status();
  const PreparedPlan& plan = *load.plan;
  grants_.Load(next->program, client, CostOf(plan),
               DevicesOf(plan, *context_.topology));
  clients_.AddProgram(client, programs_.at(next->program).incarnation);
  Proceed(*next);
  return absl::OkStatus();
}

void Controller::TellWaits(const LoadQueue::Load& load) {
  ControlRef control = NewControl();
  control->set_client(load.request.client);
  control->mutable_load_waits()->set_request(load.request.id);
  control->mutable_load_waits()->set_why(load.why);
  SendToClient(std::move(control));
}

void Controller::RetryLoads() {
  if (loads_.empty()) return;
  const bool tried = loads_.Retry([this](const LoadQueue::Load& load) {
    // What its client has loaded meanwhile counts.
    if (absl::Status quota = CheckQuota(load); !quota.ok()) {
      Answer(load.request, quota);
      return absl::CancelledError(quota.message());
    }
    const absl::Status admitted = Admit(load);
    if (!admitted.ok() && !absl::IsResourceExhausted(admitted)) {
      Answer(load.request, admitted);
    }
    return admitted;
  });
  if (!tried) return;
  for (const LoadQueue::Load& load :
       loads_.Explain([this](uint32_t client) { return NameOf(client); })) {
    TellWaits(load);
  }
  HurryHolders();
}

void Controller::HurryHolders() {
  if (loads_.empty()) return;
  for (uint32_t id = 0; id < programs_.end(); ++id) {
    if (!programs_.Has(id) || launches_.Open(id).empty()) continue;
    const auto urgent = loads_.PriorityOver(programs_.at(id).owner);
    if (!urgent.has_value()) continue;
    for (uint64_t launch : launches_.Open(id)) {
      launches_.Inherit(launch, {.priority = *urgent}, &effects_);
    }
  }
  Apply();
}

void Controller::OnLoadCancel(uint32_t client,
                              const proto::LoadCancel& cancel) {
  const ClientRequest request{client, cancel.request()};
  if (!loads_.Remove(request)) return;
  Answer(request, absl::CancelledError("nobody waits for the load any more"));
  RetryLoads();
}

void Controller::ArmLoadTimer() {
  TimeNs next = loads_.NextDeadline();
  for (const DrainWait& drain : drains_) {
    next = std::min(next, drain.deadline);
  }
  if (next >= load_timer_) return;
  load_timer_ = next;
  LocalMessage message;
  message.kind = kLoadDeadline;
  context_.world->SendAfter(local_id(), local_id(),
                            std::max<TimeNs>(0, next - Now()), message);
}

void Controller::OnLoadDeadline() {
  load_timer_ = kNoDeadline;
  for (const LoadQueue::Load& load : loads_.TakeLate(Now())) {
    Answer(load.request, absl::DeadlineExceededError(absl::StrCat(
                             load.why, ", which was not given back within ",
                             absl::FormatDuration(absl::Nanoseconds(
                                 load.deadline - load.since)))));
  }
  ExpireDrains();
  ArmLoadTimer();
  RetryLoads();
}

}  // namespace pathways
