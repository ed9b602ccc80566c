//===- spill_disk.cc - Files of spilled arrays ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/store/spill_disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/temporary_file.h"

namespace pathways {
namespace {

absl::Status FolderError(int error, const std::string& path) {
  const std::string text =
      absl::StrCat("the spill folder ", path, ": ", std::strerror(error),
                   Tag(ErrorId::kSpillFolder));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(text);
  if (error == EACCES || error == EPERM || error == EROFS) {
    return absl::PermissionDeniedError(text);
  }
  return absl::UnavailableError(text);
}

std::string ReadAll(int fd) {
  char text[256];
  const ssize_t got = pread(fd, text, sizeof(text), 0);
  return std::string(text, got > 0 ? got : 0);
}

// Returns the text of a lock file, "host 'h' of cluster c".
std::string OwnerText(const std::string& cluster, const std::string& host) {
  return absl::StrCat("host '", host, "' of cluster ", cluster);
}

absl::Status Taken(const std::string& folder, const std::string& wanted,
                   absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("the spill folder ", folder, " cannot be used by ", wanted,
                   ": ", why, Tag(ErrorId::kSpillFolder)));
}

// Opens and locks a file. Returns -1 and sets errno on failure; errno is
// EWOULDBLOCK if another process holds the lock.
int Lock(const std::string& path) {
  while (true) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(fd);
      errno = error;
      return -1;
    }
    // The previous owner may have removed the file after it was opened here.
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_nlink > 0) return fd;
    close(fd);
  }
}

constexpr char kSuffix[] = ".spill";

// Removes the files of spilled arrays that a previous process left.
void RemoveFiles(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (absl::EndsWith(entry.path().string(), kSuffix)) {
      unlink(entry.path().c_str());
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpillDisk>> FolderDisk::Open(
    const std::string& folder, const std::string& cluster,
    const std::string& host) {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) return FolderError(errno, folder);
  if (!S_ISDIR(status.st_mode)) return FolderError(ENOTDIR, folder);
  const std::string own = absl::StrCat(folder, "/", host);
  if (mkdir(own.c_str(), 0700) != 0 && errno != EEXIST) {
    return FolderError(errno, own);
  }
  const std::string wanted = OwnerText(cluster, host);
  const std::string path = absl::StrCat(own, "/lock");
  const int lock = Lock(path);
  if (lock < 0) {
    if (errno != EWOULDBLOCK) return FolderError(errno, path);
    const int other = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const std::string owner = other < 0 ? "another process" : ReadAll(other);
    if (other >= 0) close(other);
    return Taken(own, wanted, absl::StrCat("it is in use by ", owner));
  }
  const std::string before = ReadAll(lock);
  if (!before.empty() && before != wanted) {
    close(lock);
    return Taken(own, wanted, absl::StrCat("it has files of ", before));
  }
  std::unique_ptr<FolderDisk> disk(new FolderDisk(own, lock));
  if (const int error = WriteAll(lock, before.empty() ? wanted : "")) {
    return FolderError(error, path);
  }
  RemoveFiles(own);
  if (access(own.c_str(), W_OK | X_OK) != 0) return FolderError(errno, own);
  return disk;
}

FolderDisk::~FolderDisk() {
  RemoveFiles(folder_);
  unlink(absl::StrCat(folder_, "/lock").c_str());
  rmdir(folder_.c_str());
  close(lock_);
}

std::string FolderDisk::NameOf(uint64_t file) const {
  return absl::StrCat(folder_, "/", file, kSuffix);
}

absl::Status FolderDisk::Write(uint64_t file, absl::Span<const Chunk> chunks) {
  const std::string path = NameOf(file);
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int error = fd < 0 ? errno : 0;
  for (const Chunk& chunk : chunks) {
    if (error != 0) break;
    error = WriteAll(fd, std::string_view(chunk.data, chunk.bytes));
  }
  if (fd >= 0) close(fd);
  if (error == 0) return absl::OkStatus();
  unlink(path.c_str());
  const std::string text = absl::StrCat(path, ": ", std::strerror(error));
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return is_full ? absl::ResourceExhaustedError(text)
                 : absl::UnavailableError(text);
}

absl::Status FolderDisk::Read(uint64_t file, uint64_t offset, uint64_t bytes,
                              char* to) {
  const std::string path = NameOf(file);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return absl::DataLossError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  uint64_t done = 0;
  int error = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(fd, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      error = got < 0 ? errno : 0;
      break;
    }
    done += static_cast<uint64_t>(got);
  }
  close(fd);
  if (done == bytes) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      path, " has ", offset + done, " bytes that can be read, expected ",
      offset + bytes, error == 0 ? "" : ": ",
      error == 0 ? "" : std::strerror(error)));
}

void FolderDisk::Remove(uint64_t file) { unlink(NameOf(file).c_str()); }

void FolderDisk::Free(uint64_t file, uint64_t offset, uint64_t bytes) {
  const int fd = open(NameOf(file).c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  // If the file system cannot punch holes, the bytes are released with the
  // file.
  (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(offset), static_cast<off_t>(bytes));
  close(fd);
}

absl::Status MemoryDisk::Write(uint64_t file, absl::Span<const Chunk> chunks) {
  MutexLock lock(&mutex_);
  if (!write_failure_.ok()) return write_failure_;
  std::string& text = files_[file];
  for (const Chunk& chunk : chunks) {
    if (chunk.data != nullptr) text.append(chunk.data, chunk.bytes);
    written_bytes_ += chunk.bytes;
  }
  return absl::OkStatus();
}

absl::Status MemoryDisk::Read(uint64_t file, uint64_t offset, uint64_t bytes,
                              char* to) {
  MutexLock lock(&mutex_);
  if (!read_failure_.ok()) return read_failure_;
  const auto found = files_.find(file);
  if (found == files_.end()) {
    return absl::DataLossError(absl::StrCat(NameOf(file), " does not exist"));
  }
  if (to == nullptr) return absl::OkStatus();
  const std::string& text = found->second;
  if (offset + bytes > text.size()) {
    return absl::DataLossError(absl::StrCat(NameOf(file), " has ", text.size(),
                                            " bytes, expected ",
                                            offset + bytes));
  }
  std::memcpy(to, text.data() + offset, bytes);
  return absl::OkStatus();
}

void MemoryDisk::Remove(uint64_t file) {
  MutexLock lock(&mutex_);
  files_.erase(file);
}

std::string MemoryDisk::NameOf(uint64_t file) const {
  return absl::StrCat(name_, "/", file);
}

void MemoryDisk::FailWrites(absl::Status status) {
  MutexLock lock(&mutex_);
  write_failure_ = std::move(status);
}

void MemoryDisk::FailReads(absl::Status status) {
  MutexLock lock(&mutex_);
  read_failure_ = std::move(status);
}

bool MemoryDisk::Damage(uint64_t file, uint64_t offset) {
  MutexLock lock(&mutex_);
  const auto found = files_.find(file);
  if (found == files_.end() || offset >= found->second.size()) return false;
  found->second[offset] ^= 1;
  return true;
}

uint64_t MemoryDisk::written_bytes() const {
  MutexLock lock(&mutex_);
  return written_bytes_;
}

std::map<uint64_t, uint64_t> MemoryDisk::sizes() const {
  MutexLock lock(&mutex_);
  std::map<uint64_t, uint64_t> sizes;
  for (const auto& [file, text] : files_) sizes[file] = text.size();
  return sizes;
}

}  // namespace pathways
