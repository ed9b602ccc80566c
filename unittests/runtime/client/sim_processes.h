//===- sim_processes.h - Several processes in one simulation ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_CLIENT_SIM_PROCESSES_H_
#define UNITTESTS_RUNTIME_CLIENT_SIM_PROCESSES_H_

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unittests/runtime/client/runtime_test_support.h"

namespace pathways::testing {

// The processes of a cluster, which share one simulated world and nothing else:
// each has tables, plans and code of its own, and what one knows of another
// came by messages. Process 0 has the controller, and process `client_process`
// the client, which is what `*` and `->` are of; if that is the number after
// the last one with hosts, it has nothing else. The client speaks with the
// controller without faults; all else crosses hosts, and so the links that the
// options make faulty. A process with hosts and no client may go, and another
// one take its place.
class SimProcesses {
 public:
  // `process_of`: of each host, of processes without a gap.
  SimProcesses(const proto::Cluster& cluster,
               const std::vector<uint32_t>& process_of, uint32_t client_process,
               ClusterOptions options)
      : cluster_(cluster),
        options_(std::move(options)),
        client_process_(client_process) {
    if (options_.kernels == nullptr) options_.kernels = &Kernels();
    const Topology topology = *Topology::Create(cluster);
    for (int i = 0; i < topology.num_islands(); ++i) {
      first_hosts_.push_back(topology.first_host(i));
    }
    for (uint32_t process : process_of) places_.push_back({process, 1});
    absl::StatusOr<ProcessWorld> world = MakeWorld(topology, options_, {});
    EXPECT_TRUE(world.ok()) << world.status();
    world_ = *std::move(world);
    const uint32_t last =
        *std::max_element(process_of.begin(), process_of.end());
    for (uint32_t p = 0; p <= std::max(last, client_process); ++p) {
      processes_.push_back(Make(p));
    }
    client_ = Connect("client0");
  }
  // Nothing runs any more when the first process goes.
  ~SimProcesses() { world_.world->Stop(); }

  Client& operator*() { return *client_; }
  Client* operator->() { return client_.get(); }
  std::unique_ptr<Client> Connect(const std::string& name) {
    absl::StatusOr<std::unique_ptr<Client>> client =
        processes_[client_process_]->Connect(name);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  SimWorld& world() { return *world_.sim; }
  Cluster& process(uint32_t p) { return *processes_[p]; }

  std::vector<int32_t> HostsOf(uint32_t p) const {
    std::vector<int32_t> hosts;
    for (size_t h = 0; h < places_.size(); ++h) {
      if (places_[h].process == p) hosts.push_back(static_cast<int32_t>(h));
    }
    return hosts;
  }
  uint32_t EpochOf(int32_t host) const { return places_[host].epoch; }
  // The process stops for ever, and all others are told.
  void Kill(uint32_t p) {
    for (int32_t host : HostsOf(p)) world().StopHost(host, /*tell_after=*/0);
  }
  // It is said to be gone.
  void Declare(uint32_t p) {
    for (int32_t host : HostsOf(p)) {
      world().peers().ReportPeerDown(host, places_[host].epoch);
    }
  }
  // Another process takes its place, with the next life of each of its hosts.
  void Replace(uint32_t p) {
    for (int32_t host : HostsOf(p)) ++places_[host].epoch;
    past_.push_back(std::exchange(processes_[p], Make(p)));
    for (int32_t host : HostsOf(p)) {
      world().peers().ReportPeerUp(host, places_[host].epoch);
    }
  }

 private:
  std::unique_ptr<Cluster> Make(uint32_t p) {
    ProcessPart part;
    part.directory = Directory(first_hosts_, places_);
    part.process = p;
    part.places = {p * kMaxProcessClients, p == client_process_ ? 4u : 0u};
    part.make_world = [this](WorldListeners) { return world_; };
    absl::StatusOr<std::unique_ptr<Cluster>> made =
        Cluster::Create(cluster_, options_, part);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  const proto::Cluster cluster_;
  ClusterOptions options_;
  const uint32_t client_process_;
  std::vector<int32_t> first_hosts_;
  std::vector<HostLocation> places_;  // now
  ProcessWorld world_;
  std::vector<std::unique_ptr<Cluster>> processes_;
  std::vector<std::unique_ptr<Cluster>> past_;  // that were replaced
  std::unique_ptr<Client> client_;              // goes first
};

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_CLIENT_SIM_PROCESSES_H_
