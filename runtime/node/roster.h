//===- roster.h - Who is to be in a cluster, and who has come ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_ROSTER_H_
#define RUNTIME_NODE_ROSTER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/proto/membership.pb.h"
#include "runtime/protocol/directory.h"
#include "runtime/topology/topology.h"
#include "runtime/transport/transport.h"

namespace pathways {

// Of what two processes say to each other; others are refused.
inline constexpr uint32_t kProtocolVersion = 7;
inline constexpr size_t kEpochBytes = 16;
// The controller's process.
inline constexpr uint32_t kControllerProcess = 0;

// FailedPrecondition: whoever says so speaks another version; InvalidArgument:
// it has no epoch. Names both values.
absl::Status CheckHello(const proto::MemberHello& hello);

// Whether a worker says so.
inline bool IsWorker(const proto::MemberHello& hello) {
  return !hello.hosts().empty() || hello.has_any_host();
}

// The controller's list of workers, until as many hosts have come as the
// cluster begins with. Invariants: (1) a host belongs to one worker at most;
// (2) the numbers of processes follow from who has which hosts, not from the
// order in which they came. One owner calls it.
class Roster {
 public:
  // `topology` outlives it.
  explicit Roster(const Topology* topology);

  // The hosts that a worker names, ascending; or the first one that is free
  // and is its kind of machine, if it may be any. FailedPrecondition: it speaks
  // another version, or is another kind of machine than the cluster says;
  // InvalidArgument: it names no host, one twice, no address, a machine that
  // no cluster may have, or hosts though it may be any; NotFound: a host, or
  // island, is not in the cluster; AlreadyExists: none is free.
  absl::StatusOr<std::vector<uint32_t>> HostsOf(
      const proto::MemberHello& hello,
      absl::FunctionRef<bool(uint32_t host)> is_free) const;
  // A worker asks to be in. As HostsOf; FailedPrecondition: it has said
  // hello before; AlreadyExists: another worker has one of the hosts.
  absl::Status Join(PeerId peer, const proto::MemberHello& hello);
  // It is gone before all had come: its hosts are missing again. False: it was
  // not in.
  bool Leave(PeerId peer);

  bool IsHere(uint32_t host) const { return here_[host]; }
  size_t num_here() const { return num_here_; }
  std::string HostName(uint32_t host) const {
    return topology_.HostName(static_cast<int>(host));
  }
  // Hosts that have not come, ascending.
  std::vector<uint32_t> Missing() const;

  // Workers are processes 1 and up, by their first host. Each host that has not
  // come is one for itself, which is gone.
  std::vector<proto::Member> Members() const;
  std::vector<PeerId> Peers() const;  // of process 1, 2, ...
  // From now on a host has the machine that it has now, also when another
  // worker is it; one that has not come is like the first one that has, of its
  // island if it can be. Some have come.
  void FixMachines();
  const proto::Target& MachineOf(uint32_t host) const {
    return kinds_[kind_of_[host]];
  }
  // The cluster for who is on the machine `reader`. A device whose target is
  // open there is on one like that, so where the file leaves it open, and its
  // machine is another one, it gets that. The machines are fixed.
  proto::Cluster ClusterFor(const proto::Target& reader) const;

 private:
  struct Worker {
    PeerId peer;
    proto::MemberHello hello;
    std::vector<uint32_t> hosts;  // ascending
  };
  // Calls visit(first host, worker) for each process, in their order; null: of
  // a host that has not come.
  void ForEachProcess(absl::FunctionRef<void(int, const Worker*)> visit) const;
  absl::Status CheckTarget(int host, const proto::Target& target) const;
  absl::StatusOr<uint32_t> AnyHost(
      const proto::MemberHello& hello,
      absl::FunctionRef<bool(uint32_t host)> is_free) const;
  // Of a machine; added if it is new.
  uint32_t KindOf(const proto::Target& machine);

  const Topology& topology_;
  std::map<std::string, int> host_of_;  // by name
  std::map<int, Worker> workers_;       // by first host
  std::vector<bool> here_;              // by host
  size_t num_here_ = 0;
  std::vector<proto::Target> kinds_;  // of machines, no two the same
  std::vector<uint32_t> kind_of_;     // by host; empty: not fixed
};

// Where everybody is, when these are the members and process 0 has the
// controller.
Directory DirectoryOf(const Topology& topology,
                      const std::vector<proto::Member>& members);
// The process of an actor; -1: nobody's.
int64_t ProcessOf(const Directory& directory, ActorId actor);

}  // namespace pathways

#endif  // RUNTIME_NODE_ROSTER_H_
