//===- fair_share_policy.cc - Device time by weight -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/fair_share_policy.h"

#include <algorithm>
#include <utility>

namespace pathways {

FairSharePolicy::Group& FairSharePolicy::At(uint32_t group) {
  if (group >= groups_.size()) groups_.resize(group + 1);
  return groups_[group];
}

FairSharePolicy::Share& FairSharePolicy::Find(Group& group, uint32_t client) {
  for (Share& share : group) {
    if (share.client == client) return share;
  }
  return group.emplace_back(Share{client});
}

size_t FairSharePolicy::Choose(uint32_t group, TimeNs,
                               absl::Span<const Candidate> candidates) {
  Group& shares = At(group);
  size_t best = 0;
  double least = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const double had = Find(shares, candidates[i].client).virtual_ns;
    if (i == 0 || had < least ||
        (had == least && candidates[i].order < candidates[best].order)) {
      best = i;
      least = had;
    }
  }
  return best;
}

void FairSharePolicy::Begin(uint32_t group, uint32_t client) {
  Group& shares = At(group);
  Share& own = Find(shares, client);
  own.busy = true;
  const Share* least = nullptr;
  for (const Share& share : shares) {
    if (!share.busy || share.client == client) continue;
    if (least == nullptr || share.virtual_ns < least->virtual_ns) {
      least = &share;
    }
  }
  if (least != nullptr) {
    own.virtual_ns = std::max(own.virtual_ns, least->virtual_ns);
  }
}

void FairSharePolicy::End(uint32_t group, uint32_t client) {
  Group& shares = At(group);
  Find(shares, client).busy = false;
  // The group is idle, so no client has an advantage that must be remembered.
  if (std::none_of(shares.begin(), shares.end(),
                   [](const Share& share) { return share.busy; })) {
    shares.clear();
  }
}

void FairSharePolicy::Charge(uint32_t group, uint32_t client, double weight,
                             double time_ns) {
  Find(At(group), client).virtual_ns += time_ns / weight;
}

void FairSharePolicy::Split(uint32_t from, uint32_t to) {
  At(to) = Group(At(from));
}

void FairSharePolicy::Forget(uint32_t client) {
  for (Group& group : groups_) {
    std::erase_if(
        group, [client](const Share& share) { return share.client == client; });
  }
}

}  // namespace pathways
