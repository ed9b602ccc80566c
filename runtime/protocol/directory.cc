//===- directory.cc - Numbers of all actors -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/directory.h"

#include <algorithm>
#include <utility>

namespace pathways {

Directory::Directory(std::vector<int32_t> first_hosts,
                     std::vector<HostLocation> hosts, HostLocation controller)
    : num_islands_(static_cast<uint32_t>(first_hosts.size())),
      first_hosts_(std::move(first_hosts)),
      hosts_(std::move(hosts)),
      controller_(controller) {
  processes_ = {controller_.process};
  for (const HostLocation& host : hosts_) processes_.push_back(host.process);
  std::sort(processes_.begin(), processes_.end());
  processes_.erase(std::unique(processes_.begin(), processes_.end()),
                   processes_.end());
  num_processes_ = processes_.back() + 1;
}

uint32_t Directory::IslandOf(uint32_t host) const {
  const auto after = std::upper_bound(first_hosts_.begin(), first_hosts_.end(),
                                      static_cast<int32_t>(host));
  return static_cast<uint32_t>(after - first_hosts_.begin()) - 1;
}

std::optional<Address> Directory::Find(ActorId id) const {
  if (id == 0) return Address{Role::kController, 0, controller_.epoch};
  id -= 1;
  if (id < num_islands_) {
    return Address{Role::kScheduler, id, place(first_hosts_[id]).epoch};
  }
  id -= num_islands_;
  if (id < num_hosts()) return Address{Role::kExecutor, id, hosts_[id].epoch};
  id -= num_hosts();
  if (id < num_processes_) return Address{Role::kReporter, id, 0};
  id -= num_processes_;
  if (id < kMaxClients) return Address{Role::kClient, id, 0};
  return std::nullopt;
}

}  // namespace pathways
