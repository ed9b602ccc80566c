//===- host_options.h - Options of a cluster that workers need --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_HOST_OPTIONS_H_
#define RUNTIME_NODE_HOST_OPTIONS_H_

#include "runtime/cluster/cluster_options.h"
#include "runtime/proto/membership.pb.h"

namespace pathways {

// Convert the options that concern hosts to their message, and back.
proto::HostOptions ToHostOptions(const ClusterOptions& options);
ClusterOptions ToClusterOptions(const proto::HostOptions& options);

}  // namespace pathways

#endif  // RUNTIME_NODE_HOST_OPTIONS_H_
