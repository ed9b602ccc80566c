//===- host_memory.h - Account of the memory of hosts -----------*- C++ -*-===//
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
#include "pathways/Options.h"
#include "runtime/topology/topology.h"

namespace pathways {

// The controller's account of the memory of hosts, by the messages that hosts
// were sent. A launch need not ask a host for room that it surely has. The
// account is never below a host's real use, except for memory that the host was
// told to free and has not freed yet. Hosts themselves decide by what they have
// (runtime/store). One owner calls it.
class HostMemory {
 public:
  explicit HostMemory(const Topology& topology, const SpillOptions& spill = {});

  // Sets the bytes of a program, by its handle, on a host, until it is freed.
  // Replaces the earlier number, if any.
  void SetProgram(uint64_t program, int32_t host, uint64_t bytes);
  // Records that the host is gone and holds nothing.
  void HostGone(int32_t host);
  void FreeProgram(uint64_t program);
  // Returns the bytes of a program, by host.
  const std::map<int32_t, uint64_t>& OfProgram(uint64_t program) const;
  // Charges hosts with the blocks of an array; `hosts` and `bytes` have the
  // same size. Returns true if each host surely has room for them. Large blocks
  // (Mapping::kAskedBytes) are never sure, since the system may refuse them.
  bool Charge(absl::Span<const uint32_t> hosts,
              absl::Span<const uint64_t> bytes);
  // Returns true if all array blocks of these hosts are surely in memory, not
  // in files.
  bool AreHere(absl::Span<const int32_t> hosts) const;
  // Records that the message numbered `sequence` told the host to free `bytes`.
  // For loads this memory is free only after the host has confirmed it, because
  // load messages have no order among the numbered ones.
  void Discharge(int32_t host, uint64_t bytes, uint64_t sequence);
  // Records that a host has done all messages up to `sequence`. Returns true if
  // that made room for loads.
  bool Settled(int32_t host, uint64_t sequence);

  // Bytes used by programs and arrays; and by programs alone.
  uint64_t used(int32_t host) const { return hosts_[host].used; }
  uint64_t programs(int32_t host) const { return hosts_[host].programs; }
  uint64_t bound(int32_t host) const { return hosts_[host].bound; }
  // Bytes of files for unused arrays; 0: the host has no spill folder.
  uint64_t spill(int32_t host) const { return hosts_[host].spill; }
  // Discharged bytes that the host has not confirmed as free.
  uint64_t leaving(int32_t host) const {
    return hosts_[host].older + hosts_[host].newer;
  }
  // A number that changes whenever there may be more room for loads.
  uint64_t version(int32_t host) const { return hosts_[host].version; }

 private:
  struct Host {
    uint64_t used = 0, bound = 0, version = 0;
    uint64_t programs = 0, spill = 0;
    // Above this number of bytes arrays may have been spilled, until the host
    // has no arrays.
    uint64_t high = UINT64_MAX;
    bool may_have_spilled = false;
    // Unconfirmed bytes: discharged up to the message `mark`, and after it up
    // to the message `last`.
    uint64_t older = 0, newer = 0, mark = 0, last = 0;
  };

  // Updates may_have_spilled after a change of the used bytes.
  static void Look(Host* host);

  std::vector<Host> hosts_;
  std::map<uint64_t, std::map<int32_t, uint64_t>> programs_;
};

}  // namespace pathways

#endif  // RUNTIME_RESOURCES_HOST_MEMORY_H_
