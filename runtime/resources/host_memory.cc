//===- host_memory.cc - Account of the memory of hosts --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/host_memory.h"

#include <algorithm>
#include <utility>

#include "runtime/store/spiller.h"
#include "runtime/store/store.h"

namespace pathways {
namespace {

uint64_t Sum(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace

HostMemory::HostMemory(const Topology& topology, const SpillOptions& spill)
    : hosts_(topology.num_hosts()) {
  for (int h = 0; h < topology.num_hosts(); ++h) {
    Host& host = hosts_[h];
    host.bound = HostMemoryBytes(topology.host(h));
    host.spill = SpillBytes(spill, host.bound);
    if (host.spill > 0) {
      host.high =
          static_cast<uint64_t>(static_cast<double>(host.bound) * spill.begin);
    }
  }
}

void HostMemory::Look(Host* host) {
  const uint64_t all = Sum(host->used, Sum(host->older, host->newer));
  if (all > host->high) host->may_have_spilled = true;
  if (all <= host->programs) host->may_have_spilled = false;
}

void HostMemory::SetProgram(uint64_t program, int32_t host, uint64_t bytes) {
  uint64_t& of = programs_[program][host];
  Host& one = hosts_[host];
  one.used -= std::min(one.used, of);
  one.used = Sum(one.used, bytes);
  one.programs -= std::min(one.programs, of);
  one.programs = Sum(one.programs, bytes);
  of = bytes;
  Look(&one);
}

void HostMemory::FreeProgram(uint64_t program) {
  auto found = programs_.find(program);
  if (found == programs_.end()) return;
  for (const auto& [host, bytes] : found->second) {
    Host& one = hosts_[host];
    one.used -= std::min(one.used, bytes);
    one.programs -= std::min(one.programs, bytes);
    ++one.version;
    Look(&one);
  }
  programs_.erase(found);
}

const std::map<int32_t, uint64_t>& HostMemory::OfProgram(
    uint64_t program) const {
  static const auto* const none = new std::map<int32_t, uint64_t>;
  const auto found = programs_.find(program);
  return found == programs_.end() ? *none : found->second;
}

void HostMemory::HostGone(int32_t host) {
  Host& one = hosts_[host];
  one = Host{.bound = one.bound,
             .version = one.version + 1,
             .spill = one.spill,
             .high = one.high};
  for (auto& [program, held] : programs_) held.erase(host);
}

bool HostMemory::Charge(absl::Span<const uint32_t> hosts,
                        absl::Span<const uint64_t> bytes) {
  bool is_sure = true;
  for (size_t i = 0; i < hosts.size(); ++i) {
    Host& host = hosts_[hosts[i]];
    host.used = Sum(host.used, bytes[i]);
    Look(&host);
    is_sure &= bytes[i] < Mapping::kAskedBytes && host.used <= host.bound &&
               !host.may_have_spilled;
  }
  return is_sure;
}

bool HostMemory::AreHere(absl::Span<const int32_t> hosts) const {
  return std::none_of(hosts.begin(), hosts.end(), [&](int32_t host) {
    return hosts_[host].may_have_spilled;
  });
}

void HostMemory::Discharge(int32_t host, uint64_t bytes, uint64_t sequence) {
  Host& one = hosts_[host];
  bytes = std::min(one.used, bytes);
  one.used -= bytes;
  one.newer += bytes;
  one.last = sequence;
  if (one.older > 0) return;
  one.older = std::exchange(one.newer, 0);
  one.mark = sequence;
}

bool HostMemory::Settled(int32_t host, uint64_t sequence) {
  Host& one = hosts_[host];
  if (one.older == 0 || sequence < one.mark) return false;
  one.older = std::exchange(one.newer, 0);
  one.mark = one.last;
  if (sequence >= one.mark) one.older = 0;
  Look(&one);
  ++one.version;
  return true;
}

}  // namespace pathways
