//===- client_values.cc - Arrays and results of a client ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/client/client.h"
#include "runtime/client/traced_call.h"

namespace pathways {
namespace {

// Returns the name of an array in errors.
std::string ArrayName(ArrayHandle array) {
  return absl::StrCat("array ", array.id);
}

}  // namespace

absl::StatusOr<std::shared_ptr<RunState>> Client::FindRun(RunHandle run) {
  absl::Status owned = owner_.Check(run, "run");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  return runs_.Find(run.id);
}

absl::StatusOr<std::shared_ptr<RunState>> Client::AwaitResult(RunHandle handle,
                                                              int64_t result) {
  absl::StatusOr<std::shared_ptr<RunState>> run = FindRun(handle);
  if (!run.ok()) return run;
  absl::Status good = WaitForRun(**run);
  if (good.ok() && !(*run)->completed) good = (*run)->status;
  if (good.ok()) good = (*run)->CheckIndex(result);
  if (good.ok()) good = (*run)->CheckResult(result);
  if (!good.ok()) return good;
  return run;
}

absl::StatusOr<HostArray> Client::Fetch(RunHandle handle, int64_t index) {
  TracedCall traced(context_, actor_, TraceCall::kFetch, handle.id);
  absl::StatusOr<std::shared_ptr<RunState>> run = AwaitResult(handle, index);
  if (!run.ok()) return run.status();
  const RunState::Result& result = (*run)->results[index];
  return array_reader_.Get({result.type, nullptr, result.placed},
                           absl::StrCat("run ", handle.id));
}

absl::StatusOr<HostArray> Client::Fetch(RunHandle handle,
                                        const std::string& result) {
  absl::StatusOr<std::shared_ptr<RunState>> run = FindRun(handle);
  if (!run.ok()) return run.status();
  absl::StatusOr<int64_t> index = (*run)->IndexOf(result);
  if (!index.ok()) return index.status();
  return Fetch(handle, *index);
}

absl::StatusOr<ArrayHandle> Client::Keep(RunHandle handle, int64_t index) {
  absl::Status owned = owner_.Check(handle, "run");
  if (!owned.ok()) return owned;
  {
    MutexLock lock(&channel_.mutex());
    absl::StatusOr<std::shared_ptr<RunState>> run = runs_.Find(handle.id);
    if (!run.ok()) return run.status();
    absl::Status good = (*run)->CheckIndex(index);
    if (!good.ok()) return good;
    if ((*run)->results[index].placed.object != 0) {
      const uint64_t kept = arrays_.Keep(*run, index);
      // The run still holds the object, if it did not fail.
      holds_.Hold((*arrays_.Find(kept))->placed.object);
      return owner_.Make<ArrayHandle>(kept);
    }
  }
  absl::StatusOr<HostArray> array = Fetch(handle, index);  // no bytes
  if (!array.ok()) return array.status();
  return Put(*std::move(array));
}

absl::StatusOr<ArrayHandle> Client::Keep(RunHandle handle,
                                         const std::string& result) {
  absl::StatusOr<std::shared_ptr<RunState>> run = FindRun(handle);
  if (!run.ok()) return run.status();
  absl::StatusOr<int64_t> index = (*run)->IndexOf(result);
  if (!index.ok()) return index.status();
  return Keep(handle, *index);
}

absl::Status Client::ReleaseRun(RunHandle handle) {
  WorldCall call(context_.runtime->world);
  absl::Status owned = owner_.Check(handle, "run");
  if (!owned.ok()) return owned;
  MutexLock lock(&channel_.mutex());
  ObjectList objects;
  absl::Status released = runs_.Release(handle.id, &objects);
  channel_.ReleaseObjects(holds_.Unhold(objects));
  return released;
}

absl::StatusOr<ArrayHandle> Client::Put(HostArray array) {
  return store_.Put(std::make_shared<const ArrayValue>(std::move(array)));
}

absl::StatusOr<ArrayHandle> Client::Put(HostArray array,
                                        layout::Contributions contributions) {
  return store_.Put(std::make_shared<const ArrayValue>(
      std::move(array), std::move(contributions)));
}

absl::StatusOr<ArrayHandle> Client::Put(BorrowedArray array) {
  return store_.Put(std::make_shared<const ArrayValue>(std::move(array)));
}

absl::StatusOr<ArrayHandle> Client::Put(
    std::shared_ptr<const SavedArray> array) {
  return store_.Put(std::make_shared<const ArrayValue>(std::move(array)));
}

absl::StatusOr<ArrayType> Client::TypeOf(ArrayHandle array) {
  return store_.TypeOf(array);
}

absl::StatusOr<bool> Client::IsReady(ArrayHandle array) {
  return store_.IsReady(array);
}

absl::StatusOr<bool> Client::IsReady(RunHandle handle) {
  absl::StatusOr<std::shared_ptr<RunState>> run = FindRun(handle);
  if (!run.ok()) return run.status();
  return (*run)->done.load();
}

absl::Status Client::AwaitArray(ArrayHandle array) {
  return store_.AwaitFor(array, /*limit_ns=*/-1).status();
}

absl::StatusOr<bool> Client::AwaitArrayFor(ArrayHandle array,
                                           int64_t limit_ns) {
  return store_.AwaitFor(array, limit_ns);
}

absl::StatusOr<HostArray> Client::Get(ArrayHandle handle) {
  const absl::StatusOr<ArrayLocation> array = store_.Locate(handle);
  if (!array.ok()) return array.status();
  return array_reader_.Get(*array, ArrayName(handle));
}

absl::Status Client::GetInto(ArrayHandle handle, char* into, uint64_t bytes) {
  const absl::StatusOr<ArrayLocation> array = store_.Locate(handle);
  if (!array.ok()) return array.status();
  return array_reader_.GetInto(*array, into, bytes, ArrayName(handle));
}

absl::StatusOr<ValueView> Client::View(ArrayHandle handle) {
  absl::StatusOr<ArrayLocation> array = store_.Locate(handle);
  if (!array.ok()) return array.status();
  return array_reader_.View(*std::move(array), ArrayName(handle));
}

absl::StatusOr<HostArray> Client::GetShard(ArrayHandle handle, int64_t shard) {
  const absl::StatusOr<ArrayLocation> array = store_.Locate(handle);
  if (!array.ok()) return array.status();
  return array_reader_.GetShard(*array, shard, ArrayName(handle));
}

absl::StatusOr<std::shared_ptr<const ArrayPlacement>> Client::PlacementOf(
    ArrayHandle array) {
  return store_.PlacementOf(array);
}

absl::Status Client::Release(ArrayHandle array) {
  return store_.Release(array);
}

}  // namespace pathways
