//===- commands.h - Commands of pw-node -------------------------*- C++ -*-===//
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
  std::string topology;  // see ReadTopology
  std::string listen;
  std::string metrics;        // HOST:PORT; empty: none
  std::string write_address;  // file for the address it listens on; empty: none
  LinkOptions links;
  CoordinatorOptions coordinator;
  ClusterOptions cluster;
};

// Runs the controller of a cluster until it is stopped, and returns OK then.
// Returns InvalidArgument if the topology, the address or an option is wrong;
// otherwise why there is no cluster.
absl::Status RunController(ControllerCommand command, Stopper* stopper);

struct WorkerCommand {
  MemberOptions member;
  LinkOptions links;
  // True: the process that started it wants it no longer than the controller.
  bool ends_with_controller = false;
  // Replaces this process by a new one with the same arguments. Returns only if
  // that failed.
  std::function<absl::Status()> start_again;
};

// Runs hosts of a cluster until it is stopped, and returns OK then. When the
// controller is gone, or says that this process is, the hosts join again as the
// next epoch, as a new process if a kernel did not return; that may take as
// long as the first time. Otherwise returns why the hosts could not join, or
// not again.
absl::Status RunWorker(WorkerCommand command, Stopper* stopper);

struct StatusCommand {
  ConnectOptions connect;
  bool json = false;
  bool watch = false;  // repeat until the process ends
  absl::Duration interval = absl::Seconds(1);
};

// Prints the state of the cluster. Returns errors of AskStatus.
absl::Status RunStatus(const StatusCommand& command);

struct DrainCommand {
  ConnectOptions connect;
  std::vector<std::string> names;  // islands, hosts, devices
  bool undo = false;
  absl::Duration wait;  // until nothing is there; zero: no limit
};

// Drains devices, or undoes that (Client::Drain). Returns errors of
// ConnectCluster, or why the drain failed or did not end in time.
absl::Status RunDrain(const DrainCommand& command);

}  // namespace pathways::pw_node

#endif  // TOOLS_PW_NODE_COMMANDS_H_
