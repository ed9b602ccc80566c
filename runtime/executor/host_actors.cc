//===- host_actors.cc - Who is on a host ----------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/host_actors.h"

#include <utility>

namespace pathways {

Directory DirectoryOf(const Topology& topology) {
  std::vector<int32_t> schedulers;
  for (int i = 0; i < topology.num_islands(); ++i) {
    schedulers.push_back(topology.first_host(i));
  }
  return Directory(std::move(schedulers),
                   std::vector<HostPlace>(topology.num_hosts()));
}

}  // namespace pathways
