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
// Invariants: (1) a number with hosts permanently belongs to those hosts,
// whichever process has them; a number with clients alone belongs to its
// process while that lives, and is not reused soon after; (2) the life of
// hosts, the epoch number that counts their processes, increases with each
// replacement. One owner calls it.
class MemberTable {
 public:
  enum State {
    kComing,  // is linking to the others
    kUp,
    kGone,
  };
  struct Process {
    proto::Member member;
    PeerId peer{};
    State state = kComing;
    bool has_hosts() const { return !member.hosts().empty(); }
  };

  // `topology` must outlive the table. `members`: the processes with hosts,
  // numbered from 1, in their first life, or gone; `peers`: the link of each.
  MemberTable(const Topology* topology,
              const std::vector<proto::Member>& members,
              const std::vector<PeerId>& peers);

  // Adds a process with clients alone. Returns ResourceExhausted if there are
  // too many processes.
  absl::StatusOr<uint32_t> AddClient(PeerId peer, const std::string& epoch);
  // Puts a worker in the place of one that is gone. `hosts`: its hosts,
  // ascending. Returns AlreadyExists if one of them has a worker; or
  // FailedPrecondition if the predecessor had more or fewer hosts, or if the
  // worker has several hosts of which one never had a worker.
  absl::StatusOr<uint32_t> Replace(PeerId peer, const proto::MemberHello& hello,
                                   const std::vector<uint32_t>& hosts);
  // Returns true if a worker of this host alone may take a place.
  bool IsFree(uint32_t host) const;
  // Marks a process as up. Does nothing if there is no such process.
  void SetUp(uint32_t process);
  // Marks a process as gone; a process without hosts leaves the table. Returns
  // false if it was gone already.
  bool Lose(uint32_t process);

  // Returns null if there is no such process, or it has left.
  const Process* Find(uint32_t process) const;
  // Returns the process of a peer, or 0 if it has none or that is gone.
  uint32_t ProcessOf(PeerId peer) const;
  // Returns all processes, by number.
  const std::map<uint32_t, Process>& all() const { return processes_; }
  // Returns the processes with hosts, as a new member is told.
  std::vector<proto::Member> Members() const;
  // Missing returns the hosts whose process is not up; HostsIn, those whose
  // process is in the state. Ascending.
  std::vector<uint32_t> Missing() const;
  std::vector<uint32_t> HostsIn(State state) const;

 private:
  const Topology* topology_;
  std::map<uint32_t, Process> processes_;
  uint32_t last_client_ = 0;  // number given last
};

// Removes what clients must not see, such as the secrets of UCX in addresses.
proto::Member ForClients(proto::Member member);

}  // namespace pathways

#endif  // RUNTIME_NODE_MEMBER_TABLE_H_
