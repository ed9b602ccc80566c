//===- saved_array.h - An array that is read from files ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_SAVED_ARRAY_H_
#define RUNTIME_CHECKPOINT_SAVED_ARRAY_H_

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/host_array.h"
#include "runtime/checkpoint/array_index.h"
#include "runtime/checkpoint/block_grid.h"

namespace pathways {

// An array in the folder that ArrayWriter wrote (docs/checkpoints.md). Reads
// any part of it, however it was cut, and holds none of the values nor any open
// file. The files must stay as they are; what is changed all the same is
// noticed by its size or time. Immutable; any thread.
class SavedArray {
 public:
  // Reads the index and then all blocks, once, a piece at a time, and compares
  // them with what the index says. NotFound: there is no such folder, or no
  // index in it; InvalidArgument: another version, or several arrays; DataLoss:
  // a file is missing, short, long or not what was written; or as FileStatus.
  static absl::StatusOr<std::shared_ptr<const SavedArray>> Open(
      const std::string& folder);

  const std::string& folder() const { return folder_; }
  ElementType element() const { return index_.element; }
  const std::vector<int64_t>& shape() const { return shape_; }
  // The contributions that the files have, one for each rank of a partial
  // array.
  const layout::Contributions& contributions() const {
    return index_.contributions;
  }
  // How it was saved. Contributions are the first dimension.
  const layout::Layout& layout() const { return index_.layout; }
  const layout::Mesh& mesh() const { return index_.mesh; }
  // The size of all elements; where there are contributions, of each of them.
  uint64_t bytes() const { return bytes_; }

  // Bytes [offset, offset + bytes) of the array, dense and row-major: whole
  // elements. Contributions are one dense array behind the other.
  struct Range {
    uint64_t offset;
    uint64_t bytes;
    char* to;
  };
  // Reads them all. DataLoss: a file has changed; or as FileStatus. What they
  // lead to is undefined then.
  absl::Status Read(absl::Span<const Range> ranges) const;
  // The whole array, with all contributions. ResourceExhausted, with the bytes:
  // there is no memory.
  absl::StatusOr<HostArray> ReadAll() const;

 private:
  // A block's file when it was checked.
  struct File {
    uint64_t data_at = 0;
    ino_t inode = 0;
    struct timespec modified = {};
  };
  // What is read of one file.
  struct Segment {
    int64_t block;
    uint64_t at;  // in the file
    uint64_t bytes;
    char* to;
  };

  SavedArray(std::string folder, ArrayIndex index);

  std::string PathOf(int64_t block) const;
  absl::Status Check(int64_t block, std::string* buffer);
  absl::Status ReadFile(absl::Span<const Segment> segments) const;

  const std::string folder_;
  const ArrayIndex index_;
  const std::vector<int64_t> shape_;  // without contributions
  const BlockGrid grid_;
  const uint64_t bytes_;
  std::vector<File> files_;  // of the blocks
};

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_SAVED_ARRAY_H_
