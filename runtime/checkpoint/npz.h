//===- npz.h - Archives of arrays in NumPy's file format --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes .npz files, as numpy.savez and numpy.savez_compressed write
// them: ZIP files whose members are .npy files, stored or deflated, of any size
// (zip64). Every count is checked against the available bytes before use. A
// member that is deflated is inflated only up to the size that it states, and
// its checksum is compared. Encrypted members, other methods, archives of
// several files and bytes before the first member are rejected.
//
// Errors do not name the file; callers do.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_NPZ_H_
#define RUNTIME_CHECKPOINT_NPZ_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pathways/HostArray.h"
#include "runtime/checkpoint/npy.h"

namespace pathways {

// An archive in memory. Immutable: any thread may call it.
class NpzReader {
 public:
  // Reads the list of members. `bytes` must outlive the reader. Returns
  // InvalidArgument if the bytes are no such archive, or if a member is no .npy
  // file or occurs twice.
  static absl::StatusOr<NpzReader> Open(absl::string_view bytes);

  // Keys of the arrays, in the order of the file: names of members without
  // ".npy".
  const std::vector<std::string>& keys() const { return keys_; }

  // Returns the header of array `index`, without reading its data. Returns
  // InvalidArgument if it is damaged or not supported (see ParseNpyHeader).
  absl::StatusOr<NpyHeader> ReadHeader(size_t index) const;
  // Returns array `index`. Returns InvalidArgument if it is damaged or not
  // supported (see ParseNpy), ResourceExhausted if there is no memory.
  absl::StatusOr<HostArray> Read(size_t index) const;

 private:
  struct Member {
    std::string name;
    bool deflated = false;
    uint32_t crc = 0;
    uint64_t bytes = 0;      // uncompressed
    absl::string_view data;  // as in the file
  };

  // Place of the list of members.
  struct Directory {
    uint64_t at = 0;
    uint64_t bytes = 0;
    uint64_t members = 0;
  };
  static absl::StatusOr<Directory> FindDirectory(absl::string_view file);
  // Parses one entry of the list, and removes it from `entries`. `begin` is the
  // part of the file before the list.
  static absl::StatusOr<Member> ParseMember(absl::string_view begin,
                                            absl::string_view* entries);

  std::vector<Member> members_;
  std::vector<std::string> keys_;
};

// Writes an archive with stored members. The same arrays always become the same
// bytes: members have no times.
class NpzWriter {
 public:
  // `write` appends bytes to the file. An error that it returns ends the call
  // that caused it.
  using Write = std::function<absl::Status(absl::string_view)>;
  // Sizes and offsets from `zip64_from` bytes on are written as zip64; less
  // than the default is for tests.
  explicit NpzWriter(Write write, uint64_t zip64_from = 0xffffffff)
      : write_(std::move(write)), zip64_from_(zip64_from) {}

  // Appends an array, which must be well formed. Each key must be given once.
  absl::Status Add(const std::string& key, const HostArray& array);
  // Appends the list of members.
  absl::Status Finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc;
    uint64_t bytes;
    uint64_t offset;
  };
  absl::Status Append(absl::string_view bytes);

  Write write_;
  uint64_t zip64_from_;
  std::vector<Entry> entries_;
  uint64_t at_ = 0;  // bytes written
};

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_NPZ_H_
