//===- local_workers.h - A cluster in processes of its own ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_LOCAL_WORKERS_H_
#define RUNTIME_NODE_LOCAL_WORKERS_H_

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/cluster/cluster.h"
#include "runtime/node/child_processes.h"
#include "runtime/node/coordinator.h"
#include "runtime/node/process.h"
#include "runtime/proto/cluster.pb.h"

namespace pathways {

struct LocalOptions {
  int processes = 1;    // that share the cluster's hosts, in order
  std::string pw_node;  // the program; empty: FindNodeProgram
  absl::Duration start_timeout = absl::Seconds(60);
};

// A cluster whose controller and clients are in this process, and whose hosts
// are in others on this machine, which this starts, and ends when it ends,
// however that comes about. Where workers are bound to cores, each process has
// a share of those that this one may use. A worker that ends before is started
// again, as long as it gets as far as to be there: after kMostInVain times in a
// row that it does not, its hosts stay gone.
class LocalWorkers {
 public:
  static constexpr int kMostInVain = 3;

  // InvalidArgument: fewer processes than one or more than hosts, or as
  // Cluster::Create; NotFound: no such program; Unavailable: a worker ended of
  // itself before all had come, or was killed too often; or said no;
  // DeadlineExceeded: one did not come, names its hosts.
  static absl::StatusOr<std::unique_ptr<LocalWorkers>> Start(
      const proto::Cluster& cluster, const ClusterOptions& options,
      const LocalOptions& local);
  ~LocalWorkers();

  Cluster& cluster() { return process_->cluster(); }

 private:
  enum Phase {
    kComing,   // who says no ends it all
    kLinking,  // who ends too often does, and before
    kRunning,
    kClosing,  // they are to end
  };
  struct Worker {
    std::vector<std::string> hosts, command;
    int in_vain = 0;  // since it was there
  };
  LocalWorkers(Topology topology, int core_shares)
      : topology_(std::move(topology)), core_shares_(core_shares) {}
  absl::Status StartWorker(size_t worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnExit(int child, const std::string& how, bool killed);
  // Nobody is waited for that does not come.
  void GiveUp(const Worker& worker, const std::string& how);
  void Enter(Phase phase);

  const Topology topology_;
  const int core_shares_;  // of which each worker has one; 0: all have all
  std::unique_ptr<Process> process_;
  std::unique_ptr<Coordinator> coordinator_;
  std::thread server_;  // of coordinator_, once it has begun
  Mutex mutex_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = kComing;
  std::vector<Worker> workers_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> worker_of_ ABSL_GUARDED_BY(mutex_);  // by child
  std::unique_ptr<ChildProcesses> children_;  // before the process goes
};

// A cluster in as many processes as the options say. As Cluster::Create or
// LocalWorkers::Start; InvalidArgument: options that only one process has.
absl::StatusOr<std::shared_ptr<Cluster>> OpenCluster(
    const proto::Cluster& cluster, const ClusterOptions& options);

// "pw-node" beside the program that runs, if it is there, else along PATH.
std::string FindNodeProgram();

}  // namespace pathways

#endif  // RUNTIME_NODE_LOCAL_WORKERS_H_
