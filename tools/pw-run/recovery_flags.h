//===- recovery_flags.h - Flags of pw-run for recovery ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_RECOVERY_FLAGS_H_
#define TOOLS_PW_RUN_RECOVERY_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "pathways/Options.h"
#include "tools/flags/flag_table.h"

namespace pathways::pw_run {

// The values of the flags. Must outlive the command line that has the table.
struct RecoveryFlags {
  std::string mode;  // empty: not given
  RecoveryOptions options;

  // The flags, for CommandLine::Add.
  std::vector<flags::Flag> Table();
  // After they were read. InvalidArgument: they do not go together.
  absl::Status Check();
  // Returns true if the flags ask for recovery or checkpoints.
  bool any() const { return !mode.empty() || !options.checkpoint_dir.empty(); }
};

// Returns what recovery did in a run, such as "3 checkpoints of 4096 bytes,
// made in 0.3% of the time; 1 loss, 8 steps launched again"; empty if nothing.
std::string RecoveryText(const RecoveryReport& report);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_RECOVERY_FLAGS_H_
