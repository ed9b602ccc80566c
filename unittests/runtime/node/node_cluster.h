//===- node_cluster.h - A cluster of several processes, in one --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_NODE_NODE_CLUSTER_H_
#define UNITTESTS_RUNTIME_NODE_NODE_CLUSTER_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/steady_time.h"
#include "runtime/node/coordinator.h"
#include "runtime/node/host_options.h"
#include "runtime/node/member.h"
#include "runtime/node/process.h"
#include "runtime/topology/topology.h"
#include "unittests/runtime/test_timeout.h"
#include "unittests/runtime/transport/polled_transport.h"

namespace pathways {

// The controller's process and members, each with a world and links of its own,
// as processes have; a test sees into all of them.
class NodeCluster {
 public:
  // `text`: of the topology. `min_hosts`: as CoordinatorOptions.
  explicit NodeCluster(const std::string& text, int min_hosts = 0)
      : topology_(*Topology::Create(*ReadTopology(text))) {
    CoordinatorOptions options;
    options.min_hosts = min_hosts;
    options.liveness.slow = options.liveness.lost = kTestTimeout;
    options.on_note = [this](const std::string& line) {
      MutexLock lock(&mutex_);
      notes_.push_back(line);
      noted_.notify_all();
    };
    auto process = Process::Create(Factory());
    EXPECT_TRUE(process.ok()) << process.status();
    process_ = *std::move(process);
    EXPECT_TRUE(process_->transport().Listen("local:controller").ok());
    coordinator_ = std::make_unique<Coordinator>(&topology_, process_.get(),
                                                 std::move(options));
  }
  ~NodeCluster() {
    End();
    for (Worker& worker : workers_) Await(&worker);
  }

  // A member with these hosts begins, or with any one of an island.
  void Add(std::vector<std::string> hosts,
           std::optional<std::string> any_host_of = std::nullopt) {
    Worker& worker = workers_.emplace_back();
    MemberOptions options;
    options.connect = "local:controller";
    options.listen = {"local:member" + std::to_string(workers_.size())};
    options.hosts = std::move(hosts);
    options.any_host_of = std::move(any_host_of);
    options.dial_timeout = options.link_timeout = kTestTimeout;
    options.kernels = kernels;
    options.plans = plans;
    auto member = Member::Create(options, Factory(&worker.transport));
    ASSERT_TRUE(member.ok()) << member.status();
    worker.member = *std::move(member);
    worker.thread = std::thread([this, &worker] {
      worker.status = worker.member->Join();
      const bool has_joined = worker.status.ok();
      {
        MutexLock lock(&mutex_);
        worker.joined = has_joined;
        noted_.notify_all();
      }
      if (has_joined) worker.status = worker.member->Serve();
    });
  }
  // All hosts come and are linked.
  absl::Status Begin(const ClusterOptions& options = {}) {
    absl::Status started = Start(options);
    return started.ok() ? Link(options) : started;
  }
  // Its two halves: all hosts come; they are linked. The processes go by the
  // machine's clock, so nothing stalls.
  absl::Status Start(ClusterOptions options = {}) {
    options.stall_timeout_ns = kTestTimeoutNs;
    absl::StatusOr<std::vector<proto::Member>> members =
        coordinator_->AwaitHosts(Soon());
    if (!members.ok()) return members.status();
    return process_->Start(kControllerProcess, coordinator_->ClusterHere(),
                           options, *std::move(members));
  }
  absl::Status Link(const ClusterOptions& options = {}) {
    absl::Status begun = coordinator_->Begin(ToHostOptions(options), Soon());
    if (!begun.ok()) return begun;
    server_ = std::thread([this] { (void)coordinator_->Serve(); });
    return absl::OkStatus();
  }
  // The controller's process ends.
  void End() {
    if (server_.joinable()) {
      process_->inbox().Fail(absl::AbortedError("the test has ended"));
      server_.join();
    }
    process_->Stop();
  }
  // A process with clients alone joins; waits. A member like workers, in the
  // order of the calls.
  Cluster& AddClients() {
    Add({});
    Worker& member = workers_.back();
    MutexLock lock(&mutex_);
    while (!member.joined.has_value()) noted_.wait(mutex_);
    EXPECT_TRUE(*member.joined);
    return member.member->process().cluster();
  }
  // Waits for the member, and returns how it ended.
  absl::Status End(size_t worker) {
    Await(&workers_[worker]);
    return workers_[worker].status;
  }
  // Stops a member; to the other members this looks as if it were killed.
  void Cut(size_t worker) {
    workers_[worker].transport->Stop();
    workers_[worker].member->Stop();
  }
  Member& member(size_t worker) { return *workers_[worker].member; }
  Process& process(size_t worker) { return workers_[worker].member->process(); }

  // Waits until the coordinator has noted a line with `part`; returns it.
  std::string AwaitNote(const std::string& part) {
    MutexLock lock(&mutex_);
    while (true) {
      if (std::optional<std::string> line = FindNote(part)) return *line;
      noted_.wait(mutex_);
    }
  }

  bool Noted(const std::string& part) {
    MutexLock lock(&mutex_);
    return FindNote(part).has_value();
  }

  void ForgetNotes() {
    MutexLock lock(&mutex_);
    notes_.clear();
  }

  // Late enough that only what never comes is missed.
  static SteadyTime Soon() { return SteadyTime::Now() + kTestTimeout; }

  // Options of workers that are added from now on.
  KernelResolver* kernels = nullptr;
  KeptPlans* plans = nullptr;

  // Returns the transports of the processes of this cluster.
  TransportFactory Factory(Transport** made = nullptr) {
    return [this, made](TransportEvents* events)
               -> absl::StatusOr<std::unique_ptr<Transport>> {
      auto transport = std::make_unique<PolledTransport>(
          MakeInProcessTransport(network_, {}, events));
      if (made != nullptr) *made = transport.get();
      return transport;
    };
  }

  Process& process() { return *process_; }
  Coordinator& coordinator() { return *coordinator_; }
  Cluster& cluster() { return process_->cluster(); }

 private:
  struct Worker {
    std::unique_ptr<Member> member;
    Transport* transport = nullptr;  // the member's
    std::optional<bool> joined;      // or not; under mutex_
    absl::Status status;
    std::thread thread;
  };

  std::optional<std::string> FindNote(const std::string& part) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const std::string& line : notes_) {
      if (line.find(part) != std::string::npos) return line;
    }
    return std::nullopt;
  }
  static void Await(Worker* worker) {
    if (worker->thread.joinable()) worker->thread.join();
  }

  const Topology topology_;
  const std::shared_ptr<InProcessNetwork> network_ =
      std::make_shared<InProcessNetwork>();
  std::unique_ptr<Process> process_;
  std::unique_ptr<Coordinator> coordinator_;
  std::thread server_;  // of coordinator_
  Mutex mutex_;
  std::condition_variable_any noted_;
  std::vector<std::string> notes_ ABSL_GUARDED_BY(mutex_);
  std::deque<Worker> workers_;
};

}  // namespace pathways

#endif  // UNITTESTS_RUNTIME_NODE_NODE_CLUSTER_H_
