//===- sim_cluster.cc - Several processes in one simulation ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/sim_cluster.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/faults/fault_schedule.h"

namespace pathways {

SimCluster::SimCluster(const proto::Cluster& cluster,
                       const ClusterOptions& options, Parts parts)
    : cluster_(cluster), options_(options), parts_(std::move(parts)) {}

// Stops the world first, so nothing runs any more when processes are destroyed.
SimCluster::~SimCluster() {
  if (world_.world != nullptr) world_.world->Stop();
}

absl::StatusOr<std::unique_ptr<SimCluster>> SimCluster::Create(
    const proto::Cluster& cluster, const ClusterOptions& options, Parts parts) {
  if (options.world != ClusterOptions::kSim) {
    return absl::InvalidArgumentError(
        "faults can only be injected in a simulation");
  }
  if (absl::Status s = CheckOptions(options); !s.ok()) return s;
  std::unique_ptr<SimCluster> made(
      new SimCluster(cluster, options, std::move(parts)));
  if (absl::Status s = made->Start(); !s.ok()) return s;
  return made;
}

absl::Status SimCluster::Start() {
  absl::StatusOr<Topology> topology = Topology::Create(cluster_);
  if (!topology.ok()) return topology.status();
  for (int i = 0; i < topology->num_islands(); ++i) {
    first_hosts_.push_back(topology->first_host(i));
  }
  const size_t hosts = topology->num_hosts();
  for (uint32_t h = 0; h < hosts; ++h) {
    places_.push_back({parts_.apart ? h + 1 : 0, 1});
  }
  up_.assign(hosts, true);
  of_host_.resize(hosts);
  ClusterOptions options = options_;
  options.edit_simulation = [this](SimOptions* sim) {
    if (options_.edit_simulation) options_.edit_simulation(sim);
    sim->before_control = [this](uint64_t control) {
      if (driver_ != nullptr) driver_->BeforeControl(control);
    };
  };
  absl::StatusOr<ProcessWorld> world = MakeWorld(*topology, options, {});
  if (!world.ok()) return world.status();
  world_ = *std::move(world);
  absl::StatusOr<std::unique_ptr<Cluster>> front =
      Open(0, {0, kMaxProcessClients}, world_);
  if (!front.ok()) return front.status();
  front_ = *std::move(front);
  for (size_t h = 0; h < hosts && parts_.apart; ++h) {
    absl::StatusOr<std::unique_ptr<Cluster>> process =
        Open(places_[h].process, {0, 0}, world_);
    if (!process.ok()) return process.status();
    of_host_[h] = *std::move(process);
  }
  driver_ = std::make_unique<FaultDriver>(
      world_.sim, this, *std::move(topology), parts_.faults, options_.seed);
  return absl::OkStatus();
}

uint32_t SimCluster::FirstClientProcess() const {
  return parts_.apart ? static_cast<uint32_t>(places_.size()) + 1 : 1;
}

absl::StatusOr<std::unique_ptr<Cluster>> SimCluster::Open(
    uint32_t process, ClientPlaces places, const ProcessWorld& world) {
  ProcessPart part;
  part.directory = Directory(first_hosts_, places_);
  part.process = process;
  part.places = places;
  part.make_world = [&](WorldListeners) { return world; };
  return Cluster::Create(cluster_, options_, part);
}

absl::StatusOr<std::unique_ptr<Cluster>> SimCluster::OpenClients(
    uint32_t n, const std::string& client,
    const std::function<std::shared_ptr<World>(std::shared_ptr<World>)>& wrap) {
  const uint32_t process = FirstClientProcess() + n;
  ProcessWorld world = world_;
  world.world = wrap(world.world);
  clients_.push_back(client);
  return Open(process,
              {process * kMaxProcessClients, parts_.places_for_clients,
               PlaceOfClients(n)},
              world);
}

void SimCluster::EndClients(uint32_t n) {
  front_->ReportClientsGone(FirstClientProcess() + n);
}

void SimCluster::Stop(int32_t host, TimeNs tell_after) {
  up_[host] = false;
  world_.sim->StopHost(host, tell_after);
}

void SimCluster::TakeForGone(int32_t host) {
  up_[host] = false;
  world_.sim->peers().ReportPeerDown(host, places_[host].epoch);
}

void SimCluster::Restart(int32_t host) {
  if (!parts_.apart || up_[host]) return;
  ++places_[host].epoch;
  absl::StatusOr<std::unique_ptr<Cluster>> next =
      Open(places_[host].process, {0, 0}, world_);
  if (!next.ok()) return;  // it was made once, so memory is short
  past_.push_back(std::exchange(of_host_[host], *std::move(next)));
  up_[host] = true;
  world_.sim->peers().ReportPeerUp(host, places_[host].epoch);
}

Cluster& SimCluster::ProcessOf(int32_t host) {
  return parts_.apart ? *of_host_[host] : *front_;
}

void SimCluster::LimitMemory(int32_t host, uint64_t bytes) {
  ProcessOf(host).LimitHostMemory(host, bytes);
}

void SimCluster::FailDisk(int32_t host, bool writes, bool reads) {
  ProcessOf(host).FailSpillDisk(host, writes, reads);
}

void SimCluster::EndClient(const std::string& client, const absl::Status& why) {
  if (parts_.on_client_death) return parts_.on_client_death(client, why);
  front_->Shutdown(why);
}

void SimCluster::ClientDies(const std::string& client) {
  EndClient(client, absl::UnavailableError(
                        absl::StrCat("client '", client, "' has died")));
}

std::vector<int32_t> SimCluster::PlacesOfClients(
    const std::string& name) const {
  std::vector<int32_t> places;
  for (uint32_t n = 0; n < clients_.size() && parts_.clients_apart; ++n) {
    if (name == kClientsName || clients_[n].empty() ||
        name == absl::StrCat(kClientPrefix, clients_[n])) {
      places.push_back(PlaceOfClients(n));
    }
  }
  return places;
}

void SimCluster::Disconnect(int32_t place) {
  EndClient(clients_[-2 - place],
            Coded(ErrorId::kControllerGone,
                  absl::CancelledError("the controller is gone: the connection "
                                       "with it has ended")));
}

absl::StatusOr<std::shared_ptr<Cluster>> OpenSimulation(
    const proto::Cluster& cluster, const ClusterOptions& options) {
  absl::StatusOr<Topology> topology = Topology::Create(cluster);
  if (!topology.ok()) return topology.status();
  absl::StatusOr<proto::FaultSchedule> faults =
      ReadFaults(options.faults, *topology);
  if (!faults.ok()) return faults.status();
  // Members are destroyed in reverse order.
  struct Opened {
    std::unique_ptr<SimCluster> cluster;
    std::unique_ptr<Cluster> clients;
  };
  const auto opened = std::make_shared<Opened>();
  SimCluster::Parts parts;
  parts.faults = *std::move(faults);
  parts.places_for_clients = kMaxProcessClients;
  parts.on_client_death = [of = opened.get()](const std::string&,
                                              const absl::Status& why) {
    of->clients->Shutdown(why);
  };
  absl::StatusOr<std::unique_ptr<SimCluster>> made =
      SimCluster::Create(cluster, options, std::move(parts));
  if (!made.ok()) return made.status();
  opened->cluster = *std::move(made);
  absl::StatusOr<std::unique_ptr<Cluster>> clients =
      opened->cluster->OpenClients(
          0, /*client=*/"", [](std::shared_ptr<World> world) { return world; });
  if (!clients.ok()) return clients.status();
  opened->clients = *std::move(clients);
  return std::shared_ptr<Cluster>(opened, opened->clients.get());
}

}  // namespace pathways
