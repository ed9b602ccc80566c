//===- saved_array.h - Array read from files --------------------*- C++ -*-===//
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
#include "pathways/HostArray.h"
#include "runtime/checkpoint/array_index.h"
#include "runtime/checkpoint/block_grid.h"

namespace pathways {

// An array in a folder that ArrayWriter wrote (docs/checkpoints.md). Reads any
// part of it, however it was cut, and keeps neither values nor open files. The
// files must not change; a change is detected by size or time. Immutable; any
// thread may call it.
class SavedArray {
 public:
  // Reads the index and then all blocks once, a piece at a time, and compares
  // them with the index. Returns NotFound if the folder or its index does not
  // exist, InvalidArgument if the index has another version or is of several
  // arrays, and DataLoss if a file is missing, short, long or not what was
  // written. Other errors as for FileStatus.
  static absl::StatusOr<std::shared_ptr<const SavedArray>> Open(
      const std::string& folder);

  const std::string& folder() const { return folder_; }
  ElementType element() const { return index_.element; }
  const std::vector<int64_t>& shape() const { return shape_; }
  // Contributions in the files, one for each rank of a partial array.
  const layout::Contributions& contributions() const {
    return index_.contributions;
  }
  // Layout of the saved array. Contributions are its first dimension.
  const layout::Layout& layout() const { return index_.layout; }
  const layout::Mesh& mesh() const { return index_.mesh; }
  // Size of all elements; if there are contributions, of each of them.
  uint64_t bytes() const { return bytes_; }

  // Bytes [offset, offset + bytes) of the dense row-major array; they must be
  // whole elements. Contributions follow each other in rank order, each dense.
  struct Range {
    uint64_t offset;
    uint64_t bytes;
    char* to;
  };
  // Reads all ranges. Returns DataLoss if a file has changed; other errors as
  // for FileStatus. After an error the contents of the destinations are
  // undefined.
  absl::Status Read(absl::Span<const Range> ranges) const;
  // Reads the whole array with all contributions. Returns ResourceExhausted,
  // with the number of bytes, if there is no memory.
  absl::StatusOr<HostArray> ReadAll() const;

 private:
  // A block's file at the time of the check.
  struct File {
    uint64_t data_at = 0;
    ino_t inode = 0;
    struct timespec modified = {};
  };
  // One read from one file.
  struct Segment {
    int64_t block;
    uint64_t at;  // offset in the file
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
  std::vector<File> files_;  // one per block
};

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_SAVED_ARRAY_H_
