//===- host_memory.h - Hosts' memory, as the controller knows ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_HOST_MEMORY_H_
#define RUNTIME_CONTROLLER_HOST_MEMORY_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/topology/topology.h"

namespace pathways {

// What of the hosts' memory is spoken for, by what hosts were told: so that who
// launches need not ask a host whether it has room when it surely has. Counts
// nothing too little but what a host has not given back yet. Hosts decide by
// what they have (runtime/store). One owner calls it.
class HostMemory {
 public:
  explicit HostMemory(const Topology& topology);

  // A program, by its handle, takes as much on a host until it is freed.
  void AddProgram(uint64_t program, int32_t host, uint64_t bytes);
  // A host has nothing any more.
  void HostGone(int32_t host);
  void FreeProgram(uint64_t program);
  // Blocks of an array; hosts and bytes go together. Whether each host surely
  // has room for them: the system may refuse what it is asked for
  // (Mapping::kAskedBytes).
  bool Charge(absl::Span<const uint32_t> hosts,
              absl::Span<const uint64_t> bytes);
  void Discharge(int32_t host, uint64_t bytes);

  uint64_t used(int32_t host) const { return hosts_[host].used; }

 private:
  struct Host {
    uint64_t used = 0, bound = 0;
  };

  std::vector<Host> hosts_;
  std::map<uint64_t, std::vector<std::pair<int32_t, uint64_t>>> programs_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_HOST_MEMORY_H_
