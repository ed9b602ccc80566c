//===- remote_cluster.h - Connections to a running cluster ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_REMOTE_CLUSTER_H_
#define RUNTIME_NODE_REMOTE_CLUSTER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/cluster/cluster.h"
#include "runtime/node/node_transport.h"

namespace pathways {

struct ConnectOptions {
  // Address of a controller, in the format of MakeNodeAddress.
  std::string address;
  LinkOptions links;
  // Time to reach the controller, and then until it lets this process in.
  absl::Duration timeout = absl::Seconds(10);
  // See ClusterOptions; AskStatus ignores it.
  std::function<void(const LongWork&)> on_long_work;
  // See MemberOptions; AskStatus ignores it.
  std::function<void(const std::string& whom)> on_waiting;
};

// Connects to a running cluster as a process with clients alone. When the
// cluster ends, calls of clients return Cancelled, with the address. Returns
// InvalidArgument or PermissionDenied for a bad address or key; Unavailable if
// nobody listens there, or with another key; DeadlineExceeded, with what the
// cluster waits for; or the controller's refusal.
absl::StatusOr<std::shared_ptr<Cluster>> ConnectCluster(
    const ConnectOptions& options);

}  // namespace pathways

#endif  // RUNTIME_NODE_REMOTE_CLUSTER_H_
