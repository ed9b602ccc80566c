//===- file_claims.h - Files that a run reads and writes --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prevents a run from overwriting a file that it reads, and from writing one
// file twice, even under different names: links and "./" give one file many
// names.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_FILE_CLAIMS_H_
#define TOOLS_PW_RUN_FILE_CLAIMS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace pathways::pw_run {

// All files of one run. An existing file is identified by its device and inode;
// a new one by those of its folder and by its name, or by its path if that
// folder does not exist either. A file that cannot be examined is left to the
// code that opens it. Character devices, such as /dev/null, may be written any
// number of times.
class FileClaims {
 public:
  // `what` names the file in messages: "the program", "--trace", "standard
  // output".
  void AddInput(const std::string& what, const std::string& path);
  // Both claim the file to which standard input, output or error was
  // redirected, if any.
  void AddInput(const std::string& what, int fd);
  void AddOutput(const std::string& what, int fd);
  // Returns InvalidArgument if the file is read, or written for another option.
  absl::Status AddOutput(const std::string& what, const std::string& path);

 private:
  struct Claim {
    std::string what;
    std::string path;  // given path; empty: a stream
    bool is_output;
    dev_t device;
    ino_t inode;
    std::string name;  // name in folder `inode`; empty: `inode` is the file
  };

  static bool Identify(const std::string& path, Claim* claim);
  void AddStream(const std::string& what, int fd, bool is_output);

  std::vector<Claim> claims_;
};

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_FILE_CLAIMS_H_
