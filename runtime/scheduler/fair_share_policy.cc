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

FairSharePolicy::Lane& FairSharePolicy::At(uint32_t lane) {
  if (lane >= lanes_.size()) lanes_.resize(lane + 1);
  return lanes_[lane];
}

FairSharePolicy::Share& FairSharePolicy::Find(Lane& lane, uint32_t client) {
  for (Share& share : lane) {
    if (share.client == client) return share;
  }
  return lane.emplace_back(Share{client});
}

size_t FairSharePolicy::Choose(uint32_t lane, TimeNs,
                               absl::Span<const Candidate> candidates) {
  Lane& shares = At(lane);
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

void FairSharePolicy::Begin(uint32_t lane, uint32_t client) {
  Lane& shares = At(lane);
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

void FairSharePolicy::End(uint32_t lane, uint32_t client) {
  Lane& shares = At(lane);
  Find(shares, client).busy = false;
  // Nobody has waited for anybody since.
  if (std::none_of(shares.begin(), shares.end(),
                   [](const Share& share) { return share.busy; })) {
    shares.clear();
  }
}

void FairSharePolicy::Charge(uint32_t lane, uint32_t client, double weight,
                             double time_ns) {
  Find(At(lane), client).virtual_ns += time_ns / weight;
}

void FairSharePolicy::Split(uint32_t from, uint32_t to) {
  At(to) = Lane(At(from));
}

void FairSharePolicy::Forget(uint32_t client) {
  for (Lane& lane : lanes_) {
    std::erase_if(
        lane, [client](const Share& share) { return share.client == client; });
  }
}

}  // namespace pathways
