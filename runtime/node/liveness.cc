//===- liveness.cc - Detection of silent processes ------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/liveness.h"

#include <algorithm>

namespace pathways {

bool Liveness::Heard(uint32_t process) {
  auto found = peers_.find(process);
  if (found == peers_.end() || found->second.lost) return false;
  const bool was_slow = found->second.slow;
  found->second = {};
  return was_slow;
}

std::vector<Liveness::Change> Liveness::Tick(absl::Duration passed) {
  passed = std::clamp(passed, absl::ZeroDuration(), 2 * options_.ping);
  std::vector<Change> changes;
  for (auto& [process, peer] : peers_) {
    peer.silence += passed;
    if (!peer.lost && peer.silence >= options_.lost) {
      peer.lost = true;
      changes.push_back({process, kLost});
    } else if (!peer.slow && peer.silence >= options_.slow) {
      peer.slow = true;
      changes.push_back({process, kSlow});
    }
  }
  return changes;
}

bool Liveness::IsSlow(uint32_t process) const {
  auto found = peers_.find(process);
  return found != peers_.end() && found->second.slow;
}

absl::Duration Liveness::SilenceOf(uint32_t process) const {
  auto found = peers_.find(process);
  return found == peers_.end() ? absl::ZeroDuration() : found->second.silence;
}

}  // namespace pathways
