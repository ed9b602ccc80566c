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

// One world, and which of the two it is; the other pointer is null.
struct ProcessWorld {
  std::shared_ptr<World> world;
  SimWorld* sim = nullptr;
  ThreadWorld* threads = nullptr;
  // Of the links to other processes, on any thread; empty: there are none.
  std::function<LinkStats()> link_stats;
  std::function<void(ActorId from, ActorId to, std::string bytes)> send_control;
};

// Who is told of what a world sees. Each may be empty.
struct WorldListeners {
  // A message between hosts of a simulation.
  std::function<void(const SimCrossing&)> on_crossing;
  // Threads: a kernel took longer than the stall timeout; on the watchdog's.
  std::function<void(const KernelCall&, TimeNs)> on_long;
  // Threads: who is lost with a worker whose kernel took longer than it may,
  // and that it is; likewise.
  std::function<std::vector<LocalId>(const KernelCall&)> victims;
  std::function<void(const KernelCall&)> on_lost;
};

// What a process has besides what its cluster says: the way to others, and
// whether it has hosts. Without any its threads enter no kernel, so that those
// of clients may do what they would wait for.
struct ProcessTraits {
  RemoteChannel remote_channel;
  bool has_hosts = true;
};

// A world with the links that `topology` says. InvalidArgument: an option;
// ResourceExhausted: no threads.
absl::StatusOr<ProcessWorld> MakeWorld(const Topology& topology,
                                       const ClusterOptions& options,
                                       WorldListeners listeners,
                                       ProcessTraits process = {});

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_MAKE_WORLD_H_
