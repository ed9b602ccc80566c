//===- spill_disk.h - Files of spilled arrays -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbered files of one host: in a folder, or in memory for a simulated host.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_STORE_SPILL_DISK_H_
#define RUNTIME_STORE_SPILL_DISK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"

namespace pathways {

// A file is written once, read, and removed. Several threads may call for
// different files at the same time.
class SpillDisk {
 public:
  struct Chunk {
    // Null if the bytes have no values (simulation); then only their size is
    // counted.
    const char* data = nullptr;
    uint64_t bytes = 0;
  };

  virtual ~SpillDisk() = default;
  // Writes a file that is the concatenation of the chunks. Returns
  // ResourceExhausted if the disk is full, or Unavailable; the message is the
  // system's. Nothing of the file is left after an error.
  virtual absl::Status Write(uint64_t file, absl::Span<const Chunk> chunks) = 0;
  // Reads a range of a file. Returns DataLoss if the file is missing, too short
  // or unreadable.
  virtual absl::Status Read(uint64_t file, uint64_t offset, uint64_t bytes,
                            char* to) = 0;
  virtual void Remove(uint64_t file) = 0;
  // Tells the disk that these bytes of a file are not read again. A disk that
  // can release parts of files may release them.
  virtual void Free(uint64_t file, uint64_t offset, uint64_t bytes) {
    (void)file, (void)offset, (void)bytes;
  }
  // Names of a file and of the disk for messages.
  virtual std::string NameOf(uint64_t file) const = 0;
  virtual std::string name() const = 0;
};

// A folder of one host, with a file `lock` that names its owner. The destructor
// removes the folder. What a killed process left there is removed when the same
// host of the same cluster opens the folder again.
class FolderDisk final : public SpillDisk {
 public:
  // Creates the folder of `host` of `cluster`, both short words, in `folder`.
  // Returns NotFound or PermissionDenied if `folder` does not exist or cannot
  // be written, and Unavailable for other errors of the system. Returns
  // FailedPrecondition, with the names of both hosts, if a live host holds the
  // lock, or if the last owner was another host or of another cluster.
  static absl::StatusOr<std::unique_ptr<SpillDisk>> Open(
      const std::string& folder, const std::string& cluster,
      const std::string& host);
  ~FolderDisk() override;

  absl::Status Write(uint64_t file, absl::Span<const Chunk> chunks) override;
  absl::Status Read(uint64_t file, uint64_t offset, uint64_t bytes,
                    char* to) override;
  void Remove(uint64_t file) override;
  void Free(uint64_t file, uint64_t offset, uint64_t bytes) override;
  std::string NameOf(uint64_t file) const override;
  std::string name() const override { return folder_; }

 private:
  FolderDisk(std::string folder, int lock)
      : folder_(std::move(folder)), lock_(lock) {}

  const std::string folder_;
  const int lock_;  // descriptor
};

// Files in memory, for simulated hosts, and for tests that make it fail.
class MemoryDisk final : public SpillDisk {
 public:
  explicit MemoryDisk(std::string name) : name_(std::move(name)) {}

  absl::Status Write(uint64_t file, absl::Span<const Chunk> chunks) override;
  absl::Status Read(uint64_t file, uint64_t offset, uint64_t bytes,
                    char* to) override;
  void Remove(uint64_t file) override;
  std::string NameOf(uint64_t file) const override;
  std::string name() const override { return name_; }

  // Makes all further writes, or reads, fail with `status` until it is set to
  // OK.
  void FailWrites(absl::Status status);
  void FailReads(absl::Status status);
  // Flips a bit of a file. Returns false if the file does not have that byte.
  bool Damage(uint64_t file, uint64_t offset);
  // Returns the size of each file by its number.
  std::map<uint64_t, uint64_t> sizes() const;
  // Returns the total bytes of all writes so far, including chunks without
  // values.
  uint64_t written_bytes() const;

 private:
  const std::string name_;
  mutable Mutex mutex_;
  absl::Status write_failure_ ABSL_GUARDED_BY(mutex_);
  absl::Status read_failure_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::string> files_ ABSL_GUARDED_BY(mutex_);
  uint64_t written_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pathways

#endif  // RUNTIME_STORE_SPILL_DISK_H_
