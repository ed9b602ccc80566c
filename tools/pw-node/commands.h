//===- commands.h - What pw-node can be told to be --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PW_NODE_COMMANDS_H_
#define TOOLS_PW_NODE_COMMANDS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/node/coordinator.h"
#include "runtime/node/member.h"
#include "runtime/node/node_transport.h"
#include "runtime/node/remote_cluster.h"
#include "runtime/topology/topology.h"
#include "tools/pw-node/stopper.h"

namespace pathways::pw_node {

struct ControllerCommand {
  std::string topology;  // as ReadTopology
  std::string listen;
  std::string metrics;        // HOST:PORT; empty: none
  std::string write_address;  // a file for where it listens; empty: none
  LinkOptions links;
  CoordinatorOptions coordinator;
  ClusterOptions cluster;
};

// The controller of a cluster, until it is stopped; OK then. InvalidArgument:
// the topology, the address or an option; else why there is no cluster.
absl::Status RunController(ControllerCommand command, Stopper* stopper);

struct WorkerCommand {
  MemberOptions member;
  LinkOptions links;
  // It is started by somebody who wants it no longer than the controller.
  bool ends_with_controller = false;
  // Replaces this process by a new one of the same arguments, and returns only
  // where that failed.
  std::function<absl::Status()> start_again;
};

// Hosts of a cluster, in as many lives as it takes: when the controller is
// gone, or says that this one is, it joins anew, for which it has as long as
// for the first time; as a new process, if a kernel did not return. OK: it was
// stopped. Else why it could not join, or not
// again.
absl::Status RunWorker(WorkerCommand command, Stopper* stopper);

struct StatusCommand {
  ConnectOptions connect;
  bool json = false;
  bool watch = false;  // until the process ends
  absl::Duration interval = absl::Seconds(1);
};

// Prints what the cluster has. As AskStatus.
absl::Status RunStatus(const StatusCommand& command);

struct DrainCommand {
  ConnectOptions connect;
  std::vector<std::string> names;  // islands, hosts, devices
  bool undo = false;
  absl::Duration wait;  // until nothing is there; zero: as long as it takes
};

// Has programs leave devices, or lets them come again (Client::Drain). As
// ConnectCluster; or why it could not, or not in time.
absl::Status RunDrain(const DrainCommand& command);

}  // namespace pathways::pw_node

#endif  // TOOLS_PW_NODE_COMMANDS_H_
