//===- run_files.h - The files that a run reads and writes ------*- C++ -*-===//
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

// What options have a run write; not opened: it is printed, or not wanted.
struct RunFiles {
  OutputFile plan, plan_text, graph, stats, trace, profile;
  std::vector<OutputFile> outputs;  // as Options::outputs
};

// Opens all files that are to be written, before anything is computed. Folders
// of Options::saves have been made and are gone again. InvalidArgument, naming
// the option: a file is read, too, or written twice, or cannot be written;
// others as SaveFolder::Create.
absl::StatusOr<RunFiles> OpenRunFiles(const Options& options);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_RUN_FILES_H_
