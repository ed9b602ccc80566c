//===- suspension.cc - Suspending and resuming a client -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/suspension.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/client/rebind_plan.h"
#include "runtime/topology/named_devices.h"

namespace pathways {

absl::Status Suspension::BeginChange(bool suspends) {
  MutexLock lock(&channel_.mutex());
  const char* const is = change_ != nullptr ? change_
                         : suspends         ? "suspended already"
                                            : "not suspended";
  if (change_ != nullptr || suspended_.load() == suspends) {
    return absl::FailedPreconditionError(
        absl::StrCat("client '", owner_.client(), "' is ", is));
  }
  change_ = suspends ? "being suspended" : "being resumed";
  return absl::OkStatus();
}

void Suspension::EndChange() {
  MutexLock lock(&channel_.mutex());
  change_ = nullptr;
}

absl::Status Suspension::Suspend(const std::string& folder) {
  absl::Status status = BeginChange(/*suspends=*/true);
  if (!status.ok()) return status;
  status = SuspendAll(folder);
  EndChange();
  return status;
}

absl::Status Suspension::SuspendAll(const std::string& folder) {
  std::vector<ProgramHandle> programs;
  {
    MutexLock lock(&channel_.mutex());
    suspended_.store(true);
    for (const auto& [id, program] : programs_.programs()) {
      programs.push_back(owner_.Make<ProgramHandle>(id));
    }
  }
  std::vector<SharedProgram> begun;
  absl::Status status;
  for (ProgramHandle handle : programs) {
    absl::StatusOr<SharedProgram> program = gate_.BeginRebind(handle);
    // A program that was given up meanwhile has nothing to suspend.
    if (absl::IsFailedPrecondition(program.status())) continue;
    status = program.status();
    if (!status.ok()) break;
    begun.push_back(*std::move(program));
    {
      MutexLock lock(&channel_.mutex());
      suspended_programs_.push_back(handle);
    }
    status = catalog_.AwaitLaunches(*begun.back());
    if (!status.ok()) break;
  }
  const std::vector<bool> all(topology_.num_hosts(), true);
  if (status.ok()) status = store_.FetchToClient(all, folder);
  if (!status.ok()) {
    EndSuspension();
    return status;
  }
  // Hosts that are silent drop their programs when they are gone.
  for (const auto& program : begun) (void)catalog_.Unload(*program);
  status = catalog_.AwaitReleases();
  if (!status.ok()) EndSuspension();  // the client was closed
  return status;
}

void Suspension::EndSuspension() {
  std::vector<ProgramHandle> programs;
  {
    MutexLock lock(&channel_.mutex());
    programs.swap(suspended_programs_);
    suspended_.store(false);
  }
  for (ProgramHandle handle : programs) gate_.EndRebind(handle);
  world_.Notify();
}

absl::Status Suspension::Resume(const RebindOptions& options) {
  absl::Status status = BeginChange(/*suspends=*/false);
  if (!status.ok()) return status;
  status = ResumeAll(options);
  EndChange();
  return status;
}

absl::Status Suspension::ResumeAll(const RebindOptions& options) {
  const absl::StatusOr<std::vector<bool>> named =
      NamedDevices(topology_, options.avoid);
  if (!named.ok()) return named.status();
  std::vector<ProgramHandle> programs;
  {
    MutexLock lock(&channel_.mutex());
    programs = suspended_programs_;
  }
  absl::StatusOr<std::vector<bool>> avoid = drains_.AwayDevices();
  if (!avoid.ok()) return avoid.status();
  for (size_t device = 0; device < avoid->size(); ++device) {
    (*avoid)[device] = (*avoid)[device] || (*named)[device];
  }
  for (ProgramHandle handle : programs) {
    SharedProgram old;
    {
      MutexLock lock(&channel_.mutex());
      const absl::StatusOr<SharedProgram> found = programs_.Find(handle.id);
      if (found.ok()) old = *found;
    }
    if (old != nullptr) {
      const absl::StatusOr<PlanSlices> slices = RebindPlan(
          old->origin()->plan(), topology_, *avoid, options.oversubscribe);
      if (!slices.ok()) return slices.status();
      auto next = loader_.LoadBound(old->origin(), *slices, options.load);
      if (!next.ok()) return next.status();
      catalog_.Replace(handle, *std::move(next));
    }
    {
      MutexLock lock(&channel_.mutex());
      std::erase_if(suspended_programs_,
                    [&](ProgramHandle other) { return other.id == handle.id; });
    }
    gate_.EndRebind(handle);
  }
  EndSuspension();
  return absl::OkStatus();
}

absl::Status Suspension::AwaitResumed() {
  if (!suspended_.load()) return absl::OkStatus();
  return channel_.WaitUntil([&] { return !suspended_.load(); },
                            [&] {
                              return absl::StrCat("a load of client '",
                                                  owner_.client(),
                                                  "', which is suspended,");
                            });
}

}  // namespace pathways
