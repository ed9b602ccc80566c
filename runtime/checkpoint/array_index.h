//===- array_index.h - What a saved array's index says ----------*- C++ -*-===//
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
#include "runtime/base/host_array.h"
#include "runtime/layout/contributions.h"
#include "runtime/layout/layout.h"

namespace pathways {

// The formats that docs/checkpoints.md describes, and their names.
inline constexpr int64_t kCheckpointVersion = 1;
// The version of an array whose contributions are kept. It differs so that a
// reader that does not know contributions refuses them, and does not take them
// for one more dimension.
inline constexpr int64_t kContributionsVersion = 2;
inline constexpr char kIndexFile[] = "index.json";
inline constexpr int64_t kMaxIndexBytes = int64_t{1} << 28;
// Largest number of blocks of a saved array, and of arrays of a folder.
inline constexpr int64_t kMaxSavedBlocks = int64_t{1} << 20;

// One array. Immutable once it was checked: the layout fits the mesh and has
// nothing partial, and there is a block for each of its BlockGrid.
struct ArrayIndex {
  struct Block {
    std::string file;
    uint64_t bytes = 0;  // of the file
    uint32_t crc = 0;    // CRC-32 of all these
  };

  ElementType element = ElementType::kInvalid;
  // The shape is that of the whole array. Contributions, if there are any, are
  // its first dimension.
  layout::Layout layout;
  layout::Mesh mesh;
  layout::Contributions contributions;
  std::vector<Block> blocks;  // as BlockGrid numbers them
};

// InvalidArgument: an array of that type and layout cannot be saved, as there
// are too many elements, dimensions or blocks, or the layout is wrong.
absl::Status CheckSavable(ElementType element, const layout::Layout& layout,
                          const layout::Mesh& mesh);

// The text of an index, the same for the same array.
std::string PrintArrayIndex(const ArrayIndex& index);
// The reverse. DataLoss: it is damaged; InvalidArgument: it is of another
// version, or of something else. Messages do not name the file.
absl::StatusOr<ArrayIndex> ParseArrayIndex(const std::string& text);

// An input of the run that made a checkpoint.
struct CheckpointInput {
  std::string name;
  int64_t steps = 0;  // that it has values for; 0: it is not stepped
  uint32_t crc = 0;   // CRC-32 of its values, row-major
  uint32_t crc_before =
      0;  // stepped: of those of the steps before the checkpoint
  bool operator==(const CheckpointInput&) const = default;
};
// The part of an index that makes its arrays a checkpoint of a run: the program
// that resumes it, the steps that are done, and the inputs of the run whose
// values its client knew.
struct CheckpointFacts {
  std::string program, fingerprint;  // of its plan's header
  int64_t steps = 0;                 // of the run that are done
  // The number of the run's first step (LaunchOptions::first_step).
  int64_t first_step = 0;
  std::vector<CheckpointInput> inputs = {};
};

// The index of a folder of arrays, which are in folders of their names.
// `checkpoint`: null, or they are one.
std::string PrintSetIndex(const std::vector<std::string>& names,
                          const CheckpointFacts* checkpoint = nullptr);
// As ParseArrayIndex. Names are such that CheckArrayName accepts them.
absl::StatusOr<std::vector<std::string>> ParseSetIndex(const std::string& text);
// As ParseSetIndex. InvalidArgument also: they are no checkpoint.
absl::StatusOr<CheckpointFacts> ParseCheckpoint(const std::string& text);

// InvalidArgument: it is no name for a folder of its own: letters, digits, and
// _ $ - . but not at the begin, at most 255 of them.
absl::Status CheckArrayName(const std::string& name);

// Reads the index file of `folder`, whichever it is. NotFound: there is no such
// folder, or it has none.
absl::StatusOr<std::string> ReadIndexText(const std::string& folder);
// "F/index.json: ", and what the status says.
absl::Status InIndex(const std::string& folder, const absl::Status& status);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_ARRAY_INDEX_H_
