//===- cluster.h - What runs programs, in this process ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A controller, a scheduler per island, an executor per host and a queue per
// device, those of them that are in this process, on threads or in a
// simulation; and the clients that this process has. Clients load plans, launch
// them asynchronously and fetch results.
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

// Which part of a cluster is in this process; without more, all of it.
struct ProcessPart {
  // Where everybody is, the same in all processes; nullopt: all is here.
  std::optional<Directory> directory;
  uint32_t process = 0;  // this one, of the directory's; another: clients alone
  ClientPlaces places;
  // The world, which brings what actors of other processes send when Create has
  // returned, and not before; empty: one of its own, as the options say.
  std::function<absl::StatusOr<ProcessWorld>(WorldListeners)> make_world;
  // In the controller's process: a worker of a host was lost with a kernel that
  // did not return, in that life of the host. On a worker, perhaps more than
  // once.
  std::function<void(int32_t host, uint32_t life, const absl::Status& why)>
      on_worker_lost;
};

// Makes the world and the actors that live in this process, and stops them at
// its end, whatever is under way. Outlives its clients. Thread-safe.
class Cluster {
 public:
  // InvalidArgument: the cluster or an option is wrong. ResourceExhausted: the
  // system refused threads, or memory for the trace.
  static absl::StatusOr<std::unique_ptr<Cluster>> Create(
      const proto::Cluster& cluster, const ClusterOptions& options = {},
      const ProcessPart& part = {});
  // Shutdown.
  ~Cluster();

  // A new client. Waits; for a name whose client was closed, until all that was
  // that client's is given back. AlreadyExists: another client has the name.
  // ResourceExhausted: the places of this process are taken. InvalidArgument:
  // an option is out of range.
  absl::StatusOr<std::unique_ptr<Client>> Connect(
      const std::string& name, const ClientOptions& options = {});

  // In a simulation, from a handler: a host of this process has only so many
  // bytes for programs and arrays; more than its bound: all that it has.
  void LimitHostMemory(int32_t host, uint64_t bytes);

  // Firings of action shards so far, on the hosts of this process, for who
  // shows progress: unlike Client::Stats it sends nothing.
  uint64_t firings() const { return reporter_->firings(); }

  // All clients of that process, which was linked to this one, are gone: what
  // they had is given up. In the controller's process; any thread.
  void ReportClientsGone(uint32_t process);

  // Whether files of arrays that leave the memory of a simulated host, of this
  // process, can be written and read.
  void FailSpillDisk(int32_t host, bool writes, bool reads);

  // What the controller, in this process, has. DeadlineExceeded: it has not
  // said so in time. Any thread.
  absl::StatusOr<proto::ControllerStatus> Describe(absl::Duration timeout);

  // The plans that came from other processes, for another cluster of the same
  // machines, hosts of this process and options. Of one that is shut down, and
  // of one that nothing has come to yet.
  std::vector<KeptPlan> TakePlans() { return runtime_.plans.TakeKept(); }
  void KeepPlans(std::vector<KeptPlan> plans);

  // Stops all work. Calls of clients that wait, and later ones that would,
  // return `why`, of the first call. Any thread.
  void Shutdown(
      absl::Status why = absl::CancelledError("the runtime was shut down"));

  // A kernel here did not return for the time that it may take. Any thread.
  bool has_lost_workers() const {
    return world_.threads != nullptr && world_.threads->lost() > 0;
  }
  const Topology& topology() const { return topology_; }
  // ClusterOptions::trace_events of the cluster are some.
  bool traced() const { return runtime_.traced; }
  // Of the world of this process: virtual or real, since creation.
  TimeNs Now() const { return world_.world->Now(); }
  // Its number.
  uint32_t process() const { return runtime_.process; }

 private:
  Cluster(Topology topology, const ClusterOptions& options,
          const ProcessPart& part);
  absl::Status Start(const ClusterOptions& options, const ProcessPart& part);
  // Of the hosts of this process, if they spill.
  absl::Status OpenSpillDisks();
  Placement ReporterPlacement() const;
  void TraceCrossing(const SimCrossing& crossing);
  // Tells the controller, which is in another process. Any thread.
  void NotifyLongWork(const LongWork& work);
  // On the watchdog's thread.
  void ReportKernel(const KernelCall& call, TimeNs ns);

  const Topology topology_;
  const ClientPlaces places_;
  PlanKernels plan_kernels_;
  RuntimeContext runtime_;
  ClientContext clients_;
  // Of simulated hosts, whose executors own them; by host.
  std::map<int32_t, MemoryDisk*> memory_disks_;
  std::unique_ptr<LocalActors> actors_;
  std::unique_ptr<ProcessReporter> reporter_;
  std::unique_ptr<Trace> trace_;  // null: not asked for
  Mutex shutdown_;
  ProcessWorld world_;  // destroyed first
};

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_CLUSTER_H_
