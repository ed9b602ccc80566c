//===- recovery_flags.cc - How pw-run outlives lost hosts -----------------===//
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

void RecoveryFlags::AddTo(CLI::App* app) {
  constexpr char kRecovery[] = "Losing hosts and going on";
  app->add_option(
         "--recover", mode,
         "When a host is lost, go on from the last checkpoint: retry, once "
         "it is there again (--wait bounds that), or rebind, on "
         "other devices; unless given, the run ends with an error")
      ->type_name("retry|rebind")
      ->check(CLI::IsMember({"retry", "rebind"}).description(""))
      ->group(kRecovery);
  app->add_option(
         "--checkpoint-every", options.checkpoint_every,
         "Steps from one checkpoint to the next, which is what is carried "
         "from step to step; 0: the beginning is the only one")
      ->capture_default_str()
      ->type_name("STEPS")
      ->check(CLI::Range(int64_t{0}, INT64_MAX).description(""))
      ->group(kRecovery);
  app->add_option(
         "--checkpoint-dir", options.checkpoint_dir,
         "Folder where checkpoints are, for who outlives this process; "
         "unless given, in its memory")
      ->type_name("FOLDER")
      ->group(kRecovery);
  app->add_flag("--checkpoints-on-hosts", options.checkpoints_on_hosts,
                "Checkpoints are on hosts that the program is not on")
      ->excludes("--checkpoint-dir")
      ->group(kRecovery);
  app->add_flag("--resume", options.resume,
                "Begin with the last checkpoint there, if there is one")
      ->group(kRecovery);
  app->add_option("--max-losses", options.max_losses,
                  "End with the error of the next loss after so many without "
                  "another checkpoint")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, INT32_MAX).description(""))
      ->group(kRecovery);
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
