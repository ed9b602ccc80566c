//===- array_writer.h - Saves an array, block by block ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_ARRAY_WRITER_H_
#define RUNTIME_CHECKPOINT_ARRAY_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/host_array.h"
#include "runtime/checkpoint/array_index.h"
#include "runtime/checkpoint/block_grid.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/layout/layout.h"

namespace pathways {

// Writes the files of one array to a folder that is being saved: each block of
// its layout, then the index. Holds none of the values. One owner calls it.
class ArrayWriter {
 public:
  // To the folder `name` in `folder`, which outlives it; "": to that itself.
  // Nothing of the layout may be partial: `contributions`, if there are any,
  // are its first dimension. InvalidArgument as of CheckSavable; or as
  // SaveFolder::AddFolder.
  static absl::StatusOr<ArrayWriter> Create(
      SaveFolder* folder, const std::string& name, ElementType element,
      layout::Layout layout, layout::Mesh mesh,
      layout::Contributions contributions = {});

  const BlockGrid& grid() const { return grid_; }
  // The next block, as the grid numbers them: its elements, dense and
  // row-major. Errors as SaveFolder::AddFile.
  absl::Status Write(const char* data);
  // The index, once all blocks are written. Errors likewise.
  absl::Status Finish();

 private:
  ArrayWriter(SaveFolder* folder, std::string prefix, ArrayIndex index)
      : folder_(folder),
        prefix_(std::move(prefix)),
        index_(std::move(index)),
        grid_(index_.layout, index_.mesh) {}

  SaveFolder* folder_;
  std::string prefix_;  // of names of files
  ArrayIndex index_;    // with the blocks that are written
  BlockGrid grid_;
};

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_ARRAY_WRITER_H_
