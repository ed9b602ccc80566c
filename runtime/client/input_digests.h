//===- input_digests.h - Which inputs a run had -----------------*- C++ -*-===//
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

// Checksums of the inputs of a run, which its checkpoints have, so that a run
// that goes on from one is known to have the same. One owner calls it.
class InputDigests {
 public:
  // An input, which this keeps if it is stepped. Errors as SavedArray::Read.
  absl::Status Add(const std::string& name, SharedValue value, bool stepped);

  // What a checkpoint after `steps` steps says of them. Errors as
  // SavedArray::Read.
  absl::StatusOr<std::vector<CheckpointInput>> After(int64_t steps);

  // Of each input that a checkpoint and this run know, whether it is the same:
  // all of it, or, where the runs have other numbers of steps, what the
  // checkpoint's steps have read. InvalidArgument names the first that is not,
  // and both checksums; or as SavedArray::Read.
  absl::Status Check(const std::string& path, const CheckpointFacts& facts);

 private:
  struct Input {
    CheckpointInput said;
    SharedValue value;   // null: it is not stepped
    int64_t before = 0;  // steps that said.crc_before is of
  };

  // Has said.crc_before be of so many steps.
  static absl::Status Advance(Input* input, int64_t steps);

  std::vector<Input> inputs_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_INPUT_DIGESTS_H_
