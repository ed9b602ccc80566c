//===- files.h - Files read and written by the tool -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads whole regular files. Opens files to write before any work is done, so
// that they are known to be writable.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_FILES_H_
#define TOOLS_PW_RUN_FILES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/temporary_file.h"

namespace pathways::pw_run {

// Largest file that is read, in bytes.
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 36;

// Returns the bytes of a regular file; never blocks on anything else. Returns
// InvalidArgument, with the path and the reason, if the file does not exist, is
// not readable or is not a regular file; ResourceExhausted, with the bytes, if
// there is no memory for them.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Does what ReadWholeFile does, but also reads a pipe, a terminal or another
// stream to its end, and blocks until that comes. Also returns InvalidArgument
// if a stream has more than `most_bytes`, or if no process opens a named pipe
// for writing within `patience`.
absl::StatusOr<std::string> ReadFileOrStream(
    const std::string& path, uint64_t most_bytes,
    absl::Duration patience = absl::Minutes(1));

// Returns all of standard input, up to 1 GiB.
absl::StatusOr<std::string> ReadStdin();

// A file to be written later, as a whole. Open() proves that it can be written,
// by creating a temporary file in the same folder; Commit() writes that and
// renames it, so readers see the old file or the new one; links stay. An object
// that is destroyed without Commit() leaves nothing. An existing path that is
// no regular file (/dev/null, a pipe) is written directly.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  // Returns InvalidArgument, with the path and the reason.
  static absl::StatusOr<OutputFile> Open(const std::string& path);
  absl::Status Commit(absl::string_view bytes);
  // Writes a file in parts: appends bytes to what Commit() will write.
  absl::Status Append(absl::string_view bytes);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string target_;  // file that path_ leads to
  TemporaryFile temporary_;
  int direct_ = -1;  // descriptor to write without a temporary file; -1: none
};

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_FILES_H_
