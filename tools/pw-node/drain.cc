//===- drain.cc - Draining devices of a cluster ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/cluster/cluster.h"
#include "tools/pw-node/commands.h"

namespace pathways::pw_node {

absl::Status RunDrain(const DrainCommand& command) {
  const absl::StatusOr<std::shared_ptr<Cluster>> cluster =
      ConnectCluster(command.connect);
  if (!cluster.ok()) return cluster.status();
  const absl::StatusOr<std::unique_ptr<Client>> client = (*cluster)->Connect(
      absl::StrCat("pw-node of process ", (*cluster)->process()));
  if (!client.ok()) return client.status();
  const int64_t wait_ns = command.wait == absl::ZeroDuration()
                              ? -1
                              : absl::ToInt64Nanoseconds(command.wait);
  absl::Status status = command.undo ? (*client)->Undrain(command.names)
                                     : (*client)->Drain(command.names, wait_ns);
  if (!status.ok()) return status;
  std::printf(
      command.undo ? "%s may be used again\n" : "%s: drained and empty\n",
      absl::StrJoin(command.names, ", ").c_str());
  return absl::OkStatus();
}

}  // namespace pathways::pw_node
