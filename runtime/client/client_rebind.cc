//===- client_rebind.cc - Moving programs to other devices ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/client/client.h"
#include "runtime/client/rebind_plan.h"
#include "runtime/topology/named_devices.h"

namespace pathways {
namespace {

bool IsBoundAlike(const PlanSlices& a, const PlanSlices& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const proto::Slice& one, const proto::Slice& other) {
                      return one.binding().SerializeAsString() ==
                             other.binding().SerializeAsString();
                    });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const LoadedProgram>> Client::Begin(
    ProgramHandle handle, Use use) {
  absl::Status owned = owner_.Check(handle, "program");
  if (!owned.ok()) return owned;
  while (true) {
    std::string name;
    uint64_t ended = 0;
    {
      MutexLock lock(&channel_.mutex());
      absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
          FindLoaded(handle.id);
      if (!program.ok()) return program;
      if (rebinding_.count(handle.id) == 0) {
        if (use == Use::kCall) {
          const absl::Status& lost = (*program)->lost();
          if (!lost.ok()) {
            return absl::Status(
                lost.code(), absl::StrCat("program '", (*program)->name(),
                                          "' is no longer loaded: ",
                                          absl::string_view(lost.message())));
          }
          (*program)->calls().fetch_add(1, std::memory_order_seq_cst);
        } else {
          rebinding_.insert(handle.id);
          ++rebinds_;
        }
        return program;
      }
      name = (*program)->name();
      ended = rebinds_ended_.load();
    }
    // Another rebinding may begin at once, so the wait is for one that has
    // ended, not for a moment without any.
    absl::Status waited = channel_.WaitUntil(
        [&] { return rebinds_ended_.load() > ended; },
        [&] { return absl::StrCat("the rebinding of program '", name, "'"); });
    if (!waited.ok()) return waited;
  }
}

void Client::EndCall(const LoadedProgram& program) {
  if (program.calls().fetch_sub(1, std::memory_order_seq_cst) == 1 &&
      rebinds_.load(std::memory_order_seq_cst) > 0) {
    context_.runtime->world->Notify();
  }
}

absl::StatusOr<std::shared_ptr<const LoadedProgram>> Client::BeginRebind(
    ProgramHandle handle) {
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
      Begin(handle, Use::kRebind);
  if (!program.ok()) return program;
  absl::Status waited =
      channel_.WaitUntil([&] { return (*program)->calls().load() == 0; },
                         [&] {
                           return absl::StrCat("the rebinding of program '",
                                               (*program)->name(), "'");
                         });
  if (waited.ok()) return program;
  EndRebind(handle);
  return waited;
}

void Client::EndRebind(ProgramHandle handle) {
  {
    MutexLock lock(&channel_.mutex());
    rebinding_.erase(handle.id);
    --rebinds_;
    ++rebinds_ended_;
  }
  context_.runtime->world->Notify();
}

absl::Status Client::AwaitLaunches(const LoadedProgram& program) {
  while (true) {
    std::shared_ptr<RunState> run;
    {
      MutexLock lock(&channel_.mutex());
      run = runs_.OldestOf(program.handle());
    }
    if (run == nullptr) return absl::OkStatus();
    absl::Status waited = WaitForRun(*run);
    if (!waited.ok()) return waited;
  }
}

bool Client::Replace(ProgramHandle handle,
                     std::shared_ptr<const LoadedProgram> by) {
  MutexLock lock(&channel_.mutex());
  const auto found = programs_.find(handle.id);
  if (found != programs_.end()) {
    found->second = std::move(by);
    return true;
  }
  discarded_.insert(by->handle());
  UnloadDiscarded(by->handle(), kNoActor);
  return false;
}

absl::Status Client::Rebind(ProgramHandle handle,
                            const RebindOptions& options) {
  const absl::StatusOr<std::vector<bool>> avoid =
      NamedDevices(*context_.runtime->topology, options.avoid);
  return avoid.ok() ? Rebind(handle, *avoid, options) : avoid.status();
}

absl::Status Client::Rebind(ProgramHandle handle,
                            const std::vector<bool>& avoid,
                            const RebindOptions& options) {
  const absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
      BeginRebind(handle);
  if (!program.ok()) return program.status();
  if (IsLost(**program)) {
    EndRebind(handle);
    return Restore(handle, &avoid, options);
  }
  const absl::StatusOr<PlanSlices> slices =
      RebindPlan((*program)->origin()->plan(), *context_.runtime->topology,
                 avoid, options.oversubscribe);
  absl::Status status = slices.status();
  if (status.ok() &&
      !IsBoundAlike(*slices, (*program)->plan().plan().slices())) {
    status = RebindTo(handle, *program, *slices, options);
  }
  EndRebind(handle);
  return status;
}

absl::StatusOr<bool> Client::Moves(ProgramHandle handle,
                                   const std::vector<bool>& avoid,
                                   bool oversubscribe) {
  const absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
      FindProgram(handle);
  if (!program.ok()) return program.status();
  const absl::StatusOr<PlanSlices> slices =
      RebindPlan((*program)->origin()->plan(), *context_.runtime->topology,
                 avoid, oversubscribe);
  if (!slices.ok()) return slices.status();
  return !IsBoundAlike(*slices, (*program)->plan().plan().slices());
}

absl::Status Client::Restore(ProgramHandle handle,
                             const std::vector<bool>* avoid,
                             const RebindOptions& options) {
  const absl::StatusOr<std::shared_ptr<const LoadedProgram>> program =
      BeginRebind(handle);
  if (!program.ok()) return program.status();
  const LoadedProgram& old = **program;
  absl::StatusOr<PlanSlices> slices = old.plan().plan().slices();
  if (avoid != nullptr) {
    slices = RebindPlan(old.origin()->plan(), *context_.runtime->topology,
                        *avoid, options.oversubscribe);
  }
  absl::Status status = slices.status();
  if (status.ok()) status = AwaitLaunches(old);
  if (status.ok()) {
    // The program may be unloaded already, or its hosts may be silent.
    (void)UnloadProgram(old);
    auto next = LoadPlan(old.origin(), *slices, options.load);
    status = next.status();
    if (next.ok()) {
      Replace(handle, *std::move(next));
    } else {
      Lose(old, status);
    }
  }
  EndRebind(handle);
  return status;
}

bool Client::IsLost(const LoadedProgram& program) {
  MutexLock lock(&channel_.mutex());
  return !program.lost().ok();
}

void Client::Lose(const LoadedProgram& program, const absl::Status& why) {
  MutexLock lock(&channel_.mutex());
  program.Lose(why);
}

absl::Status Client::RebindTo(ProgramHandle handle,
                              const std::shared_ptr<const LoadedProgram>& old,
                              const PlanSlices& slices,
                              const RebindOptions& options) {
  LoadOptions at_once = options.load;
  at_once.wait_ns = 0;
  auto next = LoadPlan(old->origin(), slices, at_once);
  if (!next.ok() && !absl::IsResourceExhausted(next.status())) {
    return next.status();
  }
  absl::Status drained = AwaitLaunches(*old);
  if (!drained.ok()) return drained;  // the client was closed
  if (next.ok()) {
    if (!Replace(handle, *std::move(next))) return absl::OkStatus();
    MutexLock lock(&channel_.mutex());
    discarded_.insert(old->handle());
    UnloadDiscarded(old->handle(), kNoActor);
    return absl::OkStatus();
  }
  absl::Status unloaded = UnloadProgram(*old);
  if (!unloaded.ok()) return unloaded;
  next = LoadPlan(old->origin(), slices, options.load);
  if (next.ok()) {
    Replace(handle, *std::move(next));
    return absl::OkStatus();
  }
  auto back =
      LoadPlan(old->origin(), old->plan().plan().slices(), options.load);
  if (back.ok()) {
    Replace(handle, *std::move(back));
    return next.status();
  }
  Lose(*old, next.status());
  return absl::Status(next.status().code(),
                      absl::StrCat(absl::string_view(next.status().message()),
                                   "; and it is no longer loaded: ",
                                   absl::string_view(back.status().message())));
}

}  // namespace pathways
