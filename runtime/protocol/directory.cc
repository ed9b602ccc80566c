//===- directory.cc - Who has which number --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/directory.h"

#include <utility>

namespace pathways {

Directory::Directory(std::vector<int32_t> scheduler_hosts,
                     std::vector<HostPlace> hosts, HostPlace controller)
    : num_islands_(static_cast<uint32_t>(scheduler_hosts.size())),
      scheduler_hosts_(std::move(scheduler_hosts)),
      hosts_(std::move(hosts)),
      controller_(controller) {}

std::optional<Address> Directory::Find(ActorId id) const {
  if (id == kNoActor) return std::nullopt;
  if (id == 0) return Address{Role::kController, 0, controller_.epoch};
  id -= 1;
  if (id < num_islands_) {
    return Address{Role::kScheduler, id, place(scheduler_hosts_[id]).epoch};
  }
  id -= num_islands_;
  if (id < num_hosts()) return Address{Role::kExecutor, id, hosts_[id].epoch};
  return Address{Role::kClient, id - num_hosts(), 0};
}

}  // namespace pathways
