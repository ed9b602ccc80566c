//===- recovery_options.h - How a run outlives lost hosts -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a client says about checkpoints, from which a run goes on when hosts are
// lost, in C++ as on a command line. The one description of it: the runtime and
// the public API both take this.
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
  // When a host is lost, or a run stalls. kFail: the run ends with the error.
  // kRetry: it goes on from the last checkpoint where it was, once the host is
  // there again. kRebind: on other devices, as Rebind chooses them; where there
  // are too few, as kRetry. It also leaves devices that are drained, and comes
  // back to those that are there again, at the next checkpoint.
  enum Mode { kFail, kRetry, kRebind };
  Mode mode = kFail;
  // Steps from one checkpoint to the next; 0: the beginning is the only one.
  int64_t checkpoint_every = 0;
  // Where checkpoints are: "checkpoint-N" in this folder, after N steps, of
  // which the last one stays, be it that of the end (docs/checkpoints.md);
  // empty: in the memory of this process.
  std::string checkpoint_dir = {};
  // They are on hosts that the program is not on, and go there from its own
  // hosts; devices there have memory for it while the run lasts. Without a
  // folder. One for which there is no such host any more is in the memory of
  // this process. When the last one is lost with its hosts, and a host of the
  // program with them, the run goes on from the beginning.
  bool checkpoints_on_hosts = false;
  // Begins with the checkpoint in `checkpoint_dir`, if there is one.
  bool resume = false;
  // Losses after one checkpoint and before the next that a run outlives.
  int max_losses = 4;
  // As RebindOptions::oversubscribe.
  bool oversubscribe = false;
  // For how long it waits for devices, and who is told. (await_devices counts
  // as set.)
  LoadOptions load = {};
  // Told of each loss and each move, in one line, on the thread that runs.
  std::function<void(const std::string& what)> on_event = {};
};

// What recovery has cost so far. Times are the world's.
struct RecoveryReport {
  int64_t resumed_at = 0;         // steps that were done before
  int64_t losses = 0;             // that were outlived
  int64_t moves = 0;              // to other devices, without a loss
  int64_t repeated_steps = 0;     // that had been done when they were lost
  int64_t checkpoints = 0;        // behind the beginning
  uint64_t checkpoint_bytes = 0;  // of one
  int64_t checkpoint_ns = 0;      // to make all of them; steps go on meanwhile
  int64_t run_ns = 0;             // all of it
};

}  // namespace pathways

#endif  // RUNTIME_BASE_RECOVERY_OPTIONS_H_
