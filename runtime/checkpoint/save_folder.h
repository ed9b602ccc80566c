//===- save_folder.h - A folder that appears whole --------------*- C++ -*-===//
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

// A new folder, written beside where it will be, as "PATH.saving0" or the next
// number that is free. Invariants: (1) PATH is as it was until Commit(), and
// has everything from then on, on the disk; (2) without Commit(), or when that
// failed, the end of the object leaves nothing; (3) what a process that was
// killed has left of PATH goes with the next Create(), and nothing else does: a
// file ".saving" says that a folder is unfinished, and is locked by who writes
// it. One owner calls it.
class SaveFolder {
 public:
  // Proves that it can be made, and makes the folders that it is to be in,
  // which go with it unless it is committed. Messages name `path`.
  // AlreadyExists: there is something at `path` other than an empty folder;
  // NotFound: what it is to be in is no folder; InvalidArgument: no path; or as
  // FileStatus.
  static absl::StatusOr<std::unique_ptr<SaveFolder>> Create(
      const std::string& path);
  ~SaveFolder();
  SaveFolder(const SaveFolder&) = delete;
  SaveFolder& operator=(const SaveFolder&) = delete;

  // Makes a folder in it. Errors as FileStatus.
  absl::Status AddFolder(const std::string& name);
  // Writes a new file, `parts` one behind the other. Errors as FileStatus; part
  // of it may be there until the end of the object.
  absl::Status AddFile(const std::string& name,
                       std::initializer_list<absl::string_view> parts);
  // Waits until all is on the disk, then gives the folder its place.
  // AlreadyExists: something has come there since; or as FileStatus. The object
  // is of no more use then.
  absl::Status Commit();

  // Where it will be, without a slash at the end.
  const std::string& path() const { return path_; }

 private:
  explicit SaveFolder(std::string given) : given_(std::move(given)) {}
  absl::Status Make();
  // The folders that path_ is to be in, as far as there are none.
  absl::Status MakeParents();
  void Remove();
  // `name` in the folder, as the caller would call it.
  std::string Given(const std::string& name) const;

  const std::string given_;  // by the caller
  std::string path_;
  std::string at_;  // where it is; empty: it is committed
  int lock_ = -1;   // descriptor of the file that says that it is unfinished
  std::vector<std::string> parents_;  // that were made, the outermost first
  // In it, as they were made.
  std::vector<std::string> folders_, files_;
};

// Removes the folder of a save that its process left unfinished: it was killed.
// False: it is none, or it is written, or cannot be removed.
bool RemoveAbandonedSave(const std::string& folder);

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_SAVE_FOLDER_H_
