//===- coordinator.h - Brings the workers of a cluster together -*- C++ -*-===//
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
  // How many hosts the cluster begins with; the others may come whenever they
  // like, and until then are as those that are gone. 0: all.
  int min_hosts = 0;
  LivenessOptions liveness;
  // Told in a line what happens to members. In the calls; must not call back.
  std::function<void(const std::string& line)> on_note;
  // Told when a worker is there, by its number. Likewise.
  std::function<void(uint32_t process)> on_worker;
};

// The controller's side of membership: first all hosts come, or as many as are
// enough, then each worker is told of all others and links to them, then
// programs may run, clients come and go, and workers take the places of others
// that are gone, or have not come before. Workers that may be any host wait as
// spares while none is free. It alone says that a process is gone: when its
// link broke, it was silent for too long, another member cannot reach it, or a
// kernel there does not return. Calls are made in this order, by one thread.
class Coordinator {
 public:
  // Both outlive it.
  Coordinator(const Topology* topology, Process* process,
              CoordinatorOptions options = {});

  // Waits until each host has a worker, or enough have. DeadlineExceeded: names
  // the hosts that have none. InvalidArgument: the cluster has fewer hosts than
  // are to be enough. Who asks for what it cannot have is refused, and the wait
  // goes on.
  absl::StatusOr<std::vector<proto::Member>> AwaitHosts(SteadyTime until);
  // The cluster of those who have come, to start the process with.
  proto::Cluster ClusterHere() const;
  // Links all workers and waits until each is linked to all others. Where one
  // goes meanwhile, and too few are left, whoever takes its place is waited
  // for. The process has been started. DeadlineExceeded: names the hosts whose
  // worker is not linked.
  absl::Status Begin(const proto::HostOptions& options, SteadyTime until);
  // Goes on until the process's inbox fails, and returns why.
  absl::Status Serve();

 private:
  struct BrokenLink {
    std::pair<uint32_t, uint32_t> ends;
    std::string why;
    // Answers that each end has given since.
    std::pair<int, int> answers = {0, 0};
  };

  // Takes one event, and the time, no longer than until then. False: none came.
  absl::StatusOr<bool> Step(SteadyTime until);
  void Handle(const MembershipEvent& event);
  // A kernel of a member does not return: its process is given up.
  void OnStuck(const MembershipEvent& event);
  void HandleSaid(uint32_t process, const proto::Membership& said);
  void Refuse(PeerId peer, const absl::Status& why);
  // Whoever asks goes then.
  void NotifyStatus(PeerId peer);
  // What a process says that is no member, and neither asks nor greets.
  void HandleStranger(const MembershipEvent& event);
  void Admit(PeerId peer, const proto::MemberHello& hello);
  // A worker cannot be in now: waits as a spare, or is refused.
  void KeepOrRefuse(PeerId peer, const proto::MemberHello& hello,
                    const absl::Status& why);
  // A host may have become free.
  void TakeSpare();
  // Hosts that the worker may be now.
  absl::StatusOr<std::vector<uint32_t>> HostsFor(
      const proto::MemberHello& hello) const;
  // Whether the peer waited, as a client or a spare; it does no longer.
  bool Forget(PeerId peer);
  // Links to a process that the table has, on that machine, and says Welcome.
  absl::Status Welcome(uint32_t process, const proto::Target& machine);
  void Lose(uint32_t process, const absl::Status& why);
  void Tick(absl::Duration passed);
  // A member says that it cannot reach another one.
  void OnLinkBroken(uint32_t process, const proto::LinkBroken& broken);
  void OnPong(uint32_t process);
  // The process, or each of those with hosts, that are not gone.
  void Notify(uint32_t process, const proto::Membership& message);
  void NotifyWorkers(const proto::Membership& message, uint32_t but);
  void NotifyAll(const proto::Membership& message, uint32_t but);
  // Hosts that the cluster begins with.
  size_t num_enough() const;
  // Whether as many are linked, and nobody else is about to be.
  bool AreEnoughLinked() const;
  // For whom clients wait.
  std::string NotYetText() const;
  // Those that wait are told, if it is another than before.
  void NotifyEarly();
  void NotifyNotYet(PeerId peer, const std::string& whom);
  // By its hosts.
  std::string NameOf(uint32_t process) const;
  void Note(const std::string& line) const;

  const Topology& topology_;
  Process& process_;
  const CoordinatorOptions options_;
  Roster roster_;
  MemberTable table_;
  Liveness liveness_;
  proto::HostOptions host_options_;
  // Clients that came before there was anything to link to.
  std::deque<std::pair<PeerId, proto::MemberHello>> early_;
  std::string not_yet_;  // what those were told last
  // Workers that may be any host, while none is free.
  std::deque<std::pair<PeerId, proto::MemberHello>> spares_;
  std::vector<BrokenLink> broken_;
  // Workers are told of each other; from then on the table has them.
  bool linking_ = false;
  bool begun_ = false;
  SteadyTime last_tick_;
};

}  // namespace pathways

#endif  // RUNTIME_NODE_COORDINATOR_H_
