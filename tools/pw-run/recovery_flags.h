//===- recovery_flags.h - How pw-run outlives lost hosts --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_RUN_RECOVERY_FLAGS_H_
#define TOOLS_PW_RUN_RECOVERY_FLAGS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "runtime/base/recovery_options.h"

namespace pathways::pw_run {

// The flags as they are given. Outlives what they are added to.
struct RecoveryFlags {
  std::string mode;  // empty: not given
  RecoveryOptions options;

  void AddTo(CLI::App* app);
  // After they were read. InvalidArgument: they do not go together.
  absl::Status Check();
  // Whether there is anything to recover with.
  bool any() const { return !mode.empty() || !options.checkpoint_dir.empty(); }
};

// "3 checkpoints of 4096 bytes, made in 0.3% of the time; 1 loss, 8 steps
// launched again": what a run had of it; empty: nothing.
std::string RecoveryText(const RecoveryReport& report);

}  // namespace pathways::pw_run

#endif  // TOOLS_PW_RUN_RECOVERY_FLAGS_H_
