//===- roster.h - Workers that a cluster begins with ------------*- C++ -*-===//
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

// Version of the messages between processes. Processes of other versions are
// refused.
inline constexpr uint32_t kProtocolVersion = 7;
inline constexpr size_t kEpochBytes = 16;
// Number of the controller's process.
inline constexpr uint32_t kControllerProcess = 0;

// Returns FailedPrecondition if the hello has another protocol version, or
// InvalidArgument if its epoch has the wrong size; with both values.
absl::Status CheckHello(const proto::MemberHello& hello);

// Returns true if the hello is from a worker.
inline bool IsWorker(const proto::MemberHello& hello) {
  return !hello.hosts().empty() || hello.has_any_host();
}

// The controller's list of workers, until as many hosts have come as the
// cluster begins with. Invariants: (1) a host belongs to at most one worker;
// (2) process numbers depend only on which worker has which hosts, not on the
// order in which they came. One owner calls it.
class Roster {
 public:
  // `topology` must outlive the roster.
  explicit Roster(const Topology* topology);

  // Returns the hosts that a worker names, ascending; or, if it may be any
  // host, the first free one whose machine it matches. Returns
  // FailedPrecondition if the worker has another protocol version, or another
  // kind of machine than the cluster says; InvalidArgument if it names no host,
  // a host twice, no address, a machine that no cluster may have, or hosts
  // though it may be any; NotFound if a host or island is not in the cluster;
  // or AlreadyExists if no host is free.
  absl::StatusOr<std::vector<uint32_t>> HostsOf(
      const proto::MemberHello& hello,
      absl::FunctionRef<bool(uint32_t host)> is_free) const;
  // Adds a worker. Returns the errors of HostsOf; FailedPrecondition if this
  // peer has joined before; or AlreadyExists if another worker has one of the
  // hosts.
  absl::Status Join(PeerId peer, const proto::MemberHello& hello);
  // Removes a worker that went before all had come; its hosts are missing
  // again. Returns false if the peer had not joined.
  bool Leave(PeerId peer);

  bool IsHere(uint32_t host) const { return here_[host]; }
  size_t num_here() const { return num_here_; }
  std::string HostName(uint32_t host) const {
    return topology_.HostName(static_cast<int>(host));
  }
  // Returns the hosts that have not come, ascending.
  std::vector<uint32_t> Missing() const;

  // Returns the workers as processes 1 and up, ordered by their first host.
  // Each host that has not come is a process of its own, which is gone.
  std::vector<proto::Member> Members() const;
  std::vector<PeerId> Peers() const;  // of processes 1, 2, ...
  // Fixes the machine of each host for all its later workers. A host that has
  // not come gets the machine of the first host that has, of its own island if
  // possible. At least one host must have come.
  void FixMachines();
  const proto::Target& MachineOf(uint32_t host) const {
    return kinds_[kind_of_[host]];
  }
  // Returns the cluster description for a reader on the machine `reader`. A
  // device without a target is on the reader's kind of machine, so a device on
  // another kind gets that as its target. FixMachines must have been called.
  proto::Cluster ClusterFor(const proto::Target& reader) const;

 private:
  struct Worker {
    PeerId peer;
    proto::MemberHello hello;
    std::vector<uint32_t> hosts;  // ascending
  };
  // Calls visit(first host, worker) for each process, in order; the worker is
  // null for a host that has not come.
  void ForEachProcess(absl::FunctionRef<void(int, const Worker*)> visit) const;
  absl::Status CheckTarget(int host, const proto::Target& target) const;
  absl::StatusOr<uint32_t> AnyHost(
      const proto::MemberHello& hello,
      absl::FunctionRef<bool(uint32_t host)> is_free) const;
  // Returns the kind of a machine, and adds it if it is new.
  uint32_t KindOf(const proto::Target& machine);

  const Topology& topology_;
  std::map<std::string, int> host_of_;  // by name
  std::map<int, Worker> workers_;       // by first host
  std::vector<bool> here_;              // by host
  size_t num_here_ = 0;
  std::vector<proto::Target> kinds_;  // distinct kinds of machines
  std::vector<uint32_t> kind_of_;     // kind of each host; empty: not fixed
};

// Returns the directory of these members, with the controller in process 0.
Directory DirectoryOf(const Topology& topology,
                      const std::vector<proto::Member>& members);
// Returns the process of an actor, or -1 if there is none.
int64_t ProcessOf(const Directory& directory, ActorId actor);

}  // namespace pathways

#endif  // RUNTIME_NODE_ROSTER_H_
