//===- run_files.h - Files that a run reads and writes ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_RUN_FILES_H_
#define TOOLS_PW_RUN_RUN_FILES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/pw-run/files.h"
#include "tools/pw-run/options.h"

namespace pathways::pw_run {

// Files that options have a run write. One that is printed or not wanted is not
// opened.
struct RunFiles {
  OutputFile plan, plan_text, graph, stats, trace, profile;
  std::vector<OutputFile> outputs;  // order of Options::outputs
  OutputFile output_archive;
};

// Opens all files to write, before anything is computed. Makes the folders of
// Options::saves and removes them again. Returns InvalidArgument, with the
// option, if a file is also read, is written twice, or cannot be written;
// otherwise errors of SaveFolder::Create.
absl::StatusOr<RunFiles> OpenRunFiles(const Options& options);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_RUN_FILES_H_
