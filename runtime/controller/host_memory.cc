//===- host_memory.cc - Hosts' memory, as the controller knows ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/host_memory.h"

#include <algorithm>

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

void HostMemory::AddProgram(uint64_t program, int32_t host, uint64_t bytes) {
  hosts_[host].used = Sum(hosts_[host].used, bytes);
  programs_[program].emplace_back(host, bytes);
}

void HostMemory::FreeProgram(uint64_t program) {
  auto found = programs_.find(program);
  if (found == programs_.end()) return;
  for (const auto& [host, bytes] : found->second) Discharge(host, bytes);
  programs_.erase(found);
}

void HostMemory::HostGone(int32_t host) {
  hosts_[host].used = 0;
  for (auto& [program, held] : programs_) {
    std::erase_if(held, [&](const auto& one) { return one.first == host; });
  }
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

void HostMemory::Discharge(int32_t host, uint64_t bytes) {
  hosts_[host].used -= std::min(hosts_[host].used, bytes);
}

}  // namespace pathways
