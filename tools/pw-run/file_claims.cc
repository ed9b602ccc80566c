//===- file_claims.cc - Files that a run reads and writes -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/file_claims.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways::pw_run {

bool FileClaims::Identify(const std::string& path, Claim* claim) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISCHR(info.st_mode)) return false;
  } else {
    const size_t slash = path.rfind('/');
    claim->name = slash == std::string::npos ? path : path.substr(slash + 1);
    const std::string folder =
        slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (stat(folder.c_str(), &info) != 0) {
      // The folder does not exist yet, so the path alone identifies the file.
      std::error_code error;
      const auto absolute = std::filesystem::absolute(path, error);
      claim->name = absolute.lexically_normal().string();
      return !error;
    }
  }
  claim->device = info.st_dev;
  claim->inode = info.st_ino;
  return true;
}

void FileClaims::AddInput(const std::string& what, const std::string& path) {
  Claim claim{what, path, /*is_output=*/false, 0, 0, ""};
  if (Identify(path, &claim)) claims_.push_back(std::move(claim));
}

void FileClaims::AddStream(const std::string& what, int fd, bool is_output) {
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
  claims_.push_back({what, "", is_output, info.st_dev, info.st_ino, ""});
}

void FileClaims::AddInput(const std::string& what, int fd) {
  AddStream(what, fd, /*is_output=*/false);
}

void FileClaims::AddOutput(const std::string& what, int fd) {
  AddStream(what, fd, /*is_output=*/true);
}

absl::Status FileClaims::AddOutput(const std::string& what,
                                   const std::string& path) {
  Claim claim{what, path, /*is_output=*/true, 0, 0, ""};
  if (!Identify(path, &claim)) return absl::OkStatus();
  for (const Claim& other : claims_) {
    if (std::tie(other.device, other.inode, other.name) !=
        std::tie(claim.device, claim.inode, claim.name)) {
      continue;
    }
    const std::string alias = other.path.empty() || other.path == path
                                  ? ""
                                  : absl::StrCat(", as '", other.path, "'");
    if (other.is_output) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path, "' would be written twice: by ", what,
                       " and by ", other.what, alias));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' would be written by ", what,
                     ", but is read as ", other.what, alias));
  }
  claims_.push_back(std::move(claim));
  return absl::OkStatus();
}

}  // namespace pathways::pw_run
