//===- process.h - Links of a process to others -----------------*- C++ -*-===//
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

// Makes the transport of a process, which reports to `events`. `events` must
// outlive it.
using TransportFactory =
    std::function<absl::StatusOr<std::unique_ptr<Transport>>(
        TransportEvents* events)>;

// The links of one process, and the process's part of the cluster. Invariants:
// (1) no message is delivered before Start has returned; (2) the world is told
// of hosts that went or came by Lose and Come alone, whatever happens to links;
// (3) nothing moves after Stop has returned. One thread makes the calls.
class Process {
 public:
  // Errors are those of `make`.
  static absl::StatusOr<std::unique_ptr<Process>> Create(
      const TransportFactory& make);
  ~Process();

  // Creates the actors of process `self`: those of its hosts, or of clients
  // alone if it is not a member, or the controller's. Returns InvalidArgument
  // if the members do not match the cluster; or the errors of Cluster::Create.
  absl::Status Start(uint32_t self, const proto::Cluster& cluster,
                     const ClusterOptions& options,
                     std::vector<proto::Member> members);
  // Ends the link to a process, and reports its hosts as down. Call Lose and
  // Come after Start.
  void Lose(uint32_t process);
  // Reports the hosts of a replacement as up. It has been linked.
  void Come(const proto::Member& member);
  void Send(PeerId peer, const proto::Membership& message);
  // Ends links and work. Idempotent.
  void Stop();
  // Stops, and passes the reason to the clients of this process.
  void Fail(absl::Status why);

  Transport& transport() { return *transport_; }
  ProcessLinks& links() { return links_; }
  MembershipInbox& inbox() { return inbox_; }
  // Valid after Start.
  Cluster& cluster() { return *cluster_; }
  const std::vector<proto::Member>& members() const { return members_; }

 private:
  Process();
  void OnMembership(PeerId peer, std::string_view bytes);

  MembershipInbox inbox_;
  ProcessLinks links_;
  std::vector<proto::Member> members_;  // processes 1, 2, ...
  Directory directory_;
  World* world_ = nullptr;  // owned by the cluster
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Transport> transport_;  // destroyed first
};

// Checks that processes are numbered from 1 and each host of the topology
// belongs to one of them. Returns InvalidArgument with the violation.
absl::Status CheckMembers(const Topology& topology,
                          const std::vector<proto::Member>& members);

}  // namespace pathways

#endif  // RUNTIME_NODE_PROCESS_H_
