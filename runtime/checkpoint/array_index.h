//===- array_index.h - Index of a saved array -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_ARRAY_INDEX_H_
#define RUNTIME_CHECKPOINT_ARRAY_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pathways/HostArray.h"
#include "runtime/layout/contributions.h"
#include "runtime/layout/layout.h"

namespace pathways {

// Versions and names of the formats in docs/checkpoints.md.
inline constexpr int64_t kCheckpointVersion = 1;
// Version of an array that keeps contributions. A reader that does not know
// contributions rejects this version instead of taking them for one more
// dimension.
inline constexpr int64_t kContributionsVersion = 2;
inline constexpr char kIndexFile[] = "index.json";
inline constexpr int64_t kMaxIndexBytes = int64_t{1} << 28;
// Largest number of blocks of a saved array, and of arrays in a folder.
inline constexpr int64_t kMaxSavedBlocks = int64_t{1} << 20;

// Index of one array. Immutable after ParseArrayIndex has checked it: the
// layout fits the mesh and has no partial axes, and there is one block for each
// block of its BlockGrid.
struct ArrayIndex {
  struct Block {
    std::string file;
    uint64_t bytes = 0;  // size of the file
    uint32_t crc = 0;    // CRC-32 of the whole file
  };

  ElementType element = ElementType::kInvalid;
  // Layout of the whole array. If there are contributions, they are the first
  // dimension of its shape.
  layout::Layout layout;
  layout::Mesh mesh;
  layout::Contributions contributions;
  std::vector<Block> blocks;  // numbered as in BlockGrid
};

// Returns InvalidArgument if an array of that type and layout cannot be saved:
// it has too many elements, dimensions or blocks, or the layout is invalid.
absl::Status CheckSavable(ElementType element, const layout::Layout& layout,
                          const layout::Mesh& mesh);

// Returns the text of an index. Equal indices give equal texts.
std::string PrintArrayIndex(const ArrayIndex& index);
// Parses the text of PrintArrayIndex. Returns DataLoss if the text is damaged,
// and InvalidArgument if it has another version or is the index of something
// else. Messages do not name the file.
absl::StatusOr<ArrayIndex> ParseArrayIndex(const std::string& text);

// One input of the run that made a checkpoint.
struct CheckpointInput {
  std::string name;
  // Number of steps that the input has values for; 0 if it is not stepped.
  int64_t steps = 0;
  uint32_t crc = 0;  // CRC-32 of its values, row-major
  // CRC-32 of the values for the steps before the checkpoint; only for a
  // stepped input.
  uint32_t crc_before = 0;
  bool operator==(const CheckpointInput&) const = default;
};
// The part of an index that makes its arrays a checkpoint of a run: the program
// that resumes it, the number of completed steps, and those inputs of the run
// whose values the client knew.
struct CheckpointFacts {
  std::string program, fingerprint;  // of the plan's header
  int64_t steps = 0;                 // completed steps of the run
  // Number of the run's first step (LaunchOptions::first_step).
  int64_t first_step = 0;
  std::vector<CheckpointInput> inputs = {};
};

// Returns the index of a folder of arrays, each in a subfolder of its name.
// `checkpoint` is null if the arrays are no checkpoint.
std::string PrintSetIndex(const std::vector<std::string>& names,
                          const CheckpointFacts* checkpoint = nullptr);
// Parses the index of a folder and returns the names of its arrays, all of
// which CheckArrayName accepts. Errors as for ParseArrayIndex.
absl::StatusOr<std::vector<std::string>> ParseSetIndex(const std::string& text);
// Parses the facts of a checkpoint. Errors as for ParseSetIndex;
// InvalidArgument also if the arrays are no checkpoint.
absl::StatusOr<CheckpointFacts> ParseCheckpoint(const std::string& text);

// Returns InvalidArgument unless `name` can name a subfolder: it has 1 to 255
// characters, which are letters, digits, _ $ - or, but not first, a dot;
// "index.json" is excluded.
absl::Status CheckArrayName(const std::string& name);

// Reads the index file of `folder`, either of one array or of several. Returns
// NotFound if the folder or the file does not exist.
absl::StatusOr<std::string> ReadIndexText(const std::string& folder);
// Returns `status` with "F/index.json: " before its message.
absl::Status InIndex(const std::string& folder, const absl::Status& status);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_ARRAY_INDEX_H_
