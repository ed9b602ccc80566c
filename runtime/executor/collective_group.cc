//===- collective_group.cc - Members of collectives on a host -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/collective_group.h"

#include <algorithm>
#include <cstring>

namespace pathways {

bool GroupMeeting::Arrive(uint32_t cohort, uint64_t firing, bool* poison) {
  Count& near = counts[cohort];
  const uint64_t which = firing & 1;
  near.poisoned[which] |= *poison;
  if (++near.arrived[which] < cohorts[cohort].size()) return false;
  *poison = near.poisoned[which];
  near.arrived[which] = 0;
  near.poisoned[which] = false;
  if (cohorts.size() == 1) return true;
  Slot& slot = slots[which];
  if (*poison) slot.poisoned.store(true, std::memory_order_relaxed);
  // Releases the cohort's contributions, and to the last one acquires all.
  if (slot.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 <
      cohorts.size()) {
    return false;
  }
  *poison = slot.poisoned.load(std::memory_order_relaxed);
  // The others use the slot again only after they have heard of this.
  slot.arrived.store(0, std::memory_order_relaxed);
  slot.poisoned.store(false, std::memory_order_relaxed);
  return true;
}

bool HostGroup::ArriveOwn(uint32_t device, uint64_t firing, bool poison) {
  const int slot = firing & 1;
  poisoned[slot] |= poison;
  for (const Local& local : locals) {
    if (local.device != device) continue;
    for (uint32_t rank : local.ranks) {
      here[slot * members.size() + place[rank]] = 1;
    }
    own_arrived[slot] += local.ranks.size();
    arrived[slot] += local.ranks.size();
  }
  return own_arrived[slot] == own_count;
}

bool HostGroup::ReceiveContribution(int host, uint64_t firing, bool poison,
                                    const void* payload,
                                    uint64_t payload_bytes) {
  const int slot = firing & 1;
  for (const Remote& remote : remotes) {
    if (remote.host != host) continue;
    poisoned[slot] |= poison;
    if (!poison && payload != nullptr && data != nullptr &&
        payload_bytes == bytes * remote.count) {
      std::memcpy(contributions(firing) + remote.begin * bytes, payload,
                  payload_bytes);
    }
    std::fill_n(here.begin() + slot * members.size() + remote.begin,
                remote.count, 1);
    arrived[slot] += remote.count;
    return true;
  }
  return false;
}

std::optional<bool> HostGroup::TakeComplete(uint64_t firing) {
  const int slot = firing & 1;
  if (arrived[slot] != members.size()) return std::nullopt;
  const bool poison = poisoned[slot];
  arrived[slot] = own_arrived[slot] = 0;
  poisoned[slot] = false;
  std::fill_n(here.begin() + slot * members.size(), members.size(), 0);
  return poison;
}

}  // namespace pathways
