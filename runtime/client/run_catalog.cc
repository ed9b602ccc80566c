//===- run_catalog.cc - Runs of a client ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_catalog.h"

#include <utility>

#include "runtime/world/world.h"

namespace pathways {

absl::StatusOr<std::shared_ptr<RunState>> RunCatalog::Find(RunHandle run) {
  absl::Status owned = owner_.Check(run, "run");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  return runs_.Find(run.id);
}

absl::StatusOr<std::shared_ptr<RunState>> RunCatalog::AwaitResult(
    RunHandle handle, int64_t result) {
  absl::StatusOr<std::shared_ptr<RunState>> run = Find(handle);
  if (!run.ok()) return run;
  absl::Status good =
      channel_.WaitFor((*run)->done, [&] { return (*run)->Describe(); });
  if (good.ok() && !(*run)->completed) good = (*run)->status;
  if (good.ok()) good = (*run)->CheckIndex(result);
  if (good.ok()) good = (*run)->CheckResult(result);
  if (!good.ok()) return good;
  return run;
}

absl::StatusOr<int64_t> RunCatalog::IndexOf(RunHandle handle,
                                            const std::string& result) {
  const absl::StatusOr<std::shared_ptr<RunState>> run = Find(handle);
  if (!run.ok()) return run.status();
  return (*run)->IndexOf(result);
}

absl::StatusOr<bool> RunCatalog::IsReady(RunHandle handle) {
  const absl::StatusOr<std::shared_ptr<RunState>> run = Find(handle);
  if (!run.ok()) return run.status();
  return (*run)->done.load();
}

absl::StatusOr<bool> RunCatalog::AwaitFor(RunHandle handle, int64_t limit_ns) {
  const absl::StatusOr<std::shared_ptr<RunState>> found = Find(handle);
  if (!found.ok()) return found.status();
  RunState& run = **found;
  absl::StatusOr<bool> ended =
      channel_.WaitForLimit(run.done, limit_ns, [&] { return run.Describe(); });
  if (!ended.ok() || !*ended || run.status.ok()) return ended;
  return run.status;
}

absl::StatusOr<std::optional<ArrayHandle>> RunCatalog::Keep(RunHandle handle,
                                                            int64_t result) {
  absl::Status owned = owner_.Check(handle, "run");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  absl::StatusOr<std::shared_ptr<RunState>> run = runs_.Find(handle.id);
  if (!run.ok()) return run.status();
  absl::Status good = (*run)->CheckIndex(result);
  if (!good.ok()) return good;
  if ((*run)->results[result].placed.object == 0) return std::nullopt;
  const uint64_t kept = arrays_.Keep(*run, result);
  // The run still holds the object, if it did not fail.
  holds_.Hold((*arrays_.Find(kept))->placed.object);
  return owner_.Make<ArrayHandle>(kept);
}

absl::Status RunCatalog::Release(RunHandle handle) {
  WorldCall call(context_.runtime->world);
  absl::Status owned = owner_.Check(handle, "run");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  ObjectList objects;
  absl::Status released = runs_.Release(handle.id, &objects);
  channel_.ReleaseObjects(holds_.Unhold(objects));
  return released;
}

absl::Status RunCatalog::NotifyEnd(RunHandle handle,
                                   RunWatchers::Callback callback) {
  const absl::StatusOr<std::shared_ptr<RunState>> run = Find(handle);
  if (!run.ok()) return run.status();
  context_.watchers.Add(owner_.number(), handle.id, std::move(callback));
  // The end may have come before the callback was there.
  if ((*run)->done.load()) {
    CallAll(context_.watchers.Take(owner_.number(), handle.id), (*run)->status);
  } else if (channel_.stopping()) {
    CallAll(context_.watchers.Take(owner_.number(), handle.id),
            channel_.EndReason());
  }
  return absl::OkStatus();
}

absl::Status RunCatalog::Cancel(RunHandle handle) {
  WorldCall call(context_.runtime->world);
  const absl::StatusOr<std::shared_ptr<RunState>> run = Find(handle);
  if (!run.ok()) return run.status();
  ControlRef control = channel_.NewControl();
  control->mutable_cancel_request()->set_launch(handle.id);
  MutexLock lock(&channel_.mutex());
  channel_.Post(std::move(control));
  return absl::OkStatus();
}

}  // namespace pathways
