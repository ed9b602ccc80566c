//===- recovery_flags.cc - Flags of pw-run for recovery -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/pw-run/recovery_flags.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/pw-run/plan_view.h"

namespace pathways::pw_run {

std::vector<flags::Flag> RecoveryFlags::Table() {
  using flags::Switch;
  using flags::Text;
  using flags::Whole;
  return {
      {"--recover", "retry|rebind",
       "When a host is lost, resume from the last checkpoint: retry, once the "
       "host is back (--wait limits that), or rebind, on other devices; "
       "unless given, the run ends with an error",
       Text{&mode, {"retry", "rebind"}}},
      {"--checkpoint-every", "STEPS",
       "Steps between checkpoints of the arrays that are carried from step to "
       "step; 0: the beginning of the run is the only checkpoint",
       Whole<int64_t>{&options.checkpoint_every, 0, INT64_MAX}},
      {"--checkpoint-dir", "FOLDER",
       "Folder for checkpoints that outlive this process; unless given, they "
       "are in its memory",
       Text{&options.checkpoint_dir}},
      {.name = "--checkpoints-on-hosts",
       .type = "",
       .help = "Keep checkpoints on hosts that the program does not use",
       .to = Switch{&options.checkpoints_on_hosts},
       .excludes = "--checkpoint-dir"},
      {"--resume", "",
       "Begin with the last checkpoint in the folder, if there is one",
       Switch{&options.resume}},
      {"--max-losses", "N",
       "End with the error of the next loss after this many losses without "
       "another checkpoint",
       Whole<int>{&options.max_losses, 0, INT32_MAX}},
  };
}

absl::Status RecoveryFlags::Check() {
  if (mode == "retry") options.mode = RecoveryOptions::kRetry;
  if (mode == "rebind") options.mode = RecoveryOptions::kRebind;
  if (options.checkpoint_every > 0 && !any()) {
    return absl::InvalidArgumentError(
        "--checkpoint-every: nothing uses the checkpoints; give it with "
        "--recover or --checkpoint-dir");
  }
  if (!options.checkpoint_dir.empty() && options.checkpoint_every == 0) {
    return absl::InvalidArgumentError(
        "--checkpoint-dir: no checkpoints are made without --checkpoint-every");
  }
  if (options.checkpoints_on_hosts &&
      (options.checkpoint_every == 0 || mode.empty())) {
    return absl::InvalidArgumentError(
        "--checkpoints-on-hosts: give it with --checkpoint-every and "
        "--recover");
  }
  if (options.max_losses != RecoveryOptions().max_losses && mode.empty()) {
    return absl::InvalidArgumentError(
        "--max-losses: without --recover the first loss ends the run");
  }
  if (options.resume && options.checkpoint_dir.empty()) {
    return absl::InvalidArgumentError(
        "--resume: give the folder of the checkpoints with --checkpoint-dir");
  }
  return absl::OkStatus();
}

std::string RecoveryText(const RecoveryReport& report) {
  std::vector<std::string> parts;
  if (report.resumed_at > 0) {
    parts.push_back(
        absl::StrCat("resumed after ", CountText(report.resumed_at, "step")));
  }
  if (report.checkpoints > 0) {
    parts.push_back(absl::StrFormat(
        "%s of %d bytes, made in %.2g%% of the time",
        CountText(report.checkpoints, "checkpoint"), report.checkpoint_bytes,
        report.run_ns > 0 ? 100.0 * static_cast<double>(report.checkpoint_ns) /
                                static_cast<double>(report.run_ns)
                          : 0.0));
  }
  if (report.losses > 0) {
    parts.push_back(absl::StrCat(
        report.losses, report.losses == 1 ? " loss, " : " losses, ",
        CountText(report.repeated_steps, "step"), " launched again"));
  }
  if (report.moves > 0) parts.push_back(CountText(report.moves, "move"));
  return absl::StrJoin(parts, "; ");
}

}  // namespace pathways::pw_run
