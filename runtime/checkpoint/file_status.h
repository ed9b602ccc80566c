//===- file_status.h - What went wrong with a file --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_FILE_STATUS_H_
#define RUNTIME_CHECKPOINT_FILE_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace pathways {

// Of an errno: "cannot `what` 'PATH': No such file or directory". NotFound,
// AlreadyExists, PermissionDenied (also of a disk that is only read),
// ResourceExhausted (the disk is full, a quota or a limit is reached), DataLoss
// (the disk cannot read it), or what else the errno means.
absl::Status FileStatus(absl::string_view what, const std::string& path,
                        int error);

// Closes on every way out.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  // Returns 0 or an errno; once.
  int Close();

 private:
  int fd_;
};

// A path that does not end in slashes, but for "/" itself.
std::string WithoutSlash(std::string path);

// Opens what should be a regular file, to be read; never waits, whatever it is.
// Returns -1 and sets errno on failure.
int OpenToRead(const std::string& path);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_FILE_STATUS_H_
