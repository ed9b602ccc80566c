//===- load_program.h - Loading of a verified plan --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only part of the tool that needs the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_LOAD_PROGRAM_H_
#define TOOLS_PW_RUN_LOAD_PROGRAM_H_

#include <map>
#include <string>
#include <vector>

#include "pathways/ScheduleCosts.h"
#include "runtime/plan/plan_file.h"
#include "tools/pw-run/explain_import.h"
#include "tools/pw-run/explain_kernels.h"
#include "tools/pw-run/explain_reshard.h"
#include "tools/pw-run/options.h"

namespace pathways::pw_run {

struct Loaded {
  PlanData plan;                              // passed the verifier
  proto::Plan without_loops;                  // only if `plan` has loops
  std::string bytes;                          // the plan as a file
  std::vector<std::string> remarks;           // from the compiler, one per line
  std::map<std::string, CodeOrigin> kernels;  // kernels that had no code yet
  std::vector<ReshardText> reshards;          // with --explain-reshard
  std::vector<ImportedText> imported;         // with --explain-import

  // Returns the plan that hosts run.
  const proto::Plan& run_plan() const {
    return plan.tables.loops().empty() ? plan.tables : without_loops;
  }
};

// A failure of the tool: its message and the exit code.
struct Failure {
  ExitCode code = kUsageError;
  std::string message;
};

// Reads options.file, and compiles it unless it is a plan file already. Returns
// true on success; otherwise sets *failure.
bool LoadProgram(const Options& options, Loaded* loaded, Failure* failure);

// Reads options.file, and finds the costs of its schedules without compiling it
// for a run. Returns true on success; otherwise sets *failure.
bool ExplainSchedules(const Options& options,
                      std::vector<ScheduleCosts>* schedules, Failure* failure);

// Binds the slices of the plan to other devices.
void Rebind(const PlanSlices& slices, Loaded* loaded);

// Writes the plan as text of the `plan` dialect.
bool PlanText(const Loaded& loaded, std::string* text, Failure* failure);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_LOAD_PROGRAM_H_
