//===- spill_disk.h - Where spilled arrays lie ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files of one host, by number: in a folder, or, of a simulated host, in
// memory.
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

// A file is written once, read, and removed. Calls for different files may come
// from several threads at a time.
class SpillDisk {
 public:
  struct Chunk {
    const char* data = nullptr;  // null: of no values; they are kept nowhere
    uint64_t bytes = 0;
  };

  virtual ~SpillDisk() = default;
  // Makes a file of the chunks, one behind the other. ResourceExhausted or
  // Unavailable say what the system says; then nothing is left of it.
  virtual absl::Status Write(uint64_t file, absl::Span<const Chunk> chunks) = 0;
  // DataLoss: it is not there, or too short.
  virtual absl::Status Read(uint64_t file, uint64_t offset, uint64_t bytes,
                            char* to) = 0;
  virtual void Remove(uint64_t file) = 0;
  // These bytes of a file are read no more: the disk may have them, as far as
  // it gives parts of files back.
  virtual void Free(uint64_t file, uint64_t offset, uint64_t bytes) {
    (void)file, (void)offset, (void)bytes;
  }
  // For messages.
  virtual std::string NameOf(uint64_t file) const = 0;
  virtual std::string name() const = 0;
};

// A folder that one host has for itself, with a file `lock` that says whose it
// is. All of it is removed with this object; what a process that was killed
// left there, when the same host of the same cluster opens it again.
class FolderDisk final : public SpillDisk {
 public:
  // `host` of `cluster`, both short words, makes its folder in `folder`.
  // NotFound, PermissionDenied: that is not there, or cannot be written.
  // FailedPrecondition: a host has the folder that lives, or that was of
  // another cluster; names both.
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

// In memory, for simulated hosts; and for tests, which make it fail.
class MemoryDisk final : public SpillDisk {
 public:
  explicit MemoryDisk(std::string name) : name_(std::move(name)) {}

  absl::Status Write(uint64_t file, absl::Span<const Chunk> chunks) override;
  absl::Status Read(uint64_t file, uint64_t offset, uint64_t bytes,
                    char* to) override;
  void Remove(uint64_t file) override;
  std::string NameOf(uint64_t file) const override;
  std::string name() const override { return name_; }

  // From now on nothing can be written, or read, until this is OK.
  void FailWrites(absl::Status status);
  void FailReads(absl::Status status);
  // Changes a bit of a file; whether it is there.
  bool Damage(uint64_t file, uint64_t offset);
  // Of all files, by number.
  std::map<uint64_t, uint64_t> sizes() const;
  // Of all that was ever written, together.
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
