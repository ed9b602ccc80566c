//===- temporary_file.h - Files that nobody is to find ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is to appear whole or not at all is written to a file of a random name
// beside it, which then takes its name.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_TEMPORARY_FILE_H_
#define RUNTIME_BASE_TEMPORARY_FILE_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

namespace pathways {

// Invariants: (1) the file is there, open for writing, from Create() until
// Commit() or the end of the object, whichever is first; (2) after that nothing
// is left of it, also when writing failed. Objects may live on any threads,
// each on one at a time. A process that is killed leaves its files behind,
// unless RemoveTemporaryFilesOnSignals() was called and the signal can be
// caught.
class TemporaryFile {
 public:
  TemporaryFile() = default;  // no file
  TemporaryFile(TemporaryFile&& other) noexcept { *this = std::move(other); }
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  ~TemporaryFile();

  // Makes `prefix`RANDOM`suffix`, with the permissions `mode` less the umask.
  // Returns 0 or an errno, and then there is no file.
  int Create(const std::string& prefix, const std::string& suffix, mode_t mode);
  // Gives the file the name `path`, in place of what has it now. Returns 0 or
  // an errno, and then the file is gone.
  int Commit(const std::string& path);

  bool exists() const { return slot_ != nullptr; }
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  void Remove();

  std::string path_;
  int fd_ = -1;
  void* slot_ = nullptr;  // where a signal handler finds the path
};

// Writes all of `bytes` to `fd`. Returns 0 or an errno.
int WriteAll(int fd, std::string_view bytes);

// Lets signals that end the process remove its temporary files first; it ends
// by the same signal. Signals that are ignored or handled when this is called
// are left alone. For programs: how signals are handled is not a library's
// business. Call it before there are threads.
void RemoveTemporaryFilesOnSignals();

}  // namespace pathways

#endif  // RUNTIME_BASE_TEMPORARY_FILE_H_
