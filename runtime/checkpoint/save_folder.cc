//===- save_folder.cc - A folder that appears whole -----------------------===//
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

// Unfinished folders of one path that may be there at a time.
constexpr int kMaxUnfinished = 10000;
// In each of them.
constexpr char kLockName[] = "/.saving";

std::string UnfinishedName(const std::string& path, int number) {
  return absl::StrCat(path, ".saving", number);
}

// Removes an unfinished folder that nobody writes. Whether it was one.
bool RemoveAbandoned(const std::string& folder) {
  FileDescriptor lock(
      open(absl::StrCat(folder, kLockName).c_str(), O_RDONLY | O_CLOEXEC));
  if (lock.get() < 0 || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return false;
  // Who had it may have removed it since it was opened.
  struct stat info;
  if (fstat(lock.get(), &info) != 0 || info.st_nlink == 0) return false;
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return !error;
}

// Says that a folder is unfinished, in the file `*lock`. Unavailable: somebody
// took it for abandoned meanwhile.
absl::Status Mark(const std::string& folder, int* lock) {
  const std::string path = absl::StrCat(folder, kLockName);
  *lock = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (*lock < 0) return FileStatus("write", path, errno);
  // Where files cannot be locked, nobody takes it for abandoned.
  struct stat info;
  if ((flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
      fstat(*lock, &info) == 0 && info.st_nlink > 0) {
    return absl::OkStatus();
  }
  close(*lock);
  return absl::UnavailableError(path);
}

// Makes one beside `path`, and says where.
absl::Status MakeUnfinished(const std::string& path, std::string* at,
                            int* lock) {
  for (int number = 0; number < kMaxUnfinished; ++number) {
    *at = UnfinishedName(path, number);
    int error = mkdir(at->c_str(), 0777) == 0 ? 0 : errno;
    if (error == EEXIST && RemoveAbandoned(*at)) {
      error = mkdir(at->c_str(), 0777) == 0 ? 0 : errno;
    }
    if (error == EEXIST) continue;
    if (error != 0) return FileStatus("make", *at, error);
    absl::Status marked = Mark(*at, lock);
    if (absl::IsUnavailable(marked)) continue;
    if (!marked.ok()) rmdir(at->c_str());
    // Those that were written at the same time.
    while (marked.ok() && RemoveAbandoned(UnfinishedName(path, ++number))) {
    }
    return marked;
  }
  return FileStatus("make", *at, EEXIST);
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// OK: nothing is there, or an empty folder.
absl::Status CheckFree(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return FileStatus("write", path, errno);
    if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
    return absl::AlreadyExistsError(absl::StrCat(
        "cannot save to '", path, "': it is there, a link that leads nowhere",
        Tag(ErrorId::kSaveFolderTaken)));
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::AlreadyExistsError(
        absl::StrCat("cannot save to '", path, "': it is there, and no folder",
                     Tag(ErrorId::kSaveFolderTaken)));
  }
  DIR* const folder = opendir(path.c_str());
  if (folder == nullptr) return FileStatus("write", path, errno);
  std::string first;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (first.empty() || name < first) first = name;
  }
  closedir(folder);
  if (first.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("cannot save to '", path, "': it is not empty, there is '",
                   first, "'", Tag(ErrorId::kSaveFolderTaken)));
}

// Brings a file, or what a folder lists, to the disk.
absl::Status Sync(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Some file systems cannot do it with folders, and need not.
  if (file.get() < 0 || (fsync(file.get()) != 0 && errno != EINVAL)) {
    return FileStatus("write", path, errno);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SaveFolder>> SaveFolder::Create(
    const std::string& given) {
  if (given.empty()) {
    return absl::InvalidArgumentError("cannot save to '': it is no path");
  }
  std::string path = WithoutSlash(given);
  absl::Status is_free = CheckFree(path);
  if (!is_free.ok()) return is_free;
  // A link stays a link: what it leads to is replaced.
  if (char* resolved = realpath(path.c_str(), nullptr)) {
    path = resolved;
    std::free(resolved);
  }
  std::string at;
  int lock = -1;
  absl::Status made = MakeUnfinished(path, &at, &lock);
  if (!made.ok()) return made;
  return std::unique_ptr<SaveFolder>(
      new SaveFolder(std::move(path), std::move(at), lock));
}

SaveFolder::~SaveFolder() {
  Remove();
  close(lock_);
}

void SaveFolder::Remove() {
  if (at_.empty()) return;
  unlink(absl::StrCat(at_, kLockName).c_str());
  for (const std::string& file : files_) {
    unlink(absl::StrCat(at_, "/", file).c_str());
  }
  for (size_t i = folders_.size(); i-- > 0;) {
    rmdir(absl::StrCat(at_, "/", folders_[i]).c_str());
  }
  rmdir(at_.c_str());
}

absl::Status SaveFolder::AddFolder(const std::string& name) {
  const std::string path = absl::StrCat(at_, "/", name);
  if (mkdir(path.c_str(), 0777) != 0) return FileStatus("make", path, errno);
  folders_.push_back(name);
  return absl::OkStatus();
}

absl::Status SaveFolder::AddFile(
    const std::string& name, std::initializer_list<absl::string_view> parts) {
  const std::string path = absl::StrCat(at_, "/", name);
  FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return FileStatus("write", path, errno);
  files_.push_back(name);
  int error = 0;
  for (absl::string_view part : parts) {
    if (error == 0) error = WriteAll(file.get(), {part.data(), part.size()});
  }
  if (error == 0) error = file.Close();
  return error == 0 ? absl::OkStatus() : FileStatus("write", path, error);
}

absl::Status SaveFolder::Commit() {
  // Not each file when it is written: then each would wait for the disk.
  for (const std::vector<std::string>* names : {&files_, &folders_}) {
    for (const std::string& name : *names) {
      absl::Status synced = Sync(absl::StrCat(at_, "/", name));
      if (!synced.ok()) return synced;
    }
  }
  absl::Status synced = Sync(at_);
  if (!synced.ok()) return synced;
  if (rename(at_.c_str(), path_.c_str()) != 0) {
    return FileStatus("write", path_, errno);
  }
  at_ = path_;
  unlink(absl::StrCat(at_, kLockName).c_str());
  synced = Sync(ParentOf(path_));
  if (synced.ok()) at_.clear();
  return synced;
}

}  // namespace pathways
