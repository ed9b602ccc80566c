//===- run_checkpoints.h - Checkpoints of one recovered run -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_RUN_CHECKPOINTS_H_
#define RUNTIME_CLIENT_RUN_CHECKPOINTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/Options.h"
#include "runtime/checkpoint/array_index.h"
#include "runtime/client/array_store.h"
#include "runtime/client/array_value.h"
#include "runtime/client/handles.h"
#include "runtime/client/held_array.h"
#include "runtime/client/host_checkpoints.h"
#include "runtime/client/input_digests.h"

namespace pathways {

class LoadedProgram;

// The checkpoints of one recovered run: in this process, in a folder, or on
// hosts that the program is not on, as the options say. Invariants: (1) there
// is always one checkpoint that the run can begin with on any devices, of the
// beginning at first; (2) a checkpoint is complete before the previous one is
// removed. One thread calls it; what the constructor takes outlives it.
class RunCheckpoints {
 public:
  // `on_hosts`: may be null if `options` do not ask for it. `first_step`:
  // number of the first step of the run. `report` gets the bytes of the last
  // checkpoint.
  RunCheckpoints(ArrayStore* store, HostCheckpoints* on_hosts,
                 const RecoveryOptions& options, int64_t first_step,
                 RecoveryReport* report)
      : store_(*store),
        on_hosts_(on_hosts),
        options_(options),
        first_step_(first_step),
        report_(*report) {}

  // Prepares for a run of `steps` steps of `program`, and looks for a
  // checkpoint in the folder, if there is one. Returns AlreadyExists if there
  // is one and the run does not resume, InvalidArgument if it is not of this
  // run, and errors of the file system.
  absl::Status Open(std::shared_ptr<const LoadedProgram> program,
                    int64_t steps);

  // Steps that had ended when the current checkpoint was made.
  int64_t steps() const { return current_.steps; }
  // True if files have the values of the current checkpoint.
  bool is_in_files() const { return !current_.folder.empty(); }
  // True if checkpoints of this run are kept in a folder.
  bool has_folder() const { return !options_.checkpoint_dir.empty(); }

  // Adds an input of the run, which checkpoints record and which is compared
  // with that of the run to resume. `value`: null if it is not in this process;
  // it is not added then. Does nothing without a folder.
  absl::Status NoteInput(int argument, const SharedValue& value);
  // Compares the inputs with those of the checkpoint to resume from. Returns
  // InvalidArgument if they differ.
  absl::Status CheckInputs();
  // Keeps the value of a carried argument, which the run begins with.
  void SetBeginning(int argument, SharedValue value) {
    current_.values[argument] = std::move(value);
  }
  // Saves the beginning in the folder. `arguments`: handles of carried values
  // that are not in this process.
  absl::Status SaveBeginning(const LaunchArguments& arguments);
  // Makes room on hosts for the checkpoints to come, if they are kept there.
  absl::Status PrepareHosts();

  // Makes a checkpoint of arrays, which are by argument, after `steps` steps.
  // If hosts have no room for it, it is kept in this process.
  absl::Status Make(int64_t steps, const std::vector<ArrayHandle>& arrays);
  // Copies a checkpoint on hosts to this process. If it was lost with them, the
  // beginning becomes the checkpoint.
  void FetchFromHosts();
  // Returns the value of a carried argument in the current checkpoint, which is
  // in this process or in files.
  absl::StatusOr<SharedValue> ValueOf(int argument) const;

 private:
  struct Checkpoint {
    int64_t steps = 0;
    std::vector<SharedValue> values;  // index: argument; carried ones only
    std::string folder;               // has the values instead, if not empty
    std::vector<HeldArray> arrays;    // have the values instead, if not empty
  };

  // The next three checkpoint the carried ones of `arrays`, which are by
  // argument.
  absl::Status Copy(const std::vector<ArrayHandle>& arrays,
                    Checkpoint* checkpoint);
  absl::Status Save(const std::vector<ArrayHandle>& arrays,
                    Checkpoint* checkpoint);
  absl::Status KeepOnHosts(const std::vector<ArrayHandle>& arrays,
                           Checkpoint* checkpoint);
  uint64_t BytesOf(int argument, ArrayHandle array) const;
  void Notify(const Checkpoint& checkpoint, const std::string& what) const;

  ArrayStore& store_;
  HostCheckpoints* const on_hosts_;
  const RecoveryOptions& options_;
  const int64_t first_step_;
  RecoveryReport& report_;
  std::shared_ptr<const LoadedProgram> program_;
  Checkpoint current_;
  // Carried values, if checkpoints are on hosts.
  std::vector<SharedValue> beginning_;
  // Facts of the checkpoint to begin with.
  std::optional<CheckpointFacts> resumed_;
  InputDigests inputs_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_RUN_CHECKPOINTS_H_
