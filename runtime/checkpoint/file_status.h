//===- file_status.h - Statuses of file operations --------------*- C++ -*-===//
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

// Returns the status of an errno: "cannot `what` 'PATH': No such file or
// directory". The code is NotFound, AlreadyExists, PermissionDenied (also for a
// read-only disk), ResourceExhausted (the disk is full, or a quota or limit is
// reached), DataLoss (the disk cannot read the data), or what else the errno
// means.
absl::Status FileStatus(absl::string_view what, const std::string& path,
                        int error);

// Owns a descriptor and closes it when destroyed.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  // Closes the descriptor early. Returns 0 or an errno. Call it once.
  int Close();

 private:
  int fd_;
};

// Returns `path` without slashes at the end; "/" stays.
std::string WithoutSlash(std::string path);

// Opens a file for reading, which should be a regular one. Never blocks,
// whatever the file is. Returns -1 and sets errno on failure.
int OpenToRead(const std::string& path);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_FILE_STATUS_H_
