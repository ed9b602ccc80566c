//===- remote_cluster.h - A cluster that runs elsewhere ---------*- C++ -*-===//
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
  std::string address;  // of a controller, as MakeNodeAddress reads it
  LinkOptions links;
  // To reach the controller, and until it lets this process in.
  absl::Duration timeout = absl::Seconds(10);
  // As of ClusterOptions; not for AskStatus.
  std::function<void(const LongWork&)> on_long_work;
  // As of MemberOptions; not for AskStatus.
  std::function<void(const std::string& whom)> on_waiting;
};

// A running cluster, of which this process has clients alone. When it ends,
// calls of clients return Cancelled, naming the address. InvalidArgument,
// PermissionDenied: the address, or the key; Unavailable: nobody listens there,
// or who does has another key; DeadlineExceeded: says what the cluster waits
// for; else what the controller says.
absl::StatusOr<std::shared_ptr<Cluster>> ConnectCluster(
    const ConnectOptions& options);

}  // namespace pathways

#endif  // RUNTIME_NODE_REMOTE_CLUSTER_H_
