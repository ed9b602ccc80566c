//===- socket_folder.h - A place for sockets of tests -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_TRANSPORT_SOCKET_FOLDER_H_
#define UNITTESTS_RUNTIME_TRANSPORT_SOCKET_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pathways {

// A folder of its own, gone with what is in it. Its name is short, as those of
// sockets must be.
class SocketFolder {
 public:
  SocketFolder() {
    char name[] = "/tmp/pathways-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~SocketFolder() { std::filesystem::remove_all(path_); }

  // A key that all may use who may read the folder's files.
  std::string NewKey(const std::string& name, char digit = '1') const {
    const std::string file = path(name);
    std::ofstream(file) << std::string(64, digit) << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    return file;
  }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string address(const std::string& name) const {
    return "unix:" + path(name);
  }

 private:
  std::string path_;
};

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_TRANSPORT_SOCKET_FOLDER_H_
