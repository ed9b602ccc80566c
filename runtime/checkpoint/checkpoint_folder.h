//===- checkpoint_folder.h - Where a run's checkpoints are ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_CHECKPOINT_FOLDER_H_
#define RUNTIME_CHECKPOINT_CHECKPOINT_FOLDER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/array_index.h"

namespace pathways {

// The folder of the checkpoint after so many steps.
std::string CheckpointPath(const std::string& folder, int64_t steps);

// Makes the folder, and those that it is in, if it is not there. Returns the
// path of the last checkpoint in it; empty: there is none. Errors as
// FileStatus.
absl::StatusOr<std::string> OpenCheckpointFolder(const std::string& folder);

// Returns the facts of the checkpoint in `path`. InvalidArgument: it is no
// checkpoint, or one of another program, or of a run whose first step has
// another number; or as ReadIndexText and ParseCheckpoint.
absl::StatusOr<CheckpointFacts> ReadCheckpoint(const std::string& path,
                                               const std::string& program,
                                               const std::string& fingerprint,
                                               int64_t first_step);

// Removes the checkpoints of a folder after fewer steps, also those that a
// process left there that was killed, whole or unfinished. What cannot be
// removed stays.
void RemoveCheckpointsBefore(const std::string& folder, int64_t steps);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_CHECKPOINT_FOLDER_H_
