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
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/client/completion.h"
#include "runtime/client/handles.h"
#include "runtime/client/numbered_map.h"
#include "runtime/client/object_holds.h"

namespace pathways {

// Names for messages, the same for all launches of a program.
struct ProgramNames {
  std::string program;
  std::vector<std::string> results;
};

// A launch. What is not said to be the table's is written before it is in the
// table, or before `done` is set; so who has seen `done` may read it.
struct RunState {
  struct Result {
    PlacedObject placed;
    SharedType type;     // with steps
    uint64_t bytes = 0;  // likewise, on no host twice
    bool poisoned = false;
  };
  uint64_t id = 0;
  uint64_t program_handle = 0;
  std::shared_ptr<const ProgramNames> names;
  absl::InlinedVector<Result, 4> results;
  uint64_t steps = 1;
  // Arrays that it brings to the hosts.
  absl::InlinedVector<uint64_t, 4> placing;
  absl::Status status;
  absl::Status told;       // by the controller; `status` may know more
  bool completed = false;  // all its firings are over
  bool granted = false;    // it had all its grants
  Completion done;
  // The table's: it has ended, so what follows from that is there; nobody asks
  // for it then; it holds its results.
  bool ended = false, released = false, holds = true;

  const std::string& program() const { return names->program; }
  // "a run of program 'p'"
  std::string Describe() const;
  // InvalidArgument: there is no such result.
  absl::Status CheckIndex(int64_t index) const;
  absl::StatusOr<int64_t> IndexOf(const std::string& name) const;
  // Whether a result is good, of a run that has ended.
  absl::Status CheckResult(int64_t index) const;
};

// How a launch ended.
struct RunEnd {
  absl::Status status, told;
  bool completed = false, granted = false;
  absl::Span<const uint32_t> poisoned;  // results
};

// The runs of one client, until they are released and have ended. Invariants:
// (1) a run ends once; (2) its results are given up once: when it was released
// and has ended, or when it did not complete. One owner calls it.
class RunTable {
 public:
  // One that begins; its number is above all others.
  void Add(const std::shared_ptr<RunState>& run);
  // NotFound: there is none, or it was released.
  absl::StatusOr<std::shared_ptr<RunState>> Find(uint64_t id) const;
  // A launch is over. Null: it is not known, or had ended before. Adds the
  // objects that it gives up. The caller sets `done`.
  std::shared_ptr<RunState> End(uint64_t id, RunEnd end, ObjectList* objects);
  // Nobody asks for it any more. NotFound as of Find.
  absl::Status Release(uint64_t id, ObjectList* objects);
  // The first one that has not ended; null: all have.
  std::shared_ptr<RunState> Oldest() const;
  size_t unended() const { return unended_.size(); }
  // Likewise of one program.
  std::shared_ptr<RunState> OldestOf(uint64_t program_handle) const;
  size_t size() const { return runs_.size(); }

 private:
  static void TakeResults(RunState* run, ObjectList* objects);

  NumberedMap<std::shared_ptr<RunState>> runs_;
  std::vector<uint64_t> unended_;  // ascending
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RUN_TABLE_H_
