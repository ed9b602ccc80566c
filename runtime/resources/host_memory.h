//===- host_memory.h - Hosts' memory, as the controller knows ---*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_RESOURCES_HOST_MEMORY_H_
#define RUNTIME_RESOURCES_HOST_MEMORY_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/run_options.h"
#include "runtime/topology/topology.h"

namespace pathways {

// What of the hosts' memory is spoken for, by what hosts were told: so that who
// launches need not ask a host whether it has room when it surely has. Counts
// nothing too little but what a host has not given back yet. Hosts decide by
// what they have (runtime/store). One owner calls it.
class HostMemory {
 public:
  explicit HostMemory(const Topology& topology, const SpillOptions& spill = {});

  // A program, by its handle, takes as much on a host until it is freed,
  // whatever it was taken for before.
  void SetProgram(uint64_t program, int32_t host, uint64_t bytes);
  // A host has nothing any more.
  void HostGone(int32_t host);
  void FreeProgram(uint64_t program);
  // What it takes, by host.
  const std::map<int32_t, uint64_t>& OfProgram(uint64_t program) const;
  // Blocks of an array; hosts and bytes go together. Whether each host surely
  // has room for them: the system may refuse what it is asked for
  // (Mapping::kAskedBytes).
  bool Charge(absl::Span<const uint32_t> hosts,
              absl::Span<const uint64_t> bytes);
  // Whether what these hosts have of arrays is in their memory, surely.
  bool AreHere(absl::Span<const int32_t> hosts) const;
  // The host is told so by the message of that number. What programs are
  // loaded into is free when the host has said that it has done it: loads have
  // no place among those messages.
  void Discharge(int32_t host, uint64_t bytes, uint64_t sequence);
  // A host has done what was numbered up to `sequence`. Whether that made room
  // for loads.
  bool Settled(int32_t host, uint64_t sequence);

  // By programs and arrays; of that, what programs have.
  uint64_t used(int32_t host) const { return hosts_[host].used; }
  uint64_t programs(int32_t host) const { return hosts_[host].programs; }
  uint64_t bound(int32_t host) const { return hosts_[host].bound; }
  // Of files for arrays that nobody uses; 0: there are none.
  uint64_t spill(int32_t host) const { return hosts_[host].spill; }
  // What the host has not said to be free.
  uint64_t leaving(int32_t host) const {
    return hosts_[host].older + hosts_[host].newer;
  }
  // Another number when there may be more room for loads.
  uint64_t version(int32_t host) const { return hosts_[host].version; }

 private:
  struct Host {
    uint64_t used = 0, bound = 0, version = 0;
    uint64_t programs = 0, spill = 0;
    // With more, arrays may have left memory, until there are none.
    uint64_t high = UINT64_MAX;
    bool may_have_spilled = false;
    // Discharged up to the message `mark`, and after it up to `last`.
    uint64_t older = 0, newer = 0, mark = 0, last = 0;
  };

  // What is used has changed.
  static void Look(Host* host);

  std::vector<Host> hosts_;
  std::map<uint64_t, std::map<int32_t, uint64_t>> programs_;
};

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_HOST_MEMORY_H_
