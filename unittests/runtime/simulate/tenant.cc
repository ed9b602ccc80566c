//===- tenant.cc - A client that makes the calls of a scenario ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/tenant.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_file.h"
#include "runtime/world/mix.h"
#include "unittests/runtime/simulate/programs.h"

namespace pathways::simulate {
namespace {

template <typename T>
const T* Find(const std::map<uint32_t, T>& map, uint32_t id) {
  const auto found = map.find(id);
  return found == map.end() ? nullptr : &found->second;
}

// For devices that are away.
constexpr int64_t kPatienceNs = 2'000'000;
// For devices that others have: longer than all that they do there.
constexpr int64_t kLongPatienceNs = 600'000'000'000;
// Bytes of each device of a slice that leaves room for other clients: enough
// for any program.
constexpr uint64_t kSliceBytes = uint64_t{1} << 20;

uint64_t BitsOf(const HostArray& array) {
  return MixBytes(static_cast<uint64_t>(array.element), array.data.data(),
                  array.data.size()) |
         1;
}

}  // namespace

void TenantRun::Run(const std::function<void(const Call&)>& before) {
  for (const Call& call : tenant_.calls()) {
    before(call);
    Outcome outcome;
    outcome.kind = call.kind();
    Make(call, &outcome);
    outcomes_[call.id()] = outcome;
  }
}

absl::Status TenantRun::Load(const Call& call) {
  const auto data = [&](uint32_t program) {
    return MakePlanData(plans_[program], {});
  };
  Loaded loaded;
  loaded.program = call.program();
  LoadOptions options;
  if (call.anywhere()) options.place = LoadPlace::kAnywhere;
  options.wait_ns = kLongPatienceNs;
  if (call.of() != 0) {
    absl::StatusOr<ProgramHandle> program =
        client_.Load(data(call.program()), slices_.at(call.of()), options);
    if (!program.ok()) return program.status();
    loaded.handle = *program;
  } else {
    std::vector<PlanData> plans;
    plans.push_back(data(call.program()));
    for (uint32_t also : call.also()) plans.push_back(data(also));
    absl::StatusOr<std::vector<ProgramHandle>> programs =
        client_.Load(std::move(plans), options);
    if (!programs.ok()) return programs.status();
    loaded.handle = programs->front();
    loaded.also.assign(programs->begin() + 1, programs->end());
  }
  loaded_[call.id()] = std::move(loaded);
  return absl::OkStatus();
}

absl::Status TenantRun::Unload(const Call& call) {
  Loaded& loaded = loaded_.at(call.of());
  auto unload = [&](ProgramHandle program) {
    return call.kind() == UNLOAD ? client_.Unload(program)
                                 : client_.Discard(program);
  };
  absl::Status status = unload(loaded.handle);
  if (!status.ok()) return status;
  for (ProgramHandle also : loaded.also) status.Update(unload(also));
  loaded_.erase(call.of());
  return status;
}

absl::Status TenantRun::Reserve(const Call& call) {
  SliceOptions options;
  options.name = absl::StrCat("s", call.id());
  options.shape = {int64_t{call.devices()}};
  options.islands = int64_t{call.islands()};
  if (!call.whole()) options.device_bytes = kSliceBytes;
  options.wait_ns = kLongPatienceNs;
  absl::StatusOr<SliceHandle> slice = client_.ReserveSlice(options);
  if (slice.ok()) slices_[call.id()] = *slice;
  return slice.status();
}

absl::Status TenantRun::Launch(const Call& call, Outcome* outcome) {
  const Loaded* loaded = Find(loaded_, call.of());
  if (loaded == nullptr) return absl::OkStatus();
  const proto::Plan& plan = plans_[loaded->program];
  const int64_t steps = static_cast<int64_t>(call.steps());
  LaunchArguments arguments;
  for (int i = 0; i < plan.interface().arguments_size(); ++i) {
    const uint32_t from = i < call.arguments_size() ? call.arguments(i) : 0;
    if (from == 0) {
      arguments.emplace_back(
          DrawArray(ArgumentType(plan, i, steps),
                    Mix(call.id(), static_cast<uint64_t>(i))));
      continue;
    }
    const Kept* array = Find(arrays_, from);
    if (array == nullptr) return absl::OkStatus();
    arguments.emplace_back(array->handle);
  }
  outcome->made = true;
  LaunchOptions options;
  options.first_step = call.first_step();
  absl::StatusOr<RunHandle> run =
      client_.Launch(loaded->handle, std::move(arguments), steps, options);
  if (run.ok()) runs_[call.id()] = {*run, loaded->program};
  return run.status();
}

absl::Status TenantRun::RunToEnd(const Call& call, Outcome* outcome) {
  const Loaded* loaded = Find(loaded_, call.of());
  if (loaded == nullptr) return absl::OkStatus();
  outcome->made = true;
  const proto::Plan& plan = plans_[loaded->program];
  const int64_t steps = static_cast<int64_t>(call.steps());
  LaunchArguments arguments;
  for (int i = 0; i < plan.interface().arguments_size(); ++i) {
    arguments.emplace_back(DrawArray(ArgumentType(plan, i, steps),
                                     Mix(call.id(), static_cast<uint64_t>(i))));
  }
  RecoveryOptions options;
  options.mode = RecoveryOptions::kRetry;
  options.checkpoint_every = undisturbed_ ? 0 : 2;
  options.load.wait_ns = kPatienceNs;
  LaunchOptions launch;
  launch.first_step = call.first_step();
  absl::StatusOr<RecoveredResults> results = client_.RunToEnd(
      loaded->handle, std::move(arguments), steps, options, launch);
  if (!results.ok()) return results.status();
  absl::Status status;
  for (size_t r = 0; r < results->arrays.size(); ++r) {
    const absl::StatusOr<HostArray> values = client_.Get(results->arrays[r]);
    if (values.ok() &&
        vague_[loaded->program].count(static_cast<int>(r)) == 0) {
      outcome->bits = Mix(outcome->bits, BitsOf(*values)) | 1;
    }
    status.Update(values.status());
    status.Update(client_.Release(results->arrays[r]));
  }
  return status;
}

absl::Status TenantRun::GiveWay() {
  absl::Status status = client_.Suspend();
  if (!status.ok()) return status;
  RebindOptions options;
  options.load.wait_ns = kPatienceNs;
  status = client_.Resume(options);
  for (int tries = 0; tries < 3 && !status.ok(); ++tries) {
    sleep_(kPatienceNs);
    status = client_.Resume(options);
  }
  // Calls would wait for ever.
  suspended_ = !status.ok();
  if (suspended_) loaded_.clear();
  return status;
}

void TenantRun::Make(const Call& call, Outcome* outcome) {
  const Loaded* loaded = Find(loaded_, call.of());
  const Launched* run = Find(runs_, call.of());
  const Kept* array = Find(arrays_, call.of());
  const auto is_vague = [&] {
    return vague_[run->program].count(static_cast<int>(call.result())) > 0;
  };
  const auto note = [&](const absl::Status& status) {
    outcome->made = true;
    outcome->status = status;
  };
  const auto take = [&](const absl::StatusOr<HostArray>& values, bool vague) {
    note(values.status());
    if (values.ok()) outcome->bits = vague ? 1 : BitsOf(*values);
  };
  switch (call.kind()) {
    case LOAD: {
      bool has_all = call.program() < plans_.size() && !suspended_ &&
                     (call.of() == 0 || slices_.count(call.of()) > 0);
      for (uint32_t also : call.also()) has_all &= also < plans_.size();
      if (has_all) note(Load(call));
      return;
    }
    case RESERVE:
      if (!suspended_) note(Reserve(call));
      return;
    case GIVE_BACK:
      if (const auto slice = slices_.find(call.of()); slice != slices_.end()) {
        note(client_.ReleaseSlice(slice->second));
        slices_.erase(slice);
      }
      return;
    case LAUNCH:
      outcome->status = Launch(call, outcome);
      return;
    case AWAIT:
      if (run != nullptr) note(client_.Await(run->handle));
      return;
    case CANCEL:
      if (run != nullptr) note(client_.Cancel(run->handle));
      return;
    case FETCH:
      if (run == nullptr) return;
      return take(client_.Fetch(run->handle, int64_t{call.result()}),
                  is_vague());
    case KEEP: {
      if (run == nullptr) return;
      absl::StatusOr<ArrayHandle> kept =
          client_.Keep(run->handle, int64_t{call.result()});
      if (kept.ok()) arrays_[call.id()] = {*kept, is_vague()};
      return note(kept.status());
    }
    case GET:
      if (array != nullptr) take(client_.Get(array->handle), array->vague);
      return;
    case RELEASE:
      if (run != nullptr) {
        note(client_.ReleaseRun(run->handle));
        runs_.erase(call.of());
      } else if (array != nullptr) {
        note(client_.Release(array->handle));
        arrays_.erase(call.of());
      }
      return;
    case UNLOAD:
    case DISCARD:
      if (loaded != nullptr) note(Unload(call));
      return;
    case REBIND: {
      if (loaded == nullptr) return;
      RebindOptions options;
      options.avoid = {call.avoid()};
      note(client_.Rebind(loaded->handle, options));
      const bool stays = outcome->status.ok() ||
                         outcome->status.message().find("no longer loaded") ==
                             absl::string_view::npos;
      if (!stays) loaded_.erase(call.of());
      return;
    }
    case SUSPEND:
      if (!suspended_) note(undisturbed_ ? absl::OkStatus() : GiveWay());
      return;
    case RUN:
      outcome->status = RunToEnd(call, outcome);
      return;
    case WAIT:
      outcome->made = true;
      return sleep_(call.ns());
    default:
      return;
  }
}

}  // namespace pathways::simulate
