//===- host_actors.h - Actors of a host -------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_HOST_ACTORS_H_
#define RUNTIME_PROGRAM_HOST_ACTORS_H_

#include <cstdint>
#include <vector>

#include "runtime/protocol/directory.h"
#include "runtime/topology/topology.h"
#include "runtime/world/world.h"

namespace pathways {

// Addresses of a host's executor and devices, known only within the host.
// Filled before the first message, then immutable.
struct HostActors {
  LocalId executor = kNobody;
  std::vector<LocalId> devices;  // indexed by their number on the host
  // Number of each device's cohort, by device. Each number is one worker
  // (cohort.h); 0 is the executor's.
  std::vector<uint32_t> cohorts;
};

// Returns the devices of a host that are in one cohort with `device`,
// ascending.
std::vector<uint32_t> CohortOf(const HostActors& actors, uint32_t device);

// Returns the message that notifies the host's executor of a kernel that did
// not return. The thread that runs it is lost, with all devices of the cohort.
LocalMessage WorkerLostMessage(const KernelCall& call);

// Returns the directory of the cluster's actors that other hosts may send to.
// Without `hosts`, all hosts are in one process and in their first epoch.
Directory DirectoryOf(const Topology& topology);
Directory DirectoryOf(const Topology& topology,
                      std::vector<HostLocation> hosts);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_HOST_ACTORS_H_
