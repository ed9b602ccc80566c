//===- program_loader.cc - Loading of programs ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/program_loader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/binding/plan_messages.h"
#include "runtime/client/place_plan.h"
#include "runtime/client/program_constants.h"
#include "runtime/client/rebind_plan.h"
#include "runtime/client/traced_call.h"
#include "runtime/plan/verify.h"
#include "runtime/resources/admission.h"

namespace pathways {
namespace {

// Fills in what a program needs of devices like those that it is on.
void FillNeed(const PreparedPlan& plan, const Topology& topology,
              proto::SliceNeed* need) {
  need->set_name(plan.name());
  need->set_for_program(true);
  const DeviceBytes bytes = Admission::NeedOf(plan);
  for (const auto& [island, devices] :
       DevicesByIsland(plan.binding(), topology)) {
    proto::IslandNeed* on_island = need->add_islands();
    for (int64_t device : devices) {
      const auto found = bytes.find(device);
      // At least 1 byte, since 0 would mean all memory of the device.
      const uint64_t count =
          std::max<uint64_t>(1, found == bytes.end() ? 0 : found->second);
      const int last = on_island->devices_size() - 1;
      if (last >= 0 && on_island->devices(last).bytes() == count) {
        proto::DevicesNeed* same = on_island->mutable_devices(last);
        const proto::Device& one = topology.global_device(same->like());
        const proto::Device& other = topology.global_device(device);
        if (DeviceKind(one) == DeviceKind(other) &&
            IsSameTarget(one.target(), other.target())) {
          same->set_count(same->count() + 1);
          continue;
        }
      }
      proto::DevicesNeed* next = on_island->add_devices();
      next->set_count(1);
      next->set_bytes(count);
      next->set_like(static_cast<uint32_t>(device));
    }
  }
}

// Replaces the devices of a plan by `devices`, island by island.
PlanSlices PlaceOn(const PreparedPlan& plan, const Topology& topology,
                   const std::vector<int64_t>& devices) {
  std::map<int64_t, int64_t> place;
  size_t next = 0;
  for (const auto& [island, its] : DevicesByIsland(plan.binding(), topology)) {
    for (int64_t device : its) place[device] = devices[next++];
  }
  return PlacePlan(plan.plan(), plan.binding(), topology, place);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PreparedPlan>> ProgramLoader::MakePlan(
    const PlanName& name, PlanData plan) {
  RuntimeContext& runtime = *context_.runtime;
  absl::StatusOr<std::shared_ptr<const PreparedPlan>> made =
      PreparedPlan::Create(std::move(plan), *runtime.topology, runtime.kernels,
                           runtime.backends->has_values(),
                           [&](int32_t host) { return runtime.IsHere(host); });
  if (!made.ok()) return made.status();
  // Hosts that lack the plan request it while a load waits.
  return runtime.plans.Put(name, *std::move(made));
}

absl::StatusOr<ProgramLoader::Candidate> ProgramLoader::Prepare(PlanData plan) {
  plan = ProgramConstants::WithoutValues(std::move(plan));
  const absl::StatusOr<PlanName> name = NameOf(plan);
  Candidate candidate;
  if (name.ok()) candidate.plan = context_.runtime->plans.Find(name->hash);
  // A plan that is here was checked before.
  if (candidate.plan == nullptr) {
    absl::Status checked = CheckPlan(plan);
    if (checked.ok()) checked = name.status();
    if (!checked.ok()) return checked;
    auto made = MakePlan(*name, std::move(plan));
    if (!made.ok()) return made.status();
    candidate.plan = *std::move(made);
  }
  candidate.name = *name;
  candidate.origin = candidate.plan;
  return candidate;
}

absl::StatusOr<ProgramLoader::Candidate> ProgramLoader::Prepare(
    std::shared_ptr<const PreparedPlan> origin, const PlanSlices& slices) {
  const absl::StatusOr<PlanName> name = origin->NameWith(slices);
  if (!name.ok()) return name.status();
  Candidate candidate;
  candidate.plan = context_.runtime->plans.Find(name->hash);
  if (candidate.plan == nullptr) {
    auto made = MakePlan(*name, WithSlices(origin->data(), slices));
    if (!made.ok()) return made.status();
    candidate.plan = *std::move(made);
  }
  candidate.name = *name;
  candidate.origin = std::move(origin);
  return candidate;
}

absl::StatusOr<SharedProgram> ProgramLoader::LoadBound(
    std::shared_ptr<const PreparedPlan> origin, const PlanSlices& slices,
    const LoadOptions& options) {
  TracedCall traced(context_, actor_, TraceCall::kLoad);
  absl::StatusOr<Candidate> candidate = Prepare(std::move(origin), slices);
  if (!candidate.ok()) return candidate.status();
  auto loaded = Submit({*std::move(candidate)}, options);
  if (!loaded.ok()) return loaded.status();
  return loaded->front();
}

absl::StatusOr<std::vector<SharedProgram>> ProgramLoader::Submit(
    std::vector<Candidate> candidates, const LoadOptions& options) {
  // Released memory makes room for this load.
  absl::Status released = catalog_.AwaitReleases();
  if (!released.ok()) return released;
  auto request = std::make_shared<Request>();
  request->on_waiting = options.on_waiting;
  uint64_t number = 0;
  channel_.Ask(
      [&](uint64_t id, proto::Control* control) {
        number = id;
        proto::LoadRequest* load = control->mutable_load_request();
        load->set_request(id);
        NamePlan(candidates[0].name, load->mutable_plan());
        load->set_slice(candidates[0].slice);
        for (size_t i = 1; i < candidates.size(); ++i) {
          proto::MoreProgram* more = load->add_more();
          NamePlan(candidates[i].name, more->mutable_plan());
          more->set_slice(candidates[i].slice);
        }
        if (options.wait_ns >= 0) {
          load->set_wait_ns(static_cast<uint64_t>(options.wait_ns));
        }
        load->set_await_devices(options.await_devices);
      },
      request);
  absl::Status status = channel_.AwaitOrCancel(*request, number, [&] {
    return absl::StrCat(
        "the load of ",
        absl::StrJoin(candidates, " and ", [](std::string* out, const auto& c) {
          absl::StrAppend(out, "program '", c.plan->name(), "'");
        }));
  });
  if (!status.ok()) return status;
  std::vector<uint64_t> handles = {request->program};
  handles.insert(handles.end(), request->more_programs.begin(),
                 request->more_programs.end());
  if (handles.size() != candidates.size()) {
    return absl::InternalError(
        absl::StrCat("the controller loaded ", candidates.size(),
                     " programs, but named ", handles.size()));
  }
  std::vector<SharedProgram> loaded;
  for (size_t i = 0; i < candidates.size(); ++i) {
    loaded.push_back(std::make_shared<const LoadedProgram>(
        handles[i], std::move(candidates[i].plan),
        std::move(candidates[i].origin),
        context_.runtime->backends->has_values()));
  }
  return loaded;
}

absl::StatusOr<std::vector<ProgramHandle>> ProgramLoader::Load(
    std::vector<PlanData> plans, const LoadOptions& options) {
  TracedCall traced(context_, actor_, TraceCall::kLoad);
  if (plans.empty()) return std::vector<ProgramHandle>();
  std::vector<Candidate> candidates;
  for (PlanData& plan : plans) {
    absl::StatusOr<Candidate> candidate = Prepare(std::move(plan));
    if (!candidate.ok()) return candidate.status();
    candidates.push_back(*std::move(candidate));
  }
  if (options.place == LoadPlace::kAnywhere) {
    absl::Status placed = FindPlaces(&candidates, options);
    if (!placed.ok()) return placed;
  } else if (options.place == LoadPlace::kPresent) {
    absl::Status placed = LeaveAway(&candidates, options.oversubscribe);
    if (!placed.ok()) return placed;
  }
  std::vector<uint64_t> slices;
  for (const Candidate& candidate : candidates) {
    slices.push_back(candidate.slice);
  }
  auto loaded = Submit(candidates, options);
  // A host was lost meanwhile: wait for it as for hosts that were gone before.
  while (options.await_devices && absl::IsUnavailable(loaded.status()) &&
         !channel_.stopping()) {
    loaded = Submit(candidates, options);
  }
  // The programs have taken their memory from the slices.
  for (uint64_t slice : slices) slices_.ReleaseGranted(slice);
  if (!loaded.ok()) return loaded.status();
  return catalog_.Add(*std::move(loaded));
}

absl::Status ProgramLoader::FindPlaces(std::vector<Candidate>* candidates,
                                       const LoadOptions& options) {
  const Topology& topology = *context_.runtime->topology;
  auto slices = slices_.Ask(
      [&](proto::SlicesRequest* request) {
        for (const Candidate& candidate : *candidates) {
          FillNeed(*candidate.plan, topology, request->add_slices());
        }
      },
      options.wait_ns, options.on_waiting);
  if (!slices.ok()) return slices.status();
  absl::Status status;
  for (size_t i = 0; i < candidates->size() && status.ok(); ++i) {
    Candidate& candidate = (*candidates)[i];
    absl::StatusOr<Candidate> placed =
        Prepare(candidate.origin,
                PlaceOn(*candidate.plan, topology, (*slices)[i].second));
    status = placed.status();
    if (!placed.ok()) continue;
    candidate = *std::move(placed);
    candidate.slice = (*slices)[i].first;
  }
  if (status.ok()) return status;
  for (const auto& [slice, devices] : *slices) slices_.ReleaseGranted(slice);
  return status;
}

absl::Status ProgramLoader::LeaveAway(std::vector<Candidate>* candidates,
                                      bool oversubscribe) {
  const absl::StatusOr<std::vector<bool>> away = drains_.AwayDevices();
  if (!away.ok()) return away.status();
  if (std::find(away->begin(), away->end(), true) == away->end()) {
    return absl::OkStatus();
  }
  for (Candidate& candidate : *candidates) {
    const absl::StatusOr<PlanSlices> slices =
        RebindPlan(candidate.plan->plan(), *context_.runtime->topology, *away,
                   oversubscribe);
    // The controller reports which devices are missing where the program was
    // compiled for.
    if (absl::IsResourceExhausted(slices.status())) continue;
    if (!slices.ok()) return slices.status();
    absl::StatusOr<Candidate> placed = Prepare(candidate.origin, *slices);
    if (!placed.ok()) return placed.status();
    candidate = *std::move(placed);
  }
  return absl::OkStatus();
}

absl::StatusOr<ProgramHandle> ProgramLoader::Load(PlanData plan,
                                                  SliceHandle slice,
                                                  const LoadOptions& options) {
  TracedCall traced(context_, actor_, TraceCall::kLoad);
  const absl::StatusOr<SliceReservations::HeldSlice> held = slices_.Find(slice);
  if (!held.ok()) return held.status();
  absl::StatusOr<Candidate> origin = Prepare(std::move(plan));
  if (!origin.ok()) return origin.status();
  const Topology& topology = *context_.runtime->topology;
  std::map<int64_t, int64_t> place;
  size_t first = 0;
  for (const auto& [island, devices] :
       DevicesByIsland(origin->plan->binding(), topology)) {
    const size_t has = first < held->devices.size() ? held->run : 0;
    if (devices.size() > has) {
      return absl::InvalidArgumentError(absl::StrCat(
          "program '", origin->plan->name(), "' is on ", devices.size(),
          " devices of ", topology.IslandName(island), ", but slice '",
          held->name, "' has ", has, " devices to replace them"));
    }
    size_t next = first;
    for (int64_t device : devices) {
      const int64_t to = held->devices[next++];
      const proto::Device& one = topology.global_device(device);
      const proto::Device& other = topology.global_device(to);
      if (DeviceKind(one) != DeviceKind(other) ||
          !IsSameTarget(one.target(), other.target())) {
        return absl::InvalidArgumentError(absl::StrCat(
            topology.GlobalDeviceName(to), " of slice '", held->name,
            "' cannot replace ", topology.GlobalDeviceName(device),
            " in program '", origin->plan->name(),
            "': it has another kind or CPU"));
      }
      place[device] = to;
    }
    first += held->run;
  }
  absl::StatusOr<Candidate> placed = Prepare(
      origin->plan, PlacePlan(origin->plan->plan(), origin->plan->binding(),
                              topology, place));
  if (!placed.ok()) return placed.status();
  placed->slice = slice.id;
  auto loaded = Submit({*std::move(placed)}, options);
  if (!loaded.ok()) return loaded.status();
  return catalog_.Add(*std::move(loaded)).front();
}

}  // namespace pathways
