//===- lane_table.cc - Devices that the same programs are on --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/lane_table.h"

#include <algorithm>

namespace pathways {

void LaneTable::Add(uint32_t program, absl::Span<const Device> devices,
                    std::vector<Split>* splits) {
  // By lane, or by island for devices that have none: how many of its devices
  // the program is on, and the lane that these are of from now on.
  struct Part {
    int64_t devices = 0;
    uint32_t lane = 0;
  };
  std::map<std::pair<uint32_t, int32_t>, Part> parts;
  auto part_of = [&](const Device& device) -> Part& {
    const size_t at = static_cast<size_t>(device.number);
    if (at >= lane_of_.size()) lane_of_.resize(at + 1, 0);
    return parts[{lane_of_[at], device.island}];
  };
  for (const Device& device : devices) ++part_of(device).devices;
  for (auto& [key, part] : parts) {
    const auto [lane, island] = key;
    if (lane > 0 && lanes_[lane - 1].devices == part.devices) {
      part.lane = lane - 1;
      continue;
    }
    part.lane = static_cast<uint32_t>(lanes_.size());
    lanes_.push_back({island, part.devices});
    if (lane == 0) continue;
    lanes_[lane - 1].devices -= part.devices;
    splits->push_back({lane - 1, part.lane});
    for (auto& [other, its] : programs_) {
      if (std::binary_search(its.begin(), its.end(), lane - 1)) {
        its.push_back(part.lane);
      }
    }
  }
  std::vector<uint32_t>& own = programs_[program];
  own.clear();
  for (const auto& [key, part] : parts) own.push_back(part.lane);
  std::sort(own.begin(), own.end());
  for (const Device& device : devices) {
    // Found by what it was of: parts do not change any more.
    const uint32_t lane = part_of(device).lane;
    lane_of_[static_cast<size_t>(device.number)] = lane + 1;
  }
}

const std::vector<uint32_t>& LaneTable::Of(uint32_t program) const {
  static const auto* const none = new std::vector<uint32_t>;
  const auto found = programs_.find(program);
  return found == programs_.end() ? *none : found->second;
}

}  // namespace pathways
