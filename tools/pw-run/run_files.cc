//===- run_files.cc - Files that a run reads and writes -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/run_files.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/file_status.h"
#include "runtime/checkpoint/save_folder.h"
#include "runtime/faults/fault_schedule.h"
#include "runtime/topology/topology.h"
#include "tools/pw-run/file_claims.h"

namespace pathways::pw_run {
namespace {

FileClaims ClaimInputs(const Options& options) {
  FileClaims claims;
  if (options.file == "-") {
    claims.AddInput("standard input", STDIN_FILENO);
  } else {
    claims.AddInput("the program", options.file);
  }
  const std::string topology = TopologyPath(options.topology);
  if (!topology.empty()) claims.AddInput("--topology", topology);
  const std::string faults = FaultsPath(options.run.faults);
  if (!faults.empty()) claims.AddInput("--faults", faults);
  if (!options.profile.empty()) claims.AddInput("--profile", options.profile);
  for (auto [option, specs] :
       {std::make_pair("--input=", &options.inputs),
        std::make_pair("--expected=", &options.expected)}) {
    for (const NamedSpec& input : *specs) {
      const bool is_folder = IsFolderSpec(input.spec);
      if (!is_folder && input.spec[0] != '@') continue;
      claims.AddInput(
          absl::StrCat(option, input.name),
          is_folder ? WithoutSlash(input.spec) : input.spec.substr(1));
    }
  }
  for (auto [option, paths] :
       {std::make_pair("--input=@", &options.input_archives),
        std::make_pair("--expected=@", &options.expected_archives)}) {
    for (const std::string& path : *paths) {
      claims.AddInput(absl::StrCat(option, path), path);
    }
  }
  claims.AddOutput("standard output", STDOUT_FILENO);
  claims.AddOutput("standard error", STDERR_FILENO);
  return claims;
}

// Opens the file of an option; "-" and "" need none.
absl::Status Open(const std::string& option, const std::string& path,
                  FileClaims* claims, OutputFile* file) {
  if (path.empty() || path == "-") return absl::OkStatus();
  absl::Status claimed = claims->AddOutput(option, path);
  if (!claimed.ok()) return claimed;
  absl::StatusOr<OutputFile> opened = OutputFile::Open(path);
  if (!opened.ok()) return opened.status();
  *file = *std::move(opened);
  return absl::OkStatus();
}

// Makes each folder and removes it again: it is made anew when there is
// something to save, so a run that ends early leaves nothing.
absl::Status TrySaves(const Options& options, FileClaims* claims) {
  for (const NamedSpec& save : options.saves) {
    absl::Status claimed = claims->AddOutput(absl::StrCat("--save=", save.name),
                                             WithoutSlash(save.spec));
    if (!claimed.ok()) return claimed;
    absl::Status made = SaveFolder::Create(save.spec).status();
    if (!made.ok()) return made;
  }
  return absl::OkStatus();
}

// Returns the path of "@file"; empty for other values of an option that may
// print.
std::string PathOf(const std::string& spec) {
  return spec[0] == '@' ? spec.substr(1) : "";
}

}  // namespace

absl::StatusOr<RunFiles> OpenRunFiles(const Options& options) {
  FileClaims claims = ClaimInputs(options);
  RunFiles files;
  files.outputs.resize(options.outputs.size());
  absl::Status status =
      Open("--stats", PathOf(options.stats), &claims, &files.stats);
  for (size_t i = 0; i < options.outputs.size() && status.ok(); ++i) {
    const NamedSpec& output = options.outputs[i];
    status = Open(absl::StrCat("--output=", output.name), PathOf(output.spec),
                  &claims, &files.outputs[i]);
  }
  if (status.ok()) {
    status = Open(absl::StrCat("--output=@", options.output_archive),
                  options.output_archive, &claims, &files.output_archive);
  }
  if (status.ok()) status = TrySaves(options, &claims);
  const struct {
    const char* option;
    const std::string& path;
    OutputFile* file;
  } others[] = {{"--emit-plan", options.emit_plan, &files.plan},
                {"--emit-plan-text", options.emit_plan_text, &files.plan_text},
                {"--trace", options.trace, &files.trace},
                {"--profile-out", options.profile_out, &files.profile},
                {"--dump-graph", options.dump_graph, &files.graph}};
  for (const auto& other : others) {
    if (!status.ok()) break;
    status = Open(other.option, other.path, &claims, other.file);
  }
  if (!status.ok()) return status;
  return files;
}

}  // namespace pathways::pw_run
