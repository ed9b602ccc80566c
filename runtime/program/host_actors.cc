//===- host_actors.cc - Actors of a host ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/program/host_actors.h"

#include <utility>

#include "runtime/program/local_kind.h"

namespace pathways {

std::vector<uint32_t> CohortOf(const HostActors& actors, uint32_t device) {
  std::vector<uint32_t> devices;
  for (uint32_t d = 0; d < actors.cohorts.size(); ++d) {
    if (actors.cohorts[d] == actors.cohorts[device]) devices.push_back(d);
  }
  return devices;
}

LocalMessage WorkerLostMessage(const KernelCall& call) {
  LocalMessage message;
  message.kind = kWorkerLost;
  message.incarnation = call.incarnation;
  message.item = call.device;
  message.target = call.gang;
  message.shard = call.shard;
  message.step = call.step;
  return message;
}

Directory DirectoryOf(const Topology& topology) {
  return DirectoryOf(topology, std::vector<HostLocation>(topology.num_hosts()));
}

Directory DirectoryOf(const Topology& topology,
                      std::vector<HostLocation> hosts) {
  std::vector<int32_t> schedulers;
  for (int i = 0; i < topology.num_islands(); ++i) {
    schedulers.push_back(topology.first_host(i));
  }
  return Directory(std::move(schedulers), std::move(hosts));
}

}  // namespace pathways
