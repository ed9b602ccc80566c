//===- host_exchanges.h - Collectives between hosts -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTOR_HOST_EXCHANGES_H_
#define RUNTIME_EXECUTOR_HOST_EXCHANGES_H_

#include <cstdint>

#include "runtime/executor/host_outbox.h"
#include "runtime/program/collective_group.h"
#include "runtime/program/host_program.h"
#include "runtime/proto/control.pb.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Exchanges the contributions of groups of collectives with members on other
// hosts. Their state is in their programs. Invariant: devices are notified once
// of each firing of a group, when the host has all contributions that it needs.
class HostExchanges {
 public:
  // Both must outlive this object.
  HostExchanges(const Topology* topology, HostOutbox* outbox)
      : topology_(*topology), outbox_(*outbox) {}

  // Returns the group that a contribution is for, or null if there is no such
  // group with members on other hosts.
  static HostGroup* Find(HostProgram* program, const WireMessage& message);
  // All members of a group that are on this host have contributed.
  void OnArrive(HostProgram* program, const LocalMessage& message);
  void OnContribution(int host, HostProgram* program,
                      const WireMessage& message, Payload payload);
  // Reports the members of the group that a stuck shard waits for.
  void Report(const HostProgram& program, const HostGroup& group,
              proto::StuckShard* stuck) const;

 private:
  // Advances a group's exchange, and notifies the devices when it is done.
  void Advance(HostProgram* program, uint32_t group, uint64_t firing);

  const Topology& topology_;
  HostOutbox& outbox_;
};

}  // namespace pathways

#endif  // RUNTIME_EXECUTOR_HOST_EXCHANGES_H_
