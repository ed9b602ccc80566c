//===- coordinator.h - The controller's side of membership ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_COORDINATOR_H_
#define RUNTIME_NODE_COORDINATOR_H_

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/steady_time.h"
#include "runtime/node/liveness.h"
#include "runtime/node/member_table.h"
#include "runtime/node/process.h"
#include "runtime/node/roster.h"
#include "runtime/proto/membership.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

struct CoordinatorOptions {
  // Number of hosts with which the cluster begins; 0: all. Other hosts may come
  // at any time, and until then count as gone.
  int min_hosts = 0;
  LivenessOptions liveness;
  // Called with a line of text for each event of a member, within the
  // coordinator's calls. Must not call back.
  std::function<void(const std::string& line)> on_note;
  // Called with the number of a worker when it is up, within the coordinator's
  // calls. Must not call back.
  std::function<void(uint32_t process)> on_worker;
};

// The controller's side of membership. First all hosts come, or as many as are
// enough. Then each worker is told of all others and links to them. Then
// programs may run, clients come and go, and workers replace others that are
// gone or have not come yet. Workers that may be any host wait as spares while
// none is free. Only the coordinator declares a process gone: its link broke,
// it was silent for too long, another member cannot reach it, or a kernel there
// does not return. One thread makes the calls, in this order.
class Coordinator {
 public:
  // `topology` and `process` must outlive the coordinator.
  Coordinator(const Topology* topology, Process* process,
              CoordinatorOptions options = {});

  // Waits until each host, or enough hosts, have a worker. Returns
  // DeadlineExceeded, with the hosts that have none; or InvalidArgument if
  // min_hosts exceeds the cluster's hosts. A process whose request is invalid
  // is refused, and the wait continues.
  absl::StatusOr<std::vector<proto::Member>> AwaitHosts(SteadyTime until);
  // Returns the cluster as this process sees it, with the machines of the
  // workers that have come. Process::Start takes it.
  proto::Cluster ClusterHere() const;
  // Links all workers and waits until each is linked to all others. If a worker
  // goes and too few are left, waits for its replacement. Process::Start must
  // have been called. Returns DeadlineExceeded, with the hosts whose worker is
  // not linked.
  absl::Status Begin(const proto::HostOptions& options, SteadyTime until);
  // Serves members until the process's inbox fails, and returns why.
  absl::Status Serve();

 private:
  struct BrokenLink {
    std::pair<uint32_t, uint32_t> ends;
    std::string why;
    // Pongs from each end since the report.
    std::pair<int, int> answers = {0, 0};
  };

  // Handles at most one event, and the tick, waiting no longer than `until`.
  // Returns false if no event came.
  absl::StatusOr<bool> Step(SteadyTime until);
  void Handle(const MembershipEvent& event);
  // Gives up a member's process, because a kernel there does not return.
  void OnStuck(const MembershipEvent& event);
  void HandleSaid(uint32_t process, const proto::Membership& said);
  void Refuse(PeerId peer, const absl::Status& why);
  // Sends the status to `peer`, and closes its link.
  void NotifyStatus(PeerId peer);
  // Handles a message of a process that is no member, other than a hello or a
  // status request.
  void HandleStranger(const MembershipEvent& event);
  void Admit(PeerId peer, const proto::MemberHello& hello);
  // Handles a worker for which no host is free: keeps it as a spare, or refuses
  // it.
  void KeepOrRefuse(PeerId peer, const proto::MemberHello& hello,
                    const absl::Status& why);
  // Admits a spare if a host has become free for it.
  void TakeSpare();
  // Returns the hosts that the worker may be now.
  absl::StatusOr<std::vector<uint32_t>> HostsFor(
      const proto::MemberHello& hello) const;
  // Removes a peer that waited as a client or a spare. Returns true if it did.
  bool Forget(PeerId peer);
  // Links to a process of the table, which runs on `machine`, and sends
  // Welcome.
  absl::Status Welcome(uint32_t process, const proto::Target& machine);
  void Lose(uint32_t process, const absl::Status& why);
  void Tick(absl::Duration passed);
  // A member reports that it cannot reach another one.
  void OnLinkBroken(uint32_t process, const proto::LinkBroken& broken);
  void OnPong(uint32_t process);
  // Send a message to one process; to all workers; or to all processes. Skip
  // those that are gone, and process `but`.
  void Notify(uint32_t process, const proto::Membership& message);
  void NotifyWorkers(const proto::Membership& message, uint32_t but);
  void NotifyAll(const proto::Membership& message, uint32_t but);
  // Returns the number of hosts with which the cluster begins.
  size_t num_enough() const;
  // Returns true if so many hosts are linked and no other worker is linking.
  bool AreEnoughLinked() const;
  // Returns what clients that came early wait for.
  std::string NotYetText() const;
  // Sends this text to the early clients if it has changed.
  void NotifyEarly();
  void NotifyNotYet(PeerId peer, const std::string& whom);
  // Names a process by its hosts.
  std::string NameOf(uint32_t process) const;
  void Note(const std::string& line) const;

  const Topology& topology_;
  Process& process_;
  const CoordinatorOptions options_;
  Roster roster_;
  MemberTable table_;
  Liveness liveness_;
  proto::HostOptions host_options_;
  // Clients that came before the cluster had begun.
  std::deque<std::pair<PeerId, proto::MemberHello>> early_;
  std::string not_yet_;  // text that they were last sent
  // Workers that may be any host, while none is free.
  std::deque<std::pair<PeerId, proto::MemberHello>> spares_;
  std::vector<BrokenLink> broken_;
  // True once workers are told of each other; from then on table_ has them.
  bool linking_ = false;
  bool begun_ = false;
  SteadyTime last_tick_;
};

}  // namespace pathways

#endif  // RUNTIME_NODE_COORDINATOR_H_
