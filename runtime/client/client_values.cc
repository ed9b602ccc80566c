//===- client_values.cc - Arrays and results of a client ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <optional>
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

absl::StatusOr<HostArray> Client::Fetch(RunHandle handle, int64_t index) {
  TracedCall traced(context_, actor_, TraceCall::kFetch, handle.id);
  absl::StatusOr<std::shared_ptr<RunState>> run =
      run_catalog_.AwaitResult(handle, index);
  if (!run.ok()) return run.status();
  const RunState::Result& result = (*run)->results[index];
  return array_reader_.Get({result.type, nullptr, result.placed},
                           absl::StrCat("run ", handle.id));
}

absl::StatusOr<HostArray> Client::Fetch(RunHandle run,
                                        const std::string& result) {
  const absl::StatusOr<int64_t> index = run_catalog_.IndexOf(run, result);
  if (!index.ok()) return index.status();
  return Fetch(run, *index);
}

absl::StatusOr<ArrayHandle> Client::Keep(RunHandle run, int64_t index) {
  const absl::StatusOr<std::optional<ArrayHandle>> kept =
      run_catalog_.Keep(run, index);
  if (!kept.ok()) return kept.status();
  if (kept->has_value()) return **kept;
  absl::StatusOr<HostArray> array = Fetch(run, index);  // no bytes
  if (!array.ok()) return array.status();
  return Put(*std::move(array));
}

absl::StatusOr<ArrayHandle> Client::Keep(RunHandle run,
                                         const std::string& result) {
  const absl::StatusOr<int64_t> index = run_catalog_.IndexOf(run, result);
  if (!index.ok()) return index.status();
  return Keep(run, *index);
}

absl::Status Client::ReleaseRun(RunHandle run) {
  return run_catalog_.Release(run);
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

absl::StatusOr<bool> Client::IsReady(RunHandle run) {
  return run_catalog_.IsReady(run);
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
