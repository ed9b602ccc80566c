//===- file_status.cc - Statuses of file operations -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/file_status.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case EFBIG:
    case EDQUOT:
      return absl::StatusCode::kResourceExhausted;
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case ENOTEMPTY:
      return absl::StatusCode::kAlreadyExists;
    case EIO:
      return absl::StatusCode::kDataLoss;
    default:
      return absl::ErrnoToStatusCode(error);
  }
}

}  // namespace

absl::Status FileStatus(absl::string_view what, const std::string& path,
                        int error) {
  return absl::Status(CodeOf(error), absl::StrCat("cannot ", what, " '", path,
                                                  "': ", std::strerror(error)));
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

int FileDescriptor::Close() {
  return close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
}

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

int OpenToRead(const std::string& path) {
  // O_NONBLOCK keeps the open of a pipe without a writer from blocking.
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

}  // namespace pathways
