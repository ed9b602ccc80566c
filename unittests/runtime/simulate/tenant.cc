//===- tenant.cc - A client that makes the calls of a scenario ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/tenant.h"

#include <utility>

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
  absl::StatusOr<RunHandle> run =
      client_.Launch(loaded->handle, std::move(arguments), steps);
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
  options.cut_every = 2;
  options.load.wait_ns = kPatienceNs;
  absl::StatusOr<RecoveredResults> results =
      client_.RunToEnd(loaded->handle, std::move(arguments), steps, options);
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
      if (call.program() >= plans_.size() || suspended_) return;
      absl::StatusOr<ProgramHandle> program =
          client_.Load(MakePlanData(plans_[call.program()], {}));
      if (program.ok()) loaded_[call.id()] = {*program, call.program()};
      return note(program.status());
    }
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
      if (loaded == nullptr) return;
      note(call.kind() == UNLOAD ? client_.Unload(loaded->handle)
                                 : client_.Discard(loaded->handle));
      if (outcome->status.ok()) loaded_.erase(call.of());
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
      if (!suspended_) note(GiveWay());
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
