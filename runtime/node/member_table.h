//===- member_table.h - The processes of a cluster --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_MEMBER_TABLE_H_
#define RUNTIME_NODE_MEMBER_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/proto/membership.pb.h"
#include "runtime/topology/topology.h"
#include "runtime/transport/transport.h"

namespace pathways {

// The controller's list of the other processes, from when all hosts have come.
// Invariants: (1) a number belongs to one process with certain hosts for ever,
// whoever that is, or to one with clients alone while it lives, and then to
// nobody for long; (2) each life of hosts is larger than the one before. One
// owner calls it.
class MemberTable {
 public:
  enum State {
    kComing,  // links to the others
    kUp,
    kGone,
  };
  struct Process {
    proto::Member member;
    PeerId peer{};
    State state = kComing;
    bool has_hosts() const { return !member.hosts().empty(); }
  };

  // `topology` outlives it. `members`: all who have hosts, as processes 1 and
  // up, in their first life, or gone; `peers`: each of them.
  MemberTable(const Topology* topology,
              const std::vector<proto::Member>& members,
              const std::vector<PeerId>& peers);

  // One with clients alone. ResourceExhausted: there are too many processes.
  absl::StatusOr<uint32_t> AddClient(PeerId peer, const std::string& epoch);
  // A worker in the place of one that is gone. `hosts`: that it names,
  // ascending.
  // AlreadyExists: one of them has a worker; FailedPrecondition: the one that
  // is gone had more hosts, or fewer; or nobody had come for one of several.
  absl::StatusOr<uint32_t> Replace(PeerId peer, const proto::MemberHello& hello,
                                   const std::vector<uint32_t>& hosts);
  // Whether a worker of this host alone may take a place.
  bool IsFree(uint32_t host) const;
  // Does nothing if there is none of that number, or it has left.
  void SetUp(uint32_t process);
  // It is gone; without hosts it leaves the table. False: it was gone before.
  bool Lose(uint32_t process);

  // Null: there is none, or it has left.
  const Process* Find(uint32_t process) const;
  // The one that this peer is; 0: none, or it is gone.
  uint32_t ProcessOf(PeerId peer) const;
  // By number.
  const std::map<uint32_t, Process>& all() const { return processes_; }
  // Those that have hosts, as a process that comes is told.
  std::vector<proto::Member> Members() const;
  // Hosts whose process is not up, ascending; or which is in that state.
  std::vector<uint32_t> Missing() const;
  std::vector<uint32_t> HostsIn(State state) const;

 private:
  const Topology* topology_;
  std::map<uint32_t, Process> processes_;
  uint32_t last_client_ = 0;  // number
};

// As processes with clients alone are told of it: without what workers say to
// each other, such as the secrets of UCX.
proto::Member ForClients(proto::Member member);

}  // namespace pathways

#endif  // RUNTIME_NODE_MEMBER_TABLE_H_
