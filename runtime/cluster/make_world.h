//===- make_world.h - The world of a process --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLUSTER_MAKE_WORLD_H_
#define RUNTIME_CLUSTER_MAKE_WORLD_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cluster/cluster_options.h"
#include "runtime/topology/topology.h"
#include "runtime/world/remote_channel.h"
#include "runtime/world/sim_world.h"
#include "runtime/world/thread_world.h"

namespace pathways {

// A world with its concrete type; the other pointer is null.
struct ProcessWorld {
  std::shared_ptr<World> world;
  SimWorld* sim = nullptr;
  ThreadWorld* threads = nullptr;
  // Counts of links to other processes, callable on any thread; empty: no
  // links.
  std::function<LinkStats()> link_stats;
  std::function<void(ActorId from, ActorId to, std::string bytes)> send_control;
};

// Callbacks of a world. Each may be empty.
struct WorldListeners {
  // Called for a message between hosts of a simulation.
  std::function<void(const SimCrossing&)> on_crossing;
  // Threads: called on the watchdog's thread for a kernel that takes longer
  // than the stall timeout.
  std::function<void(const KernelCall&, TimeNs)> on_long;
  // Threads: called on the watchdog's thread for a kernel that exceeds its time
  // limit. `victims` returns the actors that are lost with its worker;
  // `on_lost` is called for the loss.
  std::function<std::vector<LocalId>(const KernelCall&)> victims;
  std::function<void(const KernelCall&)> on_lost;
};

// Properties of a process that the cluster does not describe: its channel to
// others, and whether it has hosts. Without hosts its threads run no kernel, so
// client threads may do the work that they would wait for.
struct ProcessTraits {
  RemoteChannel remote_channel;
  bool has_hosts = true;
};

// Makes a world with the links of `topology`. Returns InvalidArgument for an
// option; ResourceExhausted if there are no threads.
absl::StatusOr<ProcessWorld> MakeWorld(const Topology& topology,
                                       const ClusterOptions& options,
                                       WorldListeners listeners,
                                       ProcessTraits process = {});

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_MAKE_WORLD_H_
