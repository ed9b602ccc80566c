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

// Range of client numbers (Directory::client) that are reserved for a process;
// it bounds the number of its clients.
struct ClientPlaces {
  uint32_t first = 0;
  uint32_t count = kMaxProcessClients;
  int32_t host = -1;  // place of the clients (Placement::host)
};

// Actors of one process: those of the hosts that the context's directory places
// there, the controller with all schedulers if it is placed there, and the
// addresses of clients. They communicate only by messages: a host has all that
// it needs here, and no actor depends on a client's data. Outlives the world's
// last event.
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

  // Makes the actors and registers them with the context's world, in the order
  // of the cluster, before its first message.
  LocalActors(RuntimeContext* context, const ClusterOptions& options,
              ClientPlaces places = {});

  // StopSpilling stops the executors' threads that spill arrays. StartTrace
  // names the actors in `trace` and has them record to it.
  void StopSpilling();
  void StartTrace(Trace* trace);

  // Returns null if the controller is in another process.
  const Controller* controller() const { return controller_.get(); }
  // Returns the hosts, ascending by number.
  const std::deque<Host>& hosts() const { return hosts_; }
  // Returns a host by its number in the cluster; null if it is in another
  // process.
  const Host* FindHost(int number) const;
  const std::deque<ClientActor>& clients() const { return clients_; }
  // Returns an address for a client of that name; null if all are in use.
  ClientActor* TakeClient(const std::string& name);
  // Returns the addresses of clients of that name that are leaving. Any thread.
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
