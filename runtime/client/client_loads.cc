//===- client_loads.cc - Programs and slices that a client asks for -------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_codes.h"
#include "runtime/binding/plan_messages.h"
#include "runtime/client/client.h"
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

absl::StatusOr<std::shared_ptr<const PreparedPlan>> Client::MakePlan(
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

absl::StatusOr<Client::Candidate> Client::Prepare(PlanData plan) {
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

absl::StatusOr<Client::Candidate> Client::Prepare(
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

absl::StatusOr<SharedProgram> Client::LoadPlan(
    std::shared_ptr<const PreparedPlan> origin, const PlanSlices& slices,
    const LoadOptions& options) {
  TracedCall traced(context_, actor_, TraceCall::kLoad);
  absl::StatusOr<Candidate> candidate = Prepare(std::move(origin), slices);
  if (!candidate.ok()) return candidate.status();
  auto loaded = Submit({*std::move(candidate)}, options);
  if (!loaded.ok()) return loaded.status();
  return loaded->front();
}

absl::StatusOr<std::vector<SharedProgram>> Client::Submit(
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

absl::Status Client::AwaitResumed() {
  if (!suspended_.load()) return absl::OkStatus();
  return channel_.WaitUntil([&] { return !suspended_.load(); },
                            [&] {
                              return absl::StrCat("a load of client '", name(),
                                                  "', which is suspended,");
                            });
}

absl::StatusOr<std::vector<ProgramHandle>> Client::Load(
    std::vector<PlanData> plans, const LoadOptions& options) {
  absl::Status resumed = AwaitResumed();
  if (!resumed.ok()) return resumed;
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
  for (uint64_t slice : slices) SendRelease(slice);
  if (!loaded.ok()) return loaded.status();
  return catalog_.Add(*std::move(loaded));
}

absl::Status Client::FindPlaces(std::vector<Candidate>* candidates,
                                const LoadOptions& options) {
  const Topology& topology = *context_.runtime->topology;
  auto slices = AskForSlices(
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
  for (const auto& [slice, devices] : *slices) SendRelease(slice);
  return status;
}

absl::Status Client::LeaveAway(std::vector<Candidate>* candidates,
                               bool oversubscribe) {
  const absl::StatusOr<std::vector<bool>> away = AwayDevices();
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

absl::StatusOr<Client::GrantedSlices> Client::AskForSlices(
    absl::FunctionRef<void(proto::SlicesRequest*)> fill, int64_t wait_ns,
    const std::function<void(const std::string&)>& on_waiting) {
  absl::Status released = catalog_.AwaitReleases();
  if (!released.ok()) return released;
  auto request = std::make_shared<Request>();
  request->on_waiting = on_waiting;
  uint64_t number = 0;
  int wanted = 0;
  channel_.Ask(
      [&](uint64_t id, proto::Control* control) {
        number = id;
        proto::SlicesRequest* slices = control->mutable_slices_request();
        slices->set_request(id);
        if (wait_ns >= 0) slices->set_wait_ns(static_cast<uint64_t>(wait_ns));
        fill(slices);
        wanted = slices->slices_size();
      },
      request);
  absl::Status status = channel_.AwaitOrCancel(
      *request, number, [&] { return "a request for devices"; });
  if (!status.ok()) return status;
  if (static_cast<int>(request->slices.size()) != wanted) {
    return absl::InternalError(absl::StrCat("the controller reserved ",
                                            request->slices.size(),
                                            " slices, expected ", wanted));
  }
  return std::move(request->slices);
}

absl::StatusOr<std::shared_ptr<const PreparedPlan>> Client::PlanOf(
    ProgramHandle handle) {
  absl::StatusOr<SharedProgram> program = catalog_.Find(handle);
  if (!program.ok()) return program.status();
  return std::shared_ptr<const PreparedPlan>(*program, &(*program)->plan());
}

void Client::SendRelease(uint64_t slice) {
  if (slice == 0) return;
  ControlRef control = channel_.NewControl();
  control->mutable_slice_release()->set_slice(slice);
  MutexLock lock(&channel_.mutex());
  channel_.Post(std::move(control));
}

absl::StatusOr<SliceHandle> Client::ReserveSlice(
    const SliceOptions& options, const std::vector<SliceHandle>& apart_from) {
  int64_t devices = 1;
  for (int64_t size : options.shape) {
    devices = size < 1 || size > kMaxDevices / devices ? 0 : devices * size;
    if (devices == 0) break;
  }
  const bool is_cut =
      devices > 0 && options.islands > 0 && devices % options.islands == 0 &&
      (!options.contiguous || options.islands == 1 ||
       (!options.shape.empty() && options.shape[0] % options.islands == 0));
  if (!is_cut) {
    return absl::InvalidArgumentError(absl::StrCat(
        "slice '", options.name, "' of ", absl::StrJoin(options.shape, "x"),
        " devices cannot be divided evenly over ", options.islands,
        " islands"));
  }
  for (SliceHandle other : apart_from) {
    absl::Status owned = owner_.Check(other, "slice");
    if (!owned.ok()) return owned;
  }
  const int64_t run = devices / options.islands;
  auto slices = AskForSlices(
      [&](proto::SlicesRequest* request) {
        proto::SliceNeed* need = request->add_slices();
        need->set_name(options.name);
        need->set_kind(options.kind.empty() ? "cpu" : options.kind);
        for (SliceHandle other : apart_from) need->add_apart_from(other.id);
        for (int64_t island = 0; island < options.islands; ++island) {
          proto::IslandNeed* on_island = need->add_islands();
          proto::DevicesNeed* one = on_island->add_devices();
          one->set_count(static_cast<uint32_t>(run));
          one->set_bytes(options.device_bytes);
          for (size_t i = 0; options.contiguous && i < options.shape.size();
               ++i) {
            on_island->add_mesh(static_cast<uint32_t>(
                options.shape[i] / (i == 0 ? options.islands : 1)));
          }
        }
      },
      options.wait_ns, options.on_waiting);
  if (!slices.ok()) return slices.status();
  auto& [id, its] = slices->front();
  MutexLock lock(&channel_.mutex());
  slices_[id] = {options.name, static_cast<size_t>(run), std::move(its)};
  return owner_.Make<SliceHandle>(id);
}

absl::StatusOr<Client::HeldSlice> Client::FindSlice(SliceHandle slice) {
  absl::Status owned = owner_.Check(slice, "slice");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  const auto found = slices_.find(slice.id);
  if (found != slices_.end()) return found->second;
  return absl::FailedPreconditionError(absl::StrCat(
      "slice ", slice.id, " was released", Tag(ErrorId::kSliceNotHeld)));
}

absl::StatusOr<std::vector<std::string>> Client::DevicesOf(SliceHandle slice) {
  absl::StatusOr<HeldSlice> held = FindSlice(slice);
  if (!held.ok()) return held.status();
  std::vector<std::string> names;
  for (int64_t device : held->devices) {
    names.push_back(context_.runtime->topology->GlobalDeviceName(device));
  }
  return names;
}

absl::Status Client::ReleaseSlice(SliceHandle slice) {
  absl::StatusOr<HeldSlice> held = FindSlice(slice);
  if (!held.ok()) return held.status();
  {
    MutexLock lock(&channel_.mutex());
    if (slices_.erase(slice.id) == 0) return absl::OkStatus();
  }
  SendRelease(slice.id);
  return absl::OkStatus();
}

absl::StatusOr<ProgramHandle> Client::Load(PlanData plan, SliceHandle slice,
                                           const LoadOptions& options) {
  absl::Status resumed = AwaitResumed();
  if (!resumed.ok()) return resumed;
  TracedCall traced(context_, actor_, TraceCall::kLoad);
  const absl::StatusOr<HeldSlice> held = FindSlice(slice);
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
