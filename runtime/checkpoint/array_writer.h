//===- array_writer.h - Writer of one saved array ---------------*- C++ -*-===//
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
#include "pathways/HostArray.h"
#include "runtime/checkpoint/array_index.h"
#include "runtime/checkpoint/block_grid.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/layout/layout.h"

namespace pathways {

// Writes the files of one array into a folder that is being saved: each block
// of its layout, then the index. It keeps none of the values. One owner calls
// it.
class ArrayWriter {
 public:
  // Creates a writer to the subfolder `name` of `folder`, or to `folder` itself
  // if `name` is empty. `folder` outlives the writer. The layout may have no
  // partial axes; contributions, if any, are its first dimension. Errors as for
  // CheckSavable and SaveFolder::AddFolder.
  static absl::StatusOr<ArrayWriter> Create(
      SaveFolder* folder, const std::string& name, ElementType element,
      layout::Layout layout, layout::Mesh mesh,
      layout::Contributions contributions = {});

  const BlockGrid& grid() const { return grid_; }
  // Writes the next block in the order of the grid. `data`: elements of the
  // block, dense and row-major. Errors as for SaveFolder::AddFile.
  absl::Status Write(const char* data);
  // Writes the index. Call it after all blocks. Errors as for
  // SaveFolder::AddFile.
  absl::Status Finish();

 private:
  ArrayWriter(SaveFolder* folder, std::string prefix, ArrayIndex index)
      : folder_(folder),
        prefix_(std::move(prefix)),
        index_(std::move(index)),
        grid_(index_.layout, index_.mesh) {}

  SaveFolder* folder_;
  std::string prefix_;  // prefix of file names
  ArrayIndex index_;    // lists the blocks written so far
  BlockGrid grid_;
};

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_ARRAY_WRITER_H_
