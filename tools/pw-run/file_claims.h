//===- file_claims.h - Which files a run reads and writes -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps a run from writing over what it reads and from writing one file twice,
// whatever the files are called: links and "./" lead to one file by many names.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_FILE_CLAIMS_H_
#define TOOLS_PW_RUN_FILE_CLAIMS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace pathways::pw_run {

// All files of one run. A file that is there is known by its device and inode,
// one that is to be made by those of its folder and its name, or, where there
// is no such folder either, by its path. What cannot be looked at is left to
// whoever opens it. Character devices, such as /dev/null, may be written by
// anybody.
class FileClaims {
 public:
  // `what` is for messages: "the program", "--trace", "standard output".
  void AddInput(const std::string& what, const std::string& path);
  // What standard input, output or error was redirected to, if that is a file.
  void AddInput(const std::string& what, int fd);
  void AddOutput(const std::string& what, int fd);
  // InvalidArgument: the file is read, or written by somebody else.
  absl::Status AddOutput(const std::string& what, const std::string& path);

 private:
  struct Claim {
    std::string what;
    std::string path;  // as given; empty: a stream
    bool is_output;
    dev_t device;
    ino_t inode;
    std::string name;  // in the folder `inode`; empty: `inode` is the file
  };

  static bool Identify(const std::string& path, Claim* claim);
  void AddStream(const std::string& what, int fd, bool is_output);

  std::vector<Claim> claims_;
};

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_FILE_CLAIMS_H_
