//===- recovery_options.h - Recovery of a run after losses ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options of checkpoints, from which a run resumes when hosts are lost, in
// C++ as on a command line. The runtime and the public API share this one
// description.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_RECOVERY_OPTIONS_H_
#define RUNTIME_BASE_RECOVERY_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/base/client_options.h"

namespace pathways {

struct RecoveryOptions {
  // Reaction when a host is lost or a run stalls. kFail: the run ends with the
  // error. kRetry: the run resumes from the last checkpoint on its own devices,
  // once the host has returned. kRebind: it resumes on other devices, as Rebind
  // chooses them, or as with kRetry if there are too few. With kRebind a run
  // also leaves devices that are drained, and returns to devices that are
  // available again, at the next checkpoint.
  enum Mode { kFail, kRetry, kRebind };
  Mode mode = kFail;
  // Number of steps between two checkpoints; 0: the beginning is the only one.
  int64_t checkpoint_every = 0;
  // Folder for checkpoints: "checkpoint-N" after N steps. The last one stays,
  // even that of the end (docs/checkpoints.md). Empty: checkpoints are kept in
  // the memory of this process.
  std::string checkpoint_dir = {};
  // If true, checkpoints go from the program's hosts directly to other hosts,
  // whose devices reserve memory for the program while the run lasts. Excludes
  // checkpoint_dir. A checkpoint for which no such host is left is kept in the
  // memory of this process. If the last checkpoint is lost with its hosts, and
  // a host of the program with them, the run starts again from the beginning.
  bool checkpoints_on_hosts = false;
  // Resumes from the checkpoint in `checkpoint_dir`, if there is one.
  bool resume = false;
  // Number of losses between two checkpoints that a run survives.
  int max_losses = 4;
  // Several devices of the program may share one device if there are too few,
  // as in RebindOptions.
  bool oversubscribe = false;
  // Longest wait for devices, and its notification. await_devices is taken as
  // true.
  LoadOptions load = {};
  // Called with one line for each loss and each move, on the thread that runs.
  std::function<void(const std::string& what)> on_event = {};
};

// Costs of recovery so far. Times are those of the world's clock.
struct RecoveryReport {
  int64_t resumed_at = 0;         // steps done before this run
  int64_t losses = 0;             // losses that the run survived
  int64_t moves = 0;              // moves to other devices without a loss
  int64_t repeated_steps = 0;     // steps lost and run again
  int64_t checkpoints = 0;        // number made, without the beginning
  uint64_t checkpoint_bytes = 0;  // bytes of one checkpoint
  int64_t checkpoint_ns = 0;      // time to make all; steps continue meanwhile
  int64_t run_ns = 0;             // time of the whole run
};

}  // namespace pathways

#endif  // RUNTIME_BASE_RECOVERY_OPTIONS_H_
