//===- local_actors.h - The actors of a process -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLUSTER_LOCAL_ACTORS_H_
#define RUNTIME_CLUSTER_LOCAL_ACTORS_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/client/client_actor.h"
#include "runtime/cluster/cluster_options.h"
#include "runtime/controller/controller.h"
#include "runtime/device/cohort.h"
#include "runtime/device/device.h"
#include "runtime/executor/host_executor.h"
#include "runtime/program/host_actors.h"
#include "runtime/protocol/client_id.h"
#include "runtime/scheduler/island_scheduler.h"
#include "runtime/trace/trace.h"

namespace pathways {

// Numbers of the clients that a process may have at one time
// (Directory::client), which no other process gives.
struct ClientPlaces {
  uint32_t first = 0;
  uint32_t count = kMaxProcessClients;
  int32_t host = -1;  // where they are (Placement::host)
};

// The actors that live in one process: those of the hosts that the context's
// directory places there, the controller with all schedulers if that is its
// place, and the places of clients. They know each other by messages alone:
// what a host needs is here for that host, and nothing here needs what a client
// has. Outlives the world's last event.
class LocalActors {
 public:
  // An executor and the devices of its host.
  struct Host {
    int number = 0;  // in the cluster
    std::unique_ptr<HostExecutor> executor;
    HostActors actors;
    std::deque<Cohort> cohorts;
    std::vector<std::unique_ptr<Device>> devices;
  };

  // Makes and registers them with the context's world, in the order of the
  // cluster, before its first message.
  LocalActors(RuntimeContext* context, const ClusterOptions& options,
              ClientPlaces places = {});

  // Has them record to `trace`, and names them there.
  void StopSpilling();
  void StartTrace(Trace* trace);

  // Null: it is in another process.
  const Controller* controller() const { return controller_.get(); }
  // Ascending.
  const std::deque<Host>& hosts() const { return hosts_; }
  // By its number in the cluster; null: it is in another process.
  const Host* FindHost(int number) const;
  const std::deque<ClientActor>& clients() const { return clients_; }
  // A place for a client of that name; null: all are taken.
  ClientActor* TakeClient(const std::string& name);
  // Of clients of that name that are leaving. Any thread.
  std::vector<const ClientActor*> LeavingClients(const std::string& name);

 private:
  void AddController(const ClusterOptions& options);
  void AddHost(int host, int worker, const ClusterOptions& options);

  RuntimeContext& context_;
  std::unique_ptr<Controller> controller_;
  std::deque<ClientActor> clients_;
  std::vector<std::unique_ptr<IslandScheduler>> schedulers_;
  std::deque<Host> hosts_;
};

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_LOCAL_ACTORS_H_
