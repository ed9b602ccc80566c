//===- temporary_file.h - Files written whole or not at all -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Content that must appear whole or not at all is written to a file of a random
// name in the same folder, which is then renamed.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_TEMPORARY_FILE_H_
#define RUNTIME_BASE_TEMPORARY_FILE_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

namespace pathways {

// Invariants: (1) the file exists and is open for writing from Create() until
// Commit() or the end of the object, whichever comes first; (2) afterwards
// nothing is left of it, even if writing failed. Objects may live on any
// threads, each on one thread at a time. A process that is killed leaves its
// files behind, unless RemoveTemporaryFilesOnSignals() was called and the
// signal can be caught.
class TemporaryFile {
 public:
  TemporaryFile() = default;  // no file
  TemporaryFile(TemporaryFile&& other) noexcept { *this = std::move(other); }
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  ~TemporaryFile();

  // Creates `prefix`RANDOM`suffix`, with the permissions `mode` less the umask.
  // Returns 0, or an errno if there is no file.
  int Create(const std::string& prefix, const std::string& suffix, mode_t mode);
  // Renames the file to `path`, and replaces any file of that name. Returns 0,
  // or an errno if it failed; the file is then removed.
  int Commit(const std::string& path);

  bool exists() const { return slot_ != nullptr; }
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  void Remove();

  std::string path_;
  int fd_ = -1;
  void* slot_ = nullptr;  // entry in which a signal handler finds the path
};

// Writes all of `bytes` to `fd`. Returns 0 or an errno.
int WriteAll(int fd, std::string_view bytes);

// Makes the signals that end the process remove its temporary files first; the
// process then ends by the same signal. Signals that are ignored or handled at
// the time of the call are left alone. Only programs should call this, since a
// library must not choose signal handlers. Call it before threads start.
void RemoveTemporaryFilesOnSignals();

}  // namespace pathways

#endif  // RUNTIME_BASE_TEMPORARY_FILE_H_
