//===- host_memory.cc - Hosts' memory, as the controller knows ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/host_memory.h"

#include <algorithm>
#include <utility>

#include "runtime/store/store.h"

namespace pathways {
namespace {

uint64_t Sum(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace

HostMemory::HostMemory(const Topology& topology)
    : hosts_(topology.num_hosts()) {
  for (int h = 0; h < topology.num_hosts(); ++h) {
    hosts_[h].bound = HostMemoryBytes(topology.host(h));
  }
}

void HostMemory::SetProgram(uint64_t program, int32_t host, uint64_t bytes) {
  uint64_t& of = programs_[program][host];
  hosts_[host].used -= std::min(hosts_[host].used, of);
  hosts_[host].used = Sum(hosts_[host].used, bytes);
  of = bytes;
}

void HostMemory::FreeProgram(uint64_t program) {
  auto found = programs_.find(program);
  if (found == programs_.end()) return;
  for (const auto& [host, bytes] : found->second) {
    hosts_[host].used -= std::min(hosts_[host].used, bytes);
    ++hosts_[host].version;
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
  one = Host{.bound = one.bound, .version = one.version + 1};
  for (auto& [program, held] : programs_) held.erase(host);
}

bool HostMemory::Charge(absl::Span<const uint32_t> hosts,
                        absl::Span<const uint64_t> bytes) {
  bool is_sure = true;
  for (size_t i = 0; i < hosts.size(); ++i) {
    Host& host = hosts_[hosts[i]];
    host.used = Sum(host.used, bytes[i]);
    is_sure &= bytes[i] < Mapping::kAskedBytes && host.used <= host.bound;
  }
  return is_sure;
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
  ++one.version;
  return true;
}

}  // namespace pathways
