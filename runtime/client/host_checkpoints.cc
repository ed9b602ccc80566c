//===- host_checkpoints.cc - Checkpoints of a run on other hosts ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/host_checkpoints.h"

#include <utility>

#include "runtime/client/client.h"
#include "runtime/client/copy_plan.h"

namespace pathways {

absl::Status HostCheckpoints::Prepare(const LoadOptions& load) {
  Drop();
  auto plan = client_.PlanOf(program_);
  if (!plan.ok()) return plan.status();
  const absl::StatusOr<std::vector<bool>> away = client_.AwayDevices();
  if (!away.ok()) return away.status();
  absl::StatusOr<PlanData> copies = MakeCopyPlan(**plan, topology_, *away);
  if (!copies.ok()) return copies.status();
  const absl::StatusOr<ProgramHandle> loaded =
      client_.Load(*std::move(copies), load);
  if (!loaded.ok()) return loaded.status();
  copies_ = *loaded;
  source_ = *std::move(plan);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ArrayHandle>> HostCheckpoints::Copy(
    const std::vector<ArrayHandle>& arrays) {
  // A checkpoint does not wait for memory.
  LoadOptions at_once;
  at_once.wait_ns = 0;
  const auto plan = client_.PlanOf(program_);
  if (!plan.ok()) return plan.status();
  const bool is_new = !copies_.has_value() || source_ != *plan;
  if (is_new) {
    absl::Status prepared = Prepare(at_once);
    if (!prepared.ok()) return prepared;
  }
  auto copied = CopyOnce(arrays);
  if (copied.ok() || is_new || stopping_()) return copied;
  // A host of the copies may be gone, so the copy program is loaded anew.
  absl::Status prepared = Prepare(at_once);
  return prepared.ok() ? CopyOnce(arrays) : prepared;
}

bool HostCheckpoints::IsCarried(size_t argument) const {
  const proto::Interface& interface = source_->plan().interface();
  return interface.arguments(static_cast<int>(argument)).carried();
}

absl::StatusOr<std::vector<ArrayHandle>> HostCheckpoints::CopyOnce(
    const std::vector<ArrayHandle>& arrays) {
  LaunchArguments arguments;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (IsCarried(i)) arguments.emplace_back(arrays[i]);
  }
  const absl::StatusOr<RunHandle> run =
      client_.Launch(*copies_, std::move(arguments), /*steps=*/1);
  if (!run.ok()) return run.status();
  absl::Status status = client_.Await(*run);
  std::vector<ArrayHandle> copies(arrays.size());
  int64_t result = 0;
  for (size_t i = 0; i < copies.size() && status.ok(); ++i) {
    if (!IsCarried(i)) continue;
    const absl::StatusOr<ArrayHandle> copy = client_.Keep(*run, result++);
    status = copy.status();
    if (copy.ok()) copies[i] = *copy;
  }
  (void)client_.ReleaseRun(*run);
  if (status.ok()) return copies;
  for (ArrayHandle copy : copies) {
    if (copy.id != 0) (void)client_.Release(copy);
  }
  return status;
}

void HostCheckpoints::Drop() {
  if (copies_.has_value()) (void)client_.Discard(*copies_);
  copies_.reset();
  source_ = nullptr;
}

}  // namespace pathways
