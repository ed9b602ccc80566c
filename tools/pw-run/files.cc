//===- files.cc - Files read and written by the tool ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/memory.h"

namespace pathways::pw_run {
namespace {

absl::Status FileError(const std::string& path, absl::string_view what,
                       int error) {
  return absl::InvalidArgumentError(
      absl::StrCat("cannot ", what, " '", path, "': ", std::strerror(error)));
}

// Closes the descriptor on destruction.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

// Appends up to `limit` bytes. Returns 0, or an errno; E2BIG past the limit.
int ReadAll(int fd, size_t limit, std::string* bytes) {
  char chunk[1 << 16];
  for (;;) {
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got == 0) return 0;
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (bytes->size() + got > limit) return E2BIG;
    bytes->append(chunk, got);
  }
}

absl::StatusOr<std::string> ReadRegular(const std::string& path, int fd,
                                        int64_t size) {
  if (size > kMaxFileBytes) return FileError(path, "read", EFBIG);
  std::string bytes;
  if (!HasMemoryFor([&] { bytes.reserve(size); })) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot read '", path,
                     "': ", NoMemoryText(static_cast<uint64_t>(size))));
  }
  if (int error = ReadAll(fd, kMaxFileBytes, &bytes); error != 0) {
    return FileError(path, "read", error);
  }
  return bytes;
}

// Returns true if a named pipe, which was opened without blocking, has or had a
// writer. Appends bytes that it had to read to find out.
bool AwaitWriter(int fd, absl::Duration patience, std::string* bytes) {
  const auto begin = std::chrono::steady_clock::now();
  pollfd pipe = {fd, POLLIN, 0};
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(
        patience - absl::FromChrono(std::chrono::steady_clock::now() - begin));
    // Wait until there are bytes, or a writer has come and gone.
    if (poll(&pipe, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1000))) >
        0) {
      return true;
    }
    if (left > 0) continue;
    // read() fails with EAGAIN if a writer has not written yet, and returns 0
    // if there is none.
    char byte;
    const ssize_t got = read(fd, &byte, 1);
    if (got > 0) bytes->push_back(byte);
    return got != 0;
  }
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a writer must not hang.
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return FileError(path, "read", errno);
  struct stat info;
  if (fstat(file.fd, &info) != 0) return FileError(path, "read", errno);
  if (S_ISDIR(info.st_mode)) return FileError(path, "read", EISDIR);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read '", path, "': it is not a regular file"));
  }
  return ReadRegular(path, file.fd, info.st_size);
}

absl::StatusOr<std::string> ReadFileOrStream(const std::string& path,
                                             uint64_t most_bytes,
                                             absl::Duration patience) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return FileError(path, "read", errno);
  struct stat info;
  if (fstat(file.fd, &info) != 0) return FileError(path, "read", errno);
  if (S_ISDIR(info.st_mode)) return FileError(path, "read", EISDIR);
  if (S_ISREG(info.st_mode)) return ReadRegular(path, file.fd, info.st_size);
  std::string bytes;
  if (S_ISFIFO(info.st_mode) && !AwaitWriter(file.fd, patience, &bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read '", path, "': no process opened this pipe ",
                     "for writing within ", absl::FormatDuration(patience)));
  }
  fcntl(file.fd, F_SETFL, 0);  // reads block from here on
  const int error = ReadAll(file.fd, most_bytes, &bytes);
  if (error == E2BIG) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read '", path, "': it has more than ", most_bytes,
                     " bytes, the most that the array and its header need"));
  }
  if (error != 0) return FileError(path, "read", error);
  return bytes;
}

absl::StatusOr<std::string> ReadStdin() {
  std::string bytes;
  if (int error = ReadAll(STDIN_FILENO, size_t{1} << 30, &bytes); error != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot read standard input: ",
        error == E2BIG ? "it has more than 1 GiB" : std::strerror(error)));
  }
  return bytes;
}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  std::swap(direct_, other.direct_);
  return *this;
}

OutputFile::~OutputFile() {
  if (direct_ >= 0) close(direct_);
}

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  struct stat info;
  const bool is_there = stat(path.c_str(), &info) == 0;
  if (is_there) {
    if (S_ISDIR(info.st_mode)) return FileError(path, "write", EISDIR);
    if (access(path.c_str(), W_OK) != 0) return FileError(path, "write", errno);
    if (!S_ISREG(info.st_mode)) {
      file.direct_ = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
      if (file.direct_ < 0) return FileError(path, "write", errno);
      fcntl(file.direct_, F_SETFL, 0);
      return file;
    }
  } else if (errno != ENOENT) {
    return FileError(path, "write", errno);
  }
  // A link stays a link: its target is replaced.
  file.target_ = path;
  if (char* resolved = is_there ? realpath(path.c_str(), nullptr) : nullptr) {
    file.target_ = resolved;
    std::free(resolved);
  }
  int error = file.temporary_.Create(file.target_ + ".", "", 0666);
  if (error != 0) {
    return FileError(path, "write", error);
  }
  if (is_there) fchmod(file.temporary_.fd(), info.st_mode & 0777);
  return file;
}

absl::Status OutputFile::Append(absl::string_view bytes) {
  const int error = WriteAll(direct_ >= 0 ? direct_ : temporary_.fd(),
                             {bytes.data(), bytes.size()});
  return error == 0 ? absl::OkStatus() : FileError(path_, "write", error);
}

absl::Status OutputFile::Commit(absl::string_view bytes) {
  if (absl::Status status = Append(bytes); !status.ok()) return status;
  int error = 0;
  if (direct_ >= 0) {
    if (close(std::exchange(direct_, -1)) != 0) error = errno;
  } else {
    error = temporary_.Commit(target_);
  }
  return error == 0 ? absl::OkStatus() : FileError(path_, "write", error);
}

}  // namespace pathways::pw_run
