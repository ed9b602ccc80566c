//===- sim_cluster.h - Several processes in one simulation ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLUSTER_SIM_CLUSTER_H_
#define RUNTIME_CLUSTER_SIM_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cluster/cluster.h"
#include "runtime/cluster/cluster_options.h"
#include "runtime/cluster/fault_driver.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/proto/faults.pb.h"

namespace pathways {

// A simulated cluster whose hosts may be lost and come back. Its processes
// share only the world: each has its own tables, plans and code, and learns of
// the others by messages. Process 0 has the controller and clients. A lost host
// takes its process with it, so hosts of process 0 do not come back. One thread
// calls it; it outlives its clients.
class SimCluster final : public FaultDriver::Hosts {
 public:
  struct Parts {
    proto::FaultSchedule faults;  // checked
    // True: each host is in a process of its own. False: all are in process 0.
    bool apart = true;
    // True: processes with only clients have links with the controller and with
    // hosts. False: they are at the controller's place.
    bool clients_apart = true;
    uint32_t places_for_clients = 2;  // per process with only clients
    // Called in a handler for a client that must die, or has lost its
    // connection with the controller; its calls end with `why`. Empty: process
    // 0 is shut down.
    std::function<void(const std::string& client, const absl::Status& why)>
        on_client_death;
  };
  // Returns errors of Cluster::Create, and InvalidArgument if the options ask
  // for no simulation.
  static absl::StatusOr<std::unique_ptr<SimCluster>> Create(
      const proto::Cluster& cluster, const ClusterOptions& options,
      Parts parts);
  ~SimCluster() override;

  Cluster& front() { return *front_; }
  SimWorld& world() { return *world_.sim; }
  FaultDriver& faults() { return *driver_; }
  uint32_t EpochOf(int32_t host) const { return places_[host].epoch; }
  // Returns the n-th process with only clients, from 0, in a world that `wrap`
  // makes of the shared one. Must be called before the first message, in the
  // order of n. Faults find the process by the name of a client; empty: of any
  // client.
  absl::StatusOr<std::unique_ptr<Cluster>> OpenClients(
      uint32_t n, const std::string& client,
      const std::function<std::shared_ptr<World>(std::shared_ptr<World>)>&
          wrap);
  // Reports that the clients of the process are gone.
  void EndClients(uint32_t n);

 private:
  SimCluster(const proto::Cluster& cluster, const ClusterOptions& options,
             Parts parts);
  absl::Status Start();
  absl::StatusOr<std::unique_ptr<Cluster>> Open(uint32_t process,
                                                ClientPlaces places,
                                                const ProcessWorld& world);
  uint32_t FirstClientProcess() const;
  int32_t PlaceOfClients(uint32_t n) const {
    return parts_.clients_apart ? -2 - static_cast<int32_t>(n) : -1;
  }

  Cluster& ProcessOf(int32_t host);
  void EndClient(const std::string& client, const absl::Status& why);

  bool is_up(int32_t host) const override { return up_[host]; }
  void Stop(int32_t host, TimeNs tell_after) override;
  void TakeForGone(int32_t host) override;
  void Restart(int32_t host) override;
  void LimitMemory(int32_t host, uint64_t bytes) override;
  void FailDisk(int32_t host, bool writes, bool reads) override;
  void ClientDies(const std::string& client) override;
  std::vector<int32_t> PlacesOfClients(const std::string& name) const override;
  void Disconnect(int32_t place) override;

  const proto::Cluster cluster_;
  ClusterOptions options_;
  const Parts parts_;
  std::vector<int32_t> first_hosts_;
  std::vector<HostLocation> places_;  // current ones
  std::vector<bool> up_;              // index: host
  std::vector<std::string> clients_;  // index: process with only clients
  ProcessWorld world_;
  std::unique_ptr<FaultDriver> driver_;
  std::unique_ptr<Cluster> front_;
  // Current; null: in process 0.
  std::vector<std::unique_ptr<Cluster>> of_host_;
  std::vector<std::unique_ptr<Cluster>> past_;  // processes that were replaced
};

// Returns a simulated cluster that suffers the faults of its options
// (`faults`), for one program and its client.
absl::StatusOr<std::shared_ptr<Cluster>> OpenSimulation(
    const proto::Cluster& cluster, const ClusterOptions& options);

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_SIM_CLUSTER_H_
