//===- checkpoint_folder.cc - Folder of a run's checkpoints ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/base/error_codes.h"
#include "runtime/checkpoint/file_status.h"
#include "runtime/checkpoint/save_folder.h"

namespace pathways {
namespace {

constexpr char kPrefix[] = "checkpoint-";

// Returns the program and the fingerprint as messages name them.
std::string Named(const std::string& program, const std::string& fingerprint) {
  return absl::StrCat("program '", program, "' (",
                      fingerprint.empty() ? "no fingerprint" : fingerprint,
                      ")");
}

// Returns the names of the entries that are checkpoints, finished or not, and
// the number of steps of each.
std::vector<std::pair<std::string, int64_t>> CheckpointsIn(
    const std::string& folder, std::error_code* error) {
  std::vector<std::pair<std::string, int64_t>> checkpoints;
  std::filesystem::directory_iterator entry(folder, *error);
  for (; !*error && entry != std::filesystem::directory_iterator();
       entry.increment(*error)) {
    const std::string name = entry->path().filename().string();
    absl::string_view number = name;
    int64_t steps = 0;
    if (absl::ConsumePrefix(&number, kPrefix) &&
        absl::SimpleAtoi(number.substr(0, number.find('.')), &steps)) {
      checkpoints.emplace_back(name, steps);
    }
  }
  return checkpoints;
}

}  // namespace

std::string CheckpointPath(const std::string& folder, int64_t steps) {
  return absl::StrCat(WithoutSlash(folder), "/", kPrefix, steps);
}

absl::StatusOr<std::string> OpenCheckpointFolder(const std::string& given) {
  const std::string folder = WithoutSlash(given);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FileStatus("make", folder, error.value());
  int64_t last = -1;
  for (const auto& [name, steps] : CheckpointsIn(folder, &error)) {
    // Unfinished checkpoints have a longer name and do not count.
    if (name == absl::StrCat(kPrefix, steps)) last = std::max(last, steps);
  }
  if (error) return FileStatus("read", folder, error.value());
  return last < 0 ? std::string() : CheckpointPath(folder, last);
}

absl::StatusOr<CheckpointFacts> ReadCheckpoint(const std::string& path,
                                               const std::string& program,
                                               const std::string& fingerprint,
                                               int64_t first_step) {
  const absl::StatusOr<std::string> text = ReadIndexText(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<CheckpointFacts> facts = ParseCheckpoint(*text);
  if (!facts.ok()) return InIndex(path, facts.status());
  if (facts->program == program && facts->fingerprint == fingerprint) {
    if (facts->first_step == first_step) return facts;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", path, "' is a checkpoint of a run that begins at step ",
        facts->first_step, ", expected a run that begins at step ", first_step,
        Tag(ErrorId::kCheckpointOfAnotherRun)));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", path, "' is a checkpoint of ",
      Named(facts->program, facts->fingerprint), ", expected a checkpoint of ",
      Named(program, fingerprint), Tag(ErrorId::kCheckpointOfAnotherRun)));
}

void RemoveCheckpointsBefore(const std::string& given, int64_t steps) {
  const std::string folder = WithoutSlash(given);
  std::error_code ignored;
  for (const auto& [name, after] : CheckpointsIn(folder, &ignored)) {
    const std::string path = absl::StrCat(folder, "/", name);
    if (after >= steps) continue;
    if (name == absl::StrCat(kPrefix, after)) {
      std::filesystem::remove_all(path, ignored);
    } else {
      RemoveAbandonedSave(path);
    }
  }
}

}  // namespace pathways
