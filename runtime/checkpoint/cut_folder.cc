//===- cut_folder.cc - Where a run's cuts are -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/cut_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/checkpoint/file_status.h"

namespace pathways {
namespace {

constexpr char kPrefix[] = "cut-";

// A fingerprint as messages name it.
std::string Named(const std::string& program, const std::string& fingerprint) {
  return absl::StrCat("program '", program, "' (",
                      fingerprint.empty() ? "no fingerprint" : fingerprint,
                      ")");
}

}  // namespace

std::string CutPath(const std::string& folder, int64_t steps) {
  return absl::StrCat(WithoutSlash(folder), "/", kPrefix, steps);
}

absl::StatusOr<std::string> OpenCutFolder(const std::string& given) {
  const std::string folder = WithoutSlash(given);
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    return FileStatus("make", folder, errno);
  }
  std::error_code error;
  int64_t last = -1;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int64_t steps = 0;
    // Not one that is still being saved.
    if (absl::StartsWith(name, kPrefix) &&
        absl::SimpleAtoi(name.substr(sizeof(kPrefix) - 1), &steps) &&
        name == absl::StrCat(kPrefix, steps)) {
      last = std::max(last, steps);
    }
  }
  if (error) return FileStatus("read", folder, error.value());
  return last < 0 ? std::string() : CutPath(folder, last);
}

absl::StatusOr<CutFacts> ReadCut(const std::string& path,
                                 const std::string& program,
                                 const std::string& fingerprint,
                                 int64_t first_step) {
  const absl::StatusOr<std::string> text = ReadIndexText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<CutFacts> facts = ParseCut(*text);
  if (!facts.ok()) return InIndex(path, facts.status());
  if (facts->program == program && facts->fingerprint == fingerprint) {
    if (facts->first_step == first_step) return facts;
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' is a cut of a run that begins at step ",
                     facts->first_step, ", not at step ", first_step,
                     Tag(ErrorId::kCutOfAnother)));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", path, "' is a cut of ", Named(facts->program, facts->fingerprint),
      ", not of ", Named(program, fingerprint), Tag(ErrorId::kCutOfAnother)));
}

void RemoveCut(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace pathways
