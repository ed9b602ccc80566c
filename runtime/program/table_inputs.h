//===- table_inputs.h - Inputs of a host's tables ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every part of HostProgram::Build reads the plan and the place of its host in
// the cluster. Whatever else a part reads or fills is in its signature.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_TABLE_INPUTS_H_
#define RUNTIME_PROGRAM_TABLE_INPUTS_H_

#include <cstdint>
#include <functional>

#include "runtime/binding/prepared_plan.h"
#include "runtime/program/dispatch.h"
#include "runtime/program/host_actors.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Reachability of other hosts. A null function means false for every host.
struct HostReach {
  // Large pieces are lent to the host (World).
  std::function<bool(int host)> lends;
  std::function<bool(int host)> is_far;  // the host is in another process
};

// The plan that the tables of one host are derived from, and the place of the
// host in the cluster. The references must stay valid while the tables are
// built.
struct TableInputs {
  const PreparedPlan& plan;
  const Topology& topology;
  const HostActors& actors;
  const DispatchOptions& dispatch;
  const HostReach& reach;
  int host = 0;

  const proto::Action& action(uint32_t a) const {
    return plan.plan().actions(a);
  }
  // Returns the number of the host's first device in the cluster.
  int64_t first_device() const { return topology.GlobalDevice({host, 0}); }
  // Returns the host of a shard, and the number of its device there.
  Topology::Place PlaceOf(uint32_t slice, int64_t shard) const {
    return topology.LocateGlobal(plan.bound(slice).device_of[shard]);
  }
  // Return what HostReach says of another host.
  bool lends(int other) const {
    return reach.lends != nullptr && reach.lends(other);
  }
  bool is_far(int other) const {
    return reach.is_far != nullptr && reach.is_far(other);
  }
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_TABLE_INPUTS_H_
