//===- checkpoint_folder.h - Folder of a run's checkpoints ------*- C++ -*-===//
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

// Returns the path of the checkpoint after `steps` steps.
std::string CheckpointPath(const std::string& folder, int64_t steps);

// Creates the folder and its parents if they do not exist. Returns the path of
// the last finished checkpoint in it, or an empty path if there is none. Errors
// as for FileStatus.
absl::StatusOr<std::string> OpenCheckpointFolder(const std::string& folder);

// Returns the facts of the checkpoint in `path`. Returns InvalidArgument if
// `path` is no checkpoint, or belongs to another program or to a run whose
// first step has another number. Other errors as for ReadIndexText and
// ParseCheckpoint.
absl::StatusOr<CheckpointFacts> ReadCheckpoint(const std::string& path,
                                               const std::string& program,
                                               const std::string& fingerprint,
                                               int64_t first_step);

// Removes the checkpoints in `folder` after fewer than `steps` steps, including
// finished and unfinished ones of a killed process. Whatever cannot be removed
// stays.
void RemoveCheckpointsBefore(const std::string& folder, int64_t steps);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_CHECKPOINT_FOLDER_H_
