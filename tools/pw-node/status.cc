//===- status.cc - State of a cluster -------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <string>

#include "absl/time/clock.h"
#include "runtime/node/cluster_status.h"
#include "tools/pw-node/commands.h"

namespace pathways::pw_node {

absl::Status RunStatus(const StatusCommand& command) {
  while (true) {
    absl::StatusOr<proto::ClusterStatus> status = AskStatus(command.connect);
    if (!status.ok()) return status.status();
    const std::string text =
        command.json ? StatusJson(*status) : StatusText(*status);
    std::fputs(text.c_str(), stdout);
    if (!command.watch) return absl::OkStatus();
    if (!command.json) std::fputs("\n", stdout);
    std::fflush(stdout);
    absl::SleepFor(command.interval);
  }
}

}  // namespace pathways::pw_node
