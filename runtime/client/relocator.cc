//===- relocator.cc - Programs and arrays on other devices ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/relocator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
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

absl::Status Relocator::Rebind(ProgramHandle handle,
                               const RebindOptions& options) {
  const absl::StatusOr<std::vector<bool>> avoid =
      NamedDevices(topology_, options.avoid);
  return avoid.ok() ? Rebind(handle, *avoid, options) : avoid.status();
}

absl::Status Relocator::Rebind(ProgramHandle handle,
                               const std::vector<bool>& avoid,
                               const RebindOptions& options) {
  const absl::StatusOr<SharedProgram> program = gate_.BeginRebind(handle);
  if (!program.ok()) return program.status();
  if (catalog_.IsLost(**program)) {
    gate_.EndRebind(handle);
    return Restore(handle, &avoid, options);
  }
  const absl::StatusOr<PlanSlices> slices = RebindPlan(
      (*program)->origin()->plan(), topology_, avoid, options.oversubscribe);
  absl::Status status = slices.status();
  if (status.ok() &&
      !IsBoundAlike(*slices, (*program)->plan().plan().slices())) {
    status = RebindTo(handle, *program, *slices, options);
  }
  gate_.EndRebind(handle);
  return status;
}

absl::StatusOr<bool> Relocator::Moves(ProgramHandle handle,
                                      const std::vector<bool>& avoid,
                                      bool oversubscribe) {
  const absl::StatusOr<SharedProgram> program = catalog_.Find(handle);
  if (!program.ok()) return program.status();
  const absl::StatusOr<PlanSlices> slices =
      RebindPlan((*program)->origin()->plan(), topology_, avoid, oversubscribe);
  if (!slices.ok()) return slices.status();
  return !IsBoundAlike(*slices, (*program)->plan().plan().slices());
}

absl::Status Relocator::Restore(ProgramHandle handle,
                                const std::vector<bool>* avoid,
                                const RebindOptions& options) {
  const absl::StatusOr<SharedProgram> program = gate_.BeginRebind(handle);
  if (!program.ok()) return program.status();
  const LoadedProgram& old = **program;
  absl::StatusOr<PlanSlices> slices = old.plan().plan().slices();
  if (avoid != nullptr) {
    slices = RebindPlan(old.origin()->plan(), topology_, *avoid,
                        options.oversubscribe);
  }
  absl::Status status = slices.status();
  if (status.ok()) status = catalog_.AwaitLaunches(old);
  if (status.ok()) {
    // The program may be unloaded already, or its hosts may be silent.
    (void)catalog_.Unload(old);
    auto next = loader_.LoadBound(old.origin(), *slices, options.load);
    status = next.status();
    if (next.ok()) {
      catalog_.Replace(handle, *std::move(next));
    } else {
      catalog_.Lose(old, status);
    }
  }
  gate_.EndRebind(handle);
  return status;
}

absl::Status Relocator::RebindTo(ProgramHandle handle, const SharedProgram& old,
                                 const PlanSlices& slices,
                                 const RebindOptions& options) {
  LoadOptions at_once = options.load;
  at_once.wait_ns = 0;
  auto next = loader_.LoadBound(old->origin(), slices, at_once);
  if (!next.ok() && !absl::IsResourceExhausted(next.status())) {
    return next.status();
  }
  absl::Status drained = catalog_.AwaitLaunches(*old);
  if (!drained.ok()) return drained;  // the client was closed
  if (next.ok()) {
    if (!catalog_.Replace(handle, *std::move(next))) return absl::OkStatus();
    catalog_.Discard(*old);
    return absl::OkStatus();
  }
  absl::Status unloaded = catalog_.Unload(*old);
  if (!unloaded.ok()) return unloaded;
  next = loader_.LoadBound(old->origin(), slices, options.load);
  if (next.ok()) {
    catalog_.Replace(handle, *std::move(next));
    return absl::OkStatus();
  }
  auto back = loader_.LoadBound(old->origin(), old->plan().plan().slices(),
                                options.load);
  if (back.ok()) {
    catalog_.Replace(handle, *std::move(back));
    return next.status();
  }
  catalog_.Lose(*old, next.status());
  return absl::Status(next.status().code(),
                      absl::StrCat(absl::string_view(next.status().message()),
                                   "; and it is no longer loaded: ",
                                   absl::string_view(back.status().message())));
}

void Relocator::OnDrainSeen(const proto::DrainSeen& seen) {
  if (seen.arrays()) has_drained_arrays_.store(true);
  MutexLock lock(&channel_.mutex());
  for (const auto& [handle, program] : programs_.programs()) {
    if (std::find(seen.programs().begin(), seen.programs().end(),
                  program->handle()) != seen.programs().end()) {
      program->is_to_leave().store(true);
    }
  }
}

void Relocator::MoveOffDrained(ProgramHandle handle) {
  const absl::StatusOr<SharedProgram> program = catalog_.Find(handle);
  const bool moves = program.ok() && (*program)->is_to_leave().exchange(false);
  const bool brings = has_drained_arrays_.exchange(false);
  if (!moves && !brings) return;
  const absl::StatusOr<std::vector<bool>> away = drains_.AwayDevices();
  if (!away.ok()) return;
  // The program stays if there are no other devices, or no memory on them.
  if (moves) (void)Rebind(handle, *away, RebindOptions());
  if (!brings) return;
  (void)store_.FetchToClient(WholeHosts(topology_, *away),
                             /*folder=*/"");
}

}  // namespace pathways
