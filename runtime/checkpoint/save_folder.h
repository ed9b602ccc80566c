//===- save_folder.h - Atomically saved folder ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_SAVE_FOLDER_H_
#define RUNTIME_CHECKPOINT_SAVE_FOLDER_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pathways {

// A new folder that is written beside its final PATH, as "PATH.saving0" or the
// next free number. Invariants: (1) PATH does not change before Commit(), and
// after it has everything, on the disk; (2) if Commit() was not called or
// failed, the destructor removes everything; (3) the next Create() for PATH
// removes the unfinished folders of killed processes, and nothing else: a file
// ".saving" marks a folder as unfinished, and its writer holds a lock on it.
// One owner calls it.
class SaveFolder {
 public:
  // Creates the unfinished folder, which proves that it can be written, and the
  // missing parents of `path`; the parents go with it unless it is committed.
  // Messages name `path`. Returns AlreadyExists if `path` is anything but an
  // empty folder, NotFound if its parent is no folder, and InvalidArgument if
  // `path` is empty. Other errors as for FileStatus.
  static absl::StatusOr<std::unique_ptr<SaveFolder>> Create(
      const std::string& path);
  ~SaveFolder();
  SaveFolder(const SaveFolder&) = delete;
  SaveFolder& operator=(const SaveFolder&) = delete;

  // Creates a subfolder. Errors as for FileStatus.
  absl::Status AddFolder(const std::string& name);
  // Writes a new file with the concatenation of `parts`. Errors as for
  // FileStatus; part of the file may then exist until the object is destroyed.
  absl::Status AddFile(const std::string& name,
                       std::initializer_list<absl::string_view> parts);
  // Waits until everything is on the disk, then renames the folder to its path.
  // Returns AlreadyExists if something was created there meanwhile. Other
  // errors as for FileStatus. Only path() may be used afterwards.
  absl::Status Commit();

  // Returns the final path, without a slash at the end.
  const std::string& path() const { return path_; }

 private:
  explicit SaveFolder(std::string given) : given_(std::move(given)) {}
  absl::Status Make();
  // Creates the missing parents of path_.
  absl::Status MakeParents();
  void Remove();
  // Returns the path of `name` in the folder as the caller would write it.
  std::string Given(const std::string& name) const;

  const std::string given_;  // path from the caller
  std::string path_;
  // Current path of the folder; empty after Commit().
  std::string at_;
  int lock_ = -1;  // descriptor of the file that marks the folder
  // Parents that this object created, the outermost first.
  std::vector<std::string> parents_;
  // Subfolders and files that this object created, in order.
  std::vector<std::string> folders_, files_;
};

// Removes an unfinished folder whose process was killed. Returns false if
// `folder` is not an unfinished one, if it is still being written, or if it
// cannot be removed.
bool RemoveAbandonedSave(const std::string& folder);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_SAVE_FOLDER_H_
