//===- run_table.cc - Launches, as their client sees them -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/run_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {
namespace {

absl::Status NoRun(uint64_t id) {
  return absl::NotFoundError(absl::StrCat(
      "run ", id, " does not exist or was released", Tag(ErrorId::kReleased)));
}

}  // namespace

std::string RunState::Describe() const {
  return absl::StrCat("a run of program '", program(), "'");
}

absl::Status RunState::CheckIndex(int64_t index) const {
  const int64_t count = static_cast<int64_t>(results.size());
  if (index >= 0 && index < count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "program '", program(), "' has ", count, " results, but result ", index,
      " is asked for", Tag(ErrorId::kNoSuchResult)));
}

absl::StatusOr<int64_t> RunState::IndexOf(const std::string& name) const {
  std::string known;
  for (size_t i = 0; i < names->results.size(); ++i) {
    if (names->results[i] == name) return static_cast<int64_t>(i);
    absl::StrAppend(&known, i ? ", '" : "'", names->results[i], "'");
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "program '", program(), "' has no result '", name, "'; it has ",
      known.empty() ? "none" : known, Tag(ErrorId::kNoSuchResult)));
}

absl::Status RunState::CheckResult(int64_t index) const {
  if (!completed) return status;
  if (!results[index].poisoned) return absl::OkStatus();
  return status.ok() ? absl::InternalError("a result failed without a cause")
                     : status;
}

void RunTable::Add(const std::shared_ptr<RunState>& run) {
  runs_.emplace_hint(runs_.end(), run->id, run);
  unended_.push_back(run->id);
}

absl::StatusOr<std::shared_ptr<RunState>> RunTable::Find(uint64_t id) const {
  const auto found = runs_.find(id);
  if (found == runs_.end() || found->second->released) return NoRun(id);
  return found->second;
}

std::shared_ptr<RunState> RunTable::End(uint64_t id, RunEnd end,
                                        ObjectList* objects) {
  const auto found = runs_.find(id);
  if (found == runs_.end() || found->second->ended) return nullptr;
  unended_.erase(std::lower_bound(unended_.begin(), unended_.end(), id));
  std::shared_ptr<RunState> run = found->second;
  run->ended = true;
  run->status = std::move(end.status);
  run->told = std::move(end.told);
  run->completed = end.completed;
  run->granted = end.granted;
  for (uint32_t result : end.poisoned) {
    if (result < run->results.size()) run->results[result].poisoned = true;
  }
  if (!run->completed || run->released) TakeResults(run.get(), objects);
  if (run->released) runs_.erase(found);
  return run;
}

absl::Status RunTable::Release(uint64_t id, ObjectList* objects) {
  const auto found = runs_.find(id);
  if (found == runs_.end() || found->second->released) return NoRun(id);
  RunState& run = *found->second;
  run.released = true;
  // The run is erased when it ends.
  if (!run.ended) return absl::OkStatus();
  TakeResults(&run, objects);
  runs_.erase(found);
  return absl::OkStatus();
}

std::shared_ptr<RunState> RunTable::Oldest() const {
  // A run that has not ended is in the table, even if it was released.
  return unended_.empty() ? nullptr : runs_.find(unended_.front())->second;
}

std::shared_ptr<RunState> RunTable::OldestOf(uint64_t program_handle) const {
  for (uint64_t id : unended_) {
    const std::shared_ptr<RunState>& run = runs_.find(id)->second;
    if (run->program_handle == program_handle) return run;
  }
  return nullptr;
}

void RunTable::TakeResults(RunState* run, ObjectList* objects) {
  if (!std::exchange(run->holds, false)) return;
  for (const RunState::Result& result : run->results) {
    objects->push_back(result.placed.object);
  }
}

}  // namespace pathways
