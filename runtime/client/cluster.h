//===- cluster.h - What runs programs, in this process ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A controller, a scheduler per island, an executor per host and a queue per
// device, all in this process, on threads or in a simulation; and the clients
// that this process has. Clients load plans, launch them asynchronously and
// fetch results.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CLUSTER_H_
#define RUNTIME_CLIENT_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/client/client.h"
#include "runtime/client/client_context.h"
#include "runtime/client/cluster_options.h"
#include "runtime/client/local_actors.h"
#include "runtime/client/make_world.h"
#include "runtime/client/plan_kernels.h"
#include "runtime/client/process_reporter.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/topology/topology.h"
#include "runtime/trace/trace.h"

namespace pathways {

// Makes the world and the actors that live in this process, and stops them at
// its end, whatever is under way. Outlives its clients. Thread-safe.
class Cluster {
 public:
  // InvalidArgument: the cluster or an option is wrong. ResourceExhausted: the
  // system refused threads, or memory for the trace.
  static absl::StatusOr<std::unique_ptr<Cluster>> Create(
      const proto::Cluster& cluster, const ClusterOptions& options = {});
  // Shutdown.
  ~Cluster();

  // A new client. Waits; for a name whose client was closed, until all that was
  // that client's is given back. AlreadyExists: another client has the name.
  // ResourceExhausted: kMaxProcessClients have been connected.
  absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& name);

  // Firings of action shards so far, on the hosts of this process, for who
  // shows progress: unlike Client::Stats it sends nothing.
  uint64_t firings() const { return reporter_->firings(); }

  // Stops all work. Calls of clients that wait, and later ones that would,
  // return Cancelled. Any thread.
  void Shutdown();

 private:
  Cluster(Topology topology, const ClusterOptions& options);
  absl::Status Start(const ClusterOptions& options);
  void TraceCrossing(const SimCrossing& crossing);
  // On the watchdog's thread.
  void ReportKernel(const KernelCall& call, TimeNs ns);

  const Topology topology_;
  PlanKernels plan_kernels_;
  RuntimeContext runtime_;
  ClientContext clients_;
  std::unique_ptr<LocalActors> actors_;
  std::unique_ptr<ProcessReporter> reporter_;
  std::unique_ptr<Trace> trace_;  // null: not asked for
  ProcessWorld world_;            // destroyed first
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CLUSTER_H_
