//===- make_world.cc - The world of a process -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/make_world.h"

#include <algorithm>
#include <utility>

#include "runtime/topology/discovery.h"

namespace pathways {
namespace {

// Overwrites numbers of `model` that the cluster specifies.
void Apply(const proto::Link& link, LinkModel* model) {
  if (link.latency_seconds() > 0) {
    model->latency_ns = static_cast<TimeNs>(link.latency_seconds() * 1e9);
  }
  if (link.bytes_per_second() > 0) {
    model->bytes_per_second = link.bytes_per_second();
  }
}

SimOptions SimulationOptions(const Topology& topology,
                             const ClusterOptions& options) {
  SimOptions sim;
  sim.seed = options.seed;
  sim.workers = std::max(1, options.workers);
  sim.workers_keep_order = options.workers > 0;
  for (int i = 0; i < topology.num_islands(); ++i) {
    sim.ici_of.push_back(sim.ici);
    Apply(topology.island(i).ici(), &sim.ici_of.back());
  }
  Apply(topology.cluster().dcn(), &sim.dcn);
  sim.faults.duplicate = options.duplicate_probability;
  sim.faults.reorder = options.reorder_probability;
  sim.control_faults = sim.faults;
  sim.control_faults.drop = options.drop_probability;
  sim.host_stops = options.host_stops;
  sim.fault_hook = options.fault_hook;
  sim.control_fault_hook = options.control_fault_hook;
  if (options.edit_simulation) options.edit_simulation(&sim);
  return sim;
}

ThreadOptions WorkerOptions(const Topology& topology,
                            const ClusterOptions& options) {
  ThreadOptions threads;
  threads.workers =
      options.workers > 0
          ? options.workers
          : std::clamp(NumPhysicalCores(), 1, ThreadOptions::kMaxWorkers);
  threads.seed = options.seed;
  threads.fault_hook = options.fault_hook;
  threads.control_fault_hook = options.control_fault_hook;
  threads.clock = options.clock;
  threads.watch.report_ns = options.stall_timeout_ns;
  threads.watch.limit_ns = options.kernel_timeout_ns;
  if (options.link_costs) {
    threads.links.emplace();
    for (int i = 0; i < topology.num_islands(); ++i) {
      Apply(topology.island(i).ici(), &threads.links->ici_of.emplace_back());
    }
    Apply(topology.cluster().dcn(), &threads.links->dcn);
  }
  if (options.bind_workers) {
    threads.on_worker_start = [](int worker) {
      // If binding is not permitted, the worker may run on any core.
      (void)BindThisThreadToCore(worker % std::max(1, NumPhysicalCores()));
    };
  }
  return threads;
}

}  // namespace

absl::StatusOr<ProcessWorld> MakeWorld(const Topology& topology,
                                       const ClusterOptions& options,
                                       WorldListeners listeners,
                                       ProcessTraits process) {
  ProcessWorld made;
  if (options.world == ClusterOptions::kSim) {
    SimOptions sim = SimulationOptions(topology, options);
    sim.on_crossing = std::move(listeners.on_crossing);
    auto world = SimWorld::Create(std::move(sim));
    if (!world.ok()) return world.status();
    made.sim = world->get();
    made.world = *std::move(world);
  } else {
    ThreadOptions threads = WorkerOptions(topology, options);
    if (!process.has_hosts) {
      threads.workers = 1;
      threads.followers = true;
      threads.on_worker_start = nullptr;
    }
    made.link_stats = process.remote_channel.stats;
    made.send_control = process.remote_channel.send_control;
    threads.remote_channel = std::move(process.remote_channel);
    threads.watch.on_long = std::move(listeners.on_long);
    threads.watch.victims = std::move(listeners.victims);
    threads.watch.on_lost = std::move(listeners.on_lost);
    auto world = ThreadWorld::Create(std::move(threads));
    if (!world.ok()) return world.status();
    made.threads = world->get();
    made.world = *std::move(world);
  }
  return made;
}

}  // namespace pathways
