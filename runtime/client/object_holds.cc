//===- object_holds.cc - Objects that a client holds ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/object_holds.h"

#include <algorithm>

namespace pathways {

ObjectList ObjectHolds::Unhold(absl::Span<const uint64_t> objects) {
  ObjectList gone;
  for (uint64_t object : objects) {
    auto found = holds_.find(object);
    if (found == holds_.end() || --found->second > 0) continue;
    holds_.erase(found);
    gone.push_back(object);
  }
  return gone;
}

std::vector<uint64_t> ObjectHolds::Clear() {
  std::vector<uint64_t> gone;
  gone.reserve(holds_.size());
  // They are sorted below, so any order will do here.
  for (const auto& [object, count] : holds_) gone.push_back(object);
  holds_.clear();
  std::sort(gone.begin(), gone.end());
  return gone;
}

}  // namespace pathways
