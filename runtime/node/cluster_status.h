//===- cluster_status.h - Status of a running cluster -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_CLUSTER_STATUS_H_
#define RUNTIME_NODE_CLUSTER_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/node/remote_cluster.h"
#include "runtime/proto/status.pb.h"

namespace pathways {

// Asks a controller for its status, without becoming a client. Errors are those
// of ConnectCluster.
absl::StatusOr<proto::ClusterStatus> AskStatus(const ConnectOptions& options);

// Returns the status as tables for people, ending in a line feed.
std::string StatusText(const proto::ClusterStatus& status);
// Returns the status as one line of JSON, with the names of status.proto.
std::string StatusJson(const proto::ClusterStatus& status);

}  // namespace pathways

#endif  // RUNTIME_NODE_CLUSTER_STATUS_H_
