//===- host_actors.h - Who is on a host -------------------------*- C++ -*-===//
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

// A host's executor and devices, as they know each other; no other host does.
// Filled before the first message, then never changed.
struct HostActors {
  LocalId executor = kNobody;
  std::vector<LocalId> devices;  // by their number on the host
  // Likewise; one number, one worker (cohort.h), which of 0 is the executor's.
  std::vector<uint32_t> cohorts;
};

// The devices of a host that are in one cohort with this one, ascending.
std::vector<uint32_t> CohortOf(const HostActors& actors, uint32_t device);

// What the host's executor is told when a kernel did not return and the thread
// that was in it is lost, with all devices of the cohort.
LocalMessage WorkerLostMessage(const KernelCall& call);

// The numbers of a cluster's actors that other hosts may speak to, all hosts in
// one process and in their first life, or where `hosts` says.
Directory DirectoryOf(const Topology& topology);
Directory DirectoryOf(const Topology& topology,
                      std::vector<HostLocation> hosts);

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_HOST_ACTORS_H_
