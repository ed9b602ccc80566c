//===- input_digests.h - Checksums of a run's inputs ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_INPUT_DIGESTS_H_
#define RUNTIME_CLIENT_INPUT_DIGESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/array_index.h"
#include "runtime/client/array_value.h"

namespace pathways {

// Checksums of the inputs of a run. Checkpoints record them, so that a run that
// resumes from one is known to have the same inputs. One owner calls it.
class InputDigests {
 public:
  // Adds an input, and keeps its value if it is stepped. Returns errors of
  // SavedArray::Read.
  absl::Status Add(const std::string& name, SharedValue value, bool stepped);

  // Returns what a checkpoint after `steps` steps records. Returns errors of
  // SavedArray::Read.
  absl::StatusOr<std::vector<CheckpointInput>> After(int64_t steps);

  // Compares each input that both a checkpoint and this run have: all of it or,
  // if the runs have different numbers of steps, the part that the checkpoint's
  // steps have read. Returns InvalidArgument, with the first input that differs
  // and both checksums, or errors of SavedArray::Read. `path` names the
  // checkpoint.
  absl::Status Check(const std::string& path, const CheckpointFacts& facts);

 private:
  struct Input {
    CheckpointInput said;
    SharedValue value;   // null if it is not stepped
    int64_t before = 0;  // steps in said.crc_before
  };

  // Makes said.crc_before that of the first `steps` steps.
  static absl::Status Advance(Input* input, int64_t steps);

  std::vector<Input> inputs_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_INPUT_DIGESTS_H_
