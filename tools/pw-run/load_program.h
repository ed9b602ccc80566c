//===- load_program.h - From a file to a checked plan -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one part of the tool that needs the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_LOAD_PROGRAM_H_
#define TOOLS_PW_RUN_LOAD_PROGRAM_H_

#include <map>
#include <string>
#include <vector>

#include "runtime/plan/plan_file.h"
#include "tools/pw-run/explain_kernels.h"
#include "tools/pw-run/explain_reshard.h"
#include "tools/pw-run/options.h"

namespace pathways::pw_run {

struct Loaded {
  PlanData plan;                              // passed the verifier
  std::string bytes;                          // of the plan as a file
  std::vector<std::string> remarks;           // of the compiler, one per line
  std::map<std::string, CodeOrigin> kernels;  // those that had no code yet
  std::vector<ReshardText> reshards;          // with --explain-reshard
};

// The tool's own failures: what to say, and what to return.
struct Failure {
  ExitCode code = kUsageError;
  std::string message;
};

// Reads options.file; compiles it unless it is a plan file already. Returns
// whether that worked; else *failure is set.
bool LoadProgram(const Options& options, Loaded* loaded, Failure* failure);

// The plan as text of the `plan` dialect.
bool PlanText(const Loaded& loaded, std::string* text, Failure* failure);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_LOAD_PROGRAM_H_
