//===- run_table.h - Launches, as their client sees them --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RUN_TABLE_H_
#define RUNTIME_CLIENT_RUN_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/free_list.h"
#include "runtime/client/completion.h"
#include "runtime/client/handles.h"
#include "runtime/client/object_holds.h"

namespace pathways {

// Names for messages, shared by all launches of a program.
struct ProgramNames {
  std::string program;
  std::vector<std::string> results;
};

// A launch. Fields other than the table's are written before the run is in the
// table, or before `done` is set, so a thread that has seen `done` may read
// them.
struct RunState {
  struct Result {
    PlacedObject placed;
    SharedType type;     // with steps
    uint64_t bytes = 0;  // all steps; replicas count once
    bool poisoned = false;
  };
  uint64_t id = 0;
  uint64_t program_handle = 0;
  std::shared_ptr<const ProgramNames> names;
  absl::InlinedVector<Result, 4> results;
  uint64_t steps = 1;
  // Arrays that the run brings to hosts.
  absl::InlinedVector<uint64_t, 4> placing;
  absl::Status status;
  absl::Status told;       // from the controller; `status` may know more
  bool completed = false;  // all its firings have ended
  bool granted = false;    // it got all its grants
  Completion done;
  // The table's. `ended`: the run has ended, and its tables reflect that.
  // `released`: its handle is no longer valid. `holds`: it holds its results.
  bool ended = false, released = false, holds = true;

  const std::string& program() const { return names->program; }
  // "a run of program 'p'"
  std::string Describe() const;
  // Both return InvalidArgument if there is no such result.
  absl::Status CheckIndex(int64_t index) const;
  absl::StatusOr<int64_t> IndexOf(const std::string& name) const;
  // Returns OK if the result of an ended run is good; otherwise the error.
  absl::Status CheckResult(int64_t index) const;
};

// The end of a launch.
struct RunEnd {
  absl::Status status, told;
  bool completed = false, granted = false;
  absl::Span<const uint32_t> poisoned;  // results
};

// Runs of one client, until they are released and have ended. Invariants: (1) a
// run ends once; (2) its results are given up once: when it was released and
// has ended, or when it did not complete. One owner calls it.
class RunTable {
 public:
  // Adds a new run. Its number must be above all others.
  void Add(const std::shared_ptr<RunState>& run);
  // Returns NotFound if there is no such run, or if it was released.
  absl::StatusOr<std::shared_ptr<RunState>> Find(uint64_t id) const;
  // Ends a run and returns it; null if it is not known, or had ended before.
  // Adds the objects that it gives up. The caller sets `done`.
  std::shared_ptr<RunState> End(uint64_t id, RunEnd end, ObjectList* objects);
  // Releases a run, and adds the objects that it gives up. Returns NotFound as
  // Find does.
  absl::Status Release(uint64_t id, ObjectList* objects);
  // Returns the oldest run that has not ended; null if all have.
  std::shared_ptr<RunState> Oldest() const;
  size_t unended() const { return unended_.size(); }
  // Returns the oldest run of one program that has not ended.
  std::shared_ptr<RunState> OldestOf(uint64_t program_handle) const;
  size_t size() const { return runs_.size(); }

 private:
  using Runs = std::map<
      uint64_t, std::shared_ptr<RunState>, std::less<>,
      FreeListAllocator<std::pair<const uint64_t, std::shared_ptr<RunState>>>>;

  static void TakeResults(RunState* run, ObjectList* objects);

  FreeList nodes_;  // of runs_
  Runs runs_{Runs::allocator_type(&nodes_)};
  std::vector<uint64_t> unended_;  // ascending
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RUN_TABLE_H_
