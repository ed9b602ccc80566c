//===- files.cc - Files read and written by the tool ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

// Closes on every way out.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

// Appends up to `limit` bytes and returns 0, or an errno; E2BIG past the limit.
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

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes must not hang.
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return FileError(path, "read", errno);
  struct stat info;
  if (fstat(file.fd, &info) != 0) return FileError(path, "read", errno);
  if (S_ISDIR(info.st_mode)) return FileError(path, "read", EISDIR);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read '", path, "': not a regular file"));
  }
  if (info.st_size > kMaxFileBytes) return FileError(path, "read", EFBIG);
  std::string bytes;
  if (!HasMemoryFor([&] { bytes.reserve(info.st_size); })) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot read '", path,
                     "': ", NoMemoryText(static_cast<uint64_t>(info.st_size))));
  }
  if (int error = ReadAll(file.fd, kMaxFileBytes, &bytes); error != 0) {
    return FileError(path, "read", error);
  }
  return bytes;
}

absl::StatusOr<std::string> ReadStdin() {
  std::string bytes;
  if (int error = ReadAll(STDIN_FILENO, size_t{1} << 30, &bytes); error != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot read standard input: ",
        error == E2BIG ? "more than 1 GiB" : std::strerror(error)));
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
  // A link stays a link: what it points to is replaced.
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

absl::Status OutputFile::Commit(absl::string_view bytes) {
  const bool is_direct = direct_ >= 0;
  int error = WriteAll(is_direct ? direct_ : temporary_.fd(),
                       {bytes.data(), bytes.size()});
  if (is_direct) {
    if (close(std::exchange(direct_, -1)) != 0 && error == 0) error = errno;
  } else if (error == 0) {
    error = temporary_.Commit(target_);
  }
  return error == 0 ? absl::OkStatus() : FileError(path_, "write", error);
}

}  // namespace pathways::pw_run
