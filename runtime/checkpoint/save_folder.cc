//===- save_folder.cc - Atomically saved folder ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/save_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/temporary_file.h"
#include "runtime/checkpoint/file_status.h"

namespace pathways {
namespace {

// Largest number of unfinished folders of one path at a time.
constexpr int kMaxUnfinished = 10000;
// Attempts at creating the folder while other saves remove its parents.
constexpr int kMaxAttempts = 10;
// File in each unfinished folder that marks it.
constexpr char kLockName[] = "/.saving";

std::string UnfinishedName(const std::string& path, int number) {
  return absl::StrCat(path, ".saving", number);
}

// Marks a folder as unfinished with the file whose descriptor goes to `*lock`.
// Returns Unavailable if another save took the folder for abandoned meanwhile.
absl::Status Mark(const std::string& folder, const std::string& given,
                  int* lock) {
  const std::string path = absl::StrCat(folder, kLockName);
  *lock = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (*lock < 0) return FileStatus("save to", given, errno);
  // If the file system cannot lock files, no save treats the folder as
  // abandoned.
  struct stat info;
  if ((flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
      fstat(*lock, &info) == 0 && info.st_nlink > 0) {
    return absl::OkStatus();
  }
  close(*lock);
  return absl::UnavailableError(path);
}

// Creates an unfinished folder beside `path` and stores its path in `*at`.
absl::Status MakeUnfinished(const std::string& path, const std::string& given,
                            std::string* at, int* lock) {
  for (int number = 0; number < kMaxUnfinished; ++number) {
    *at = UnfinishedName(path, number);
    int error = mkdir(at->c_str(), 0777) == 0 ? 0 : errno;
    if (error == EEXIST && RemoveAbandonedSave(*at)) {
      error = mkdir(at->c_str(), 0777) == 0 ? 0 : errno;
    }
    if (error == EEXIST) continue;
    if (error != 0) return FileStatus("save to", given, error);
    absl::Status marked = Mark(*at, given, lock);
    if (absl::IsUnavailable(marked)) continue;
    if (!marked.ok()) rmdir(at->c_str());
    // Abandoned folders of concurrent saves have the following numbers.
    while (marked.ok() && RemoveAbandonedSave(UnfinishedName(path, ++number))) {
    }
    return marked;
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "cannot save to '", given, "': it already has ", kMaxUnfinished,
      " unfinished saves, the last in '", *at, "'"));
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Returns OK if nothing or an empty folder is at `path`.
absl::Status CheckFree(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return FileStatus("save to", path, errno);
    if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
    return absl::AlreadyExistsError(absl::StrCat(
        "cannot save to '", path, "': it is a symbolic link without a target",
        Tag(ErrorId::kSaveFolderTaken)));
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::AlreadyExistsError(absl::StrCat(
        "cannot save to '", path, "': it exists and is not a folder",
        Tag(ErrorId::kSaveFolderTaken)));
  }
  DIR* const folder = opendir(path.c_str());
  if (folder == nullptr) return FileStatus("save to", path, errno);
  std::string first;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (first.empty() || name < first) first = name;
  }
  closedir(folder);
  if (first.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      "cannot save to '", path, "': the folder is not empty, it contains '",
      first, "'", Tag(ErrorId::kSaveFolderTaken)));
}

// Flushes a file, or the list of a folder's entries, to the disk. `given`: the
// path for messages.
absl::Status Sync(const std::string& path, const std::string& given) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Some file systems cannot flush folders, and need not.
  if (file.get() < 0 || (fsync(file.get()) != 0 && errno != EINVAL)) {
    return FileStatus("write", given, errno);
  }
  return absl::OkStatus();
}

}  // namespace

bool RemoveAbandonedSave(const std::string& folder) {
  FileDescriptor lock(
      open(absl::StrCat(folder, kLockName).c_str(), O_RDONLY | O_CLOEXEC));
  if (lock.get() < 0 || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return false;
  // The previous holder of the lock may have removed the file since it was
  // opened.
  struct stat info;
  if (fstat(lock.get(), &info) != 0 || info.st_nlink == 0) return false;
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return !error;
}

absl::StatusOr<std::unique_ptr<SaveFolder>> SaveFolder::Create(
    const std::string& given) {
  if (given.empty()) {
    return absl::InvalidArgumentError("cannot save to '': the path is empty");
  }
  std::unique_ptr<SaveFolder> folder(new SaveFolder(WithoutSlash(given)));
  absl::Status made = folder->Make();
  if (!made.ok()) return made;
  return folder;
}

absl::Status SaveFolder::Make() {
  path_ = given_;
  absl::Status status = CheckFree(path_);
  if (!status.ok()) return status;
  // A symbolic link stays; its target is replaced.
  if (char* resolved = realpath(path_.c_str(), nullptr)) {
    path_ = resolved;
    std::free(resolved);
  }
  std::string at;
  // A concurrent save that created the same parents may remove them when it
  // ends.
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    status = MakeParents();
    if (status.ok()) status = MakeUnfinished(path_, given_, &at, &lock_);
    if (!absl::IsNotFound(status)) break;
  }
  if (status.ok()) at_ = std::move(at);
  return status;
}

absl::Status SaveFolder::MakeParents() {
  std::vector<std::string> missing;  // the innermost first
  struct stat info;
  for (std::string folder = ParentOf(path_);
       stat(folder.c_str(), &info) != 0 && errno == ENOENT;
       folder = ParentOf(folder)) {
    missing.push_back(folder);
    // the working directory was removed
    if (folder == "." || folder == "/") break;
  }
  while (!missing.empty()) {
    // Another process may have created it meanwhile.
    if (mkdir(missing.back().c_str(), 0777) == 0) {
      parents_.push_back(missing.back());
    } else if (errno != EEXIST) {
      return FileStatus("save to", given_, errno);
    }
    missing.pop_back();
  }
  return absl::OkStatus();
}

SaveFolder::~SaveFolder() {
  Remove();
  if (lock_ >= 0) close(lock_);
}

std::string SaveFolder::Given(const std::string& name) const {
  return absl::StrCat(given_, "/", name);
}

void SaveFolder::Remove() {
  if (!at_.empty()) {
    unlink(absl::StrCat(at_, kLockName).c_str());
    for (const std::string& file : files_) {
      unlink(absl::StrCat(at_, "/", file).c_str());
    }
    for (size_t i = folders_.size(); i-- > 0;) {
      rmdir(absl::StrCat(at_, "/", folders_[i]).c_str());
    }
    rmdir(at_.c_str());
  }
  // Parents that now have other entries stay.
  for (size_t i = parents_.size(); i-- > 0;) rmdir(parents_[i].c_str());
}

absl::Status SaveFolder::AddFolder(const std::string& name) {
  const std::string path = absl::StrCat(at_, "/", name);
  if (mkdir(path.c_str(), 0777) != 0) {
    return FileStatus("make", Given(name), errno);
  }
  folders_.push_back(name);
  return absl::OkStatus();
}

absl::Status SaveFolder::AddFile(
    const std::string& name, std::initializer_list<absl::string_view> parts) {
  const std::string path = absl::StrCat(at_, "/", name);
  FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return FileStatus("write", Given(name), errno);
  files_.push_back(name);
  int error = 0;
  for (absl::string_view part : parts) {
    if (error == 0) error = WriteAll(file.get(), {part.data(), part.size()});
  }
  if (error == 0) error = file.Close();
  return error == 0 ? absl::OkStatus()
                    : FileStatus("write", Given(name), error);
}

absl::Status SaveFolder::Commit() {
  // Flushing each file when it is written would make each write wait for the
  // disk.
  for (const std::vector<std::string>* names : {&files_, &folders_}) {
    for (const std::string& name : *names) {
      absl::Status synced = Sync(absl::StrCat(at_, "/", name), Given(name));
      if (!synced.ok()) return synced;
    }
  }
  absl::Status synced = Sync(at_, given_);
  if (!synced.ok()) return synced;
  if (rename(at_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    // Another save was faster, or another program created something there.
    absl::Status is_free = CheckFree(given_);
    return is_free.ok() ? FileStatus("save to", given_, error) : is_free;
  }
  at_ = path_;
  unlink(absl::StrCat(at_, kLockName).c_str());
  synced = Sync(ParentOf(path_), given_);
  for (const std::string& parent : parents_) {
    if (synced.ok()) synced = Sync(ParentOf(parent), given_);
  }
  if (!synced.ok()) return synced;
  at_.clear();
  parents_.clear();
  return synced;
}

}  // namespace pathways
