//===- cluster.h - The part of a cluster in one process ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The actors of this process: a controller, a scheduler per island, an executor
// per host and a queue per device, on threads or in a simulation; and the
// clients of this process, which load plans, launch them asynchronously and
// fetch results.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLUSTER_CLUSTER_H_
#define RUNTIME_CLUSTER_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/binding/plan_index.h"
#include "runtime/client/client.h"
#include "runtime/client/client_context.h"
#include "runtime/cluster/cluster_options.h"
#include "runtime/cluster/local_actors.h"
#include "runtime/cluster/make_world.h"
#include "runtime/cluster/plan_kernels.h"
#include "runtime/cluster/process_reporter.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/topology/topology.h"
#include "runtime/trace/trace.h"

namespace pathways {

class MemoryDisk;

// The part of a cluster that is in this process; by default, all of it.
struct ProcessPart {
  // Locations of all actors, the same in all processes; nullopt: all are here.
  std::optional<Directory> directory;
  uint32_t process = 0;  // number in the directory; a new one has only clients
  ClientPlaces places;
  // Makes the world, which delivers messages from other processes only after
  // Create has returned. Empty: the cluster makes one as the options say.
  std::function<absl::StatusOr<ProcessWorld>(WorldListeners)> make_world;
  // Called in the controller's process when a worker of a host was lost with a
  // kernel that did not return, in epoch `life` of the host. Runs on a worker,
  // perhaps more than once.
  std::function<void(int32_t host, uint32_t life, const absl::Status& why)>
      on_worker_lost;
};

// Makes the world and the actors of this process. The destructor stops them,
// even while work is in flight. Outlives its clients. Thread-safe.
class Cluster {
 public:
  // Returns InvalidArgument if the cluster or an option is wrong;
  // ResourceExhausted if the system refused threads, or memory for the trace.
  static absl::StatusOr<std::unique_ptr<Cluster>> Create(
      const proto::Cluster& cluster, const ClusterOptions& options = {},
      const ProcessPart& part = {});
  // Calls Shutdown.
  ~Cluster();

  // Returns a new client. Waits; if a client of that name was closed, until
  // everything that it had is given back. Returns AlreadyExists if another
  // client has the name; ResourceExhausted if this process has no place for
  // another client; InvalidArgument if an option is out of range.
  absl::StatusOr<std::unique_ptr<Client>> Connect(
      const std::string& name, const ClientOptions& options = {});

  // Limits the memory of a host of this process for programs and arrays; a
  // limit above the host's bound restores all of it. Must be called in a
  // simulation, from a handler.
  void LimitHostMemory(int32_t host, uint64_t bytes);

  // Returns how often action shards have fired on the hosts of this process, to
  // show progress: unlike Client::Stats it sends nothing.
  uint64_t firings() const { return reporter_->firings(); }

  // Gives up what the clients of a process had, since all of them are gone.
  // Must be called in the controller's process, which that process was linked
  // to; any thread.
  void ReportClientsGone(uint32_t process);

  // Makes a simulated host of this process fail, or no longer fail, to write
  // and read the files of spilled arrays.
  void FailSpillDisk(int32_t host, bool writes, bool reads);

  // Returns the state of the controller, which must be in this process. Returns
  // DeadlineExceeded if it does not answer in time. Any thread.
  absl::StatusOr<proto::ControllerStatus> Describe(absl::Duration timeout);

  // Passes plans that came from other processes to another cluster of the same
  // machines, hosts of this process and options. TakePlans takes them from a
  // cluster that is shut down; KeepPlans gives them to one that has received
  // none yet.
  std::vector<KeptPlan> TakePlans() { return runtime_.plans.TakeKept(); }
  void KeepPlans(std::vector<KeptPlan> plans);

  // Stops all work. Calls of clients that wait, and later ones that would wait,
  // return the `why` of the first Shutdown. Any thread.
  void Shutdown(
      absl::Status why = absl::CancelledError("the runtime was shut down"));

  // Returns true if a kernel here exceeded its time limit. Any thread.
  bool has_lost_workers() const {
    return world_.threads != nullptr && world_.threads->lost() > 0;
  }
  // Returns true if the cluster is a simulation.
  bool simulated() const { return world_.world->simulated(); }
  const Topology& topology() const { return topology_; }
  // Returns true if ClusterOptions::trace_events is not 0.
  bool traced() const { return runtime_.traced; }
  // Returns the time of this process's world: virtual, or real since creation.
  TimeNs Now() const { return world_.world->Now(); }
  // Returns the number of this process.
  uint32_t process() const { return runtime_.process; }

 private:
  Cluster(Topology topology, const ClusterOptions& options,
          const ProcessPart& part);
  absl::Status Start(const ClusterOptions& options, const ProcessPart& part);
  // Opens the disks of this process's hosts, if they spill arrays.
  absl::Status OpenSpillDisks();
  Placement ReporterPlacement() const;
  void TraceCrossing(const SimCrossing& crossing);
  // Reports long work to the controller in another process. Any thread.
  void NotifyLongWork(const LongWork& work);
  // Runs on the watchdog's thread.
  void ReportKernel(const KernelCall& call, TimeNs ns);

  const Topology topology_;
  const ClientPlaces places_;
  PlanKernels plan_kernels_;
  RuntimeContext runtime_;
  ClientContext clients_;
  // Disks of simulated hosts, by host; their executors own them.
  std::map<int32_t, MemoryDisk*> memory_disks_;
  std::unique_ptr<LocalActors> actors_;
  std::unique_ptr<ProcessReporter> reporter_;
  std::unique_ptr<Trace> trace_;  // null: not requested
  Mutex shutdown_;
  ProcessWorld world_;  // destroyed first
};

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_CLUSTER_H_
