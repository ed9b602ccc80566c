//===- local_workers.h - Local clusters of several processes ----*- C++ -*-===//
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
  int processes = 1;    // processes that share the cluster's hosts, in order
  std::string pw_node;  // path; empty: FindNodeProgram
  absl::Duration start_timeout = absl::Seconds(60);
};

// A cluster whose controller and clients are in this process, and whose hosts
// are in child processes on this machine. The children are started here, and
// end when this process ends, for whatever reason. If workers are bound to
// cores, each process gets a share of the cores of this process. A worker that
// ends is started again, as long as it comes up: after kMostInVain failed
// starts in a row its hosts stay gone.
class LocalWorkers {
 public:
  static constexpr int kMostInVain = 3;

  // Starts the processes and waits until all are linked. Returns
  // InvalidArgument if there are fewer processes than one or more than hosts;
  // NotFound if there is no such program; Unavailable if a worker ended by
  // itself before all had come, was killed too often, or refused;
  // DeadlineExceeded, with the hosts, if a worker did not come; or the errors
  // of Cluster::Create.
  static absl::StatusOr<std::unique_ptr<LocalWorkers>> Start(
      const proto::Cluster& cluster, const ClusterOptions& options,
      const LocalOptions& local);
  ~LocalWorkers();

  Cluster& cluster() { return process_->cluster(); }

 private:
  enum Phase {
    kComing,   // a worker that exits by itself ends the start
    kLinking,  // until here, one that fails too often ends it
    kRunning,
    kClosing,  // workers are to end
  };
  struct Worker {
    std::vector<std::string> hosts, command;
    int in_vain = 0;  // exits since it was last up
  };
  LocalWorkers(Topology topology, int core_shares)
      : topology_(std::move(topology)), core_shares_(core_shares) {}
  absl::Status StartWorker(size_t worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnExit(int child, const std::string& how, bool killed);
  // Ends the start: nobody waits for this worker any more.
  void GiveUp(const Worker& worker, const std::string& how);
  void Enter(Phase phase);

  const Topology topology_;
  // Number of shares of cores, one for each worker; 0: no shares.
  const int core_shares_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<Coordinator> coordinator_;
  std::thread server_;  // runs coordinator_->Serve()
  Mutex mutex_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = kComing;
  std::vector<Worker> workers_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> worker_of_ ABSL_GUARDED_BY(mutex_);  // by child
  std::unique_ptr<ChildProcesses> children_;  // destroyed before process_
};

// Opens a cluster in as many processes as the options say. Errors are those of
// Cluster::Create or LocalWorkers::Start. Returns InvalidArgument for options
// that only a cluster of one process supports.
absl::StatusOr<std::shared_ptr<Cluster>> OpenCluster(
    const proto::Cluster& cluster, const ClusterOptions& options);

// Returns the path of the "pw-node" beside the shared library that this is part
// of, in the folder bin beside that library's, or beside the running program:
// the first one that exists. Otherwise "pw-node", which is searched along PATH.
std::string FindNodeProgram();

}  // namespace pathways

#endif  // RUNTIME_NODE_LOCAL_WORKERS_H_
