//===- process.h - What links a process to others ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_PROCESS_H_
#define RUNTIME_NODE_PROCESS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cluster/cluster.h"
#include "runtime/node/membership_inbox.h"
#include "runtime/node/roster.h"
#include "runtime/transport/transport.h"
#include "runtime/world/process_links.h"

namespace pathways {

// Makes what moves a process's bytes; it tells `events`, which outlives it.
using TransportFactory =
    std::function<absl::StatusOr<std::unique_ptr<Transport>>(
        TransportEvents* events)>;

// The links of one process, and the part of the cluster that it is. Invariants:
// (1) no message comes in before Start has returned; (2) the world is told of
// hosts that went, or have come, by Lose and Come alone, whatever happens to
// links; (3) when Stop has returned nothing moves any more. One thread makes
// the calls.
class Process {
 public:
  // As `make` says.
  static absl::StatusOr<std::unique_ptr<Process>> Create(
      const TransportFactory& make);
  ~Process();

  // Makes the actors that the members leave to process `self`, which has
  // clients alone when it is none of them, and not the controller's. As
  // Cluster::Create; InvalidArgument: the members are not those of the cluster.
  absl::Status Start(uint32_t self, const proto::Cluster& cluster,
                     const ClusterOptions& options,
                     std::vector<proto::Member> members);
  // Whoever this was, nothing of it counts any more. From Start on, as Come.
  void Lose(uint32_t process);
  // A member in the place of one that is gone; it has been linked.
  void Come(const proto::Member& member);
  void Send(PeerId peer, const proto::Membership& message);
  // Ends links and work. Idempotent.
  void Stop();
  // Likewise; clients of this process are told that.
  void Fail(absl::Status why);

  Transport& transport() { return *transport_; }
  ProcessLinks& links() { return links_; }
  MembershipInbox& inbox() { return inbox_; }
  // From Start on.
  Cluster& cluster() { return *cluster_; }
  const std::vector<proto::Member>& members() const { return members_; }

 private:
  Process();
  void OnMembership(PeerId peer, std::string_view bytes);

  MembershipInbox inbox_;
  ProcessLinks links_;
  std::vector<proto::Member> members_;  // process 1, 2, ...
  Directory directory_;
  World* world_ = nullptr;  // the cluster's
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Transport> transport_;  // destroyed first
};

// Of the members, that each host of the topology is there once, and processes
// count from 1. InvalidArgument: what is wrong.
absl::Status CheckMembers(const Topology& topology,
                          const std::vector<proto::Member>& members);

}  // namespace pathways

#endif  // RUNTIME_NODE_PROCESS_H_
