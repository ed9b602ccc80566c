//===- device_group_table.cc - Groups of devices --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/scheduler/device_group_table.h"

#include <algorithm>

namespace pathways {

void DeviceGroupTable::Add(uint32_t program, absl::Span<const Device> devices,
                           std::vector<Split>* splits) {
  // The devices of the program, divided by their old group, or by island if
  // they have no group yet: how many there are, and their group from now on.
  struct Part {
    int64_t devices = 0;
    uint32_t group = 0;
  };
  std::map<std::pair<uint32_t, int32_t>, Part> parts;
  auto part_of = [&](const Device& device) -> Part& {
    const size_t at = static_cast<size_t>(device.number);
    if (at >= group_of_.size()) group_of_.resize(at + 1, 0);
    return parts[{group_of_[at], device.island}];
  };
  for (const Device& device : devices) ++part_of(device).devices;
  for (auto& [key, part] : parts) {
    const auto [group, island] = key;
    if (group > 0 && groups_[group - 1].devices == part.devices) {
      part.group = group - 1;
      continue;
    }
    part.group = static_cast<uint32_t>(groups_.size());
    groups_.push_back({island, part.devices});
    if (group == 0) continue;
    groups_[group - 1].devices -= part.devices;
    splits->push_back({group - 1, part.group});
    for (auto& [other, its] : programs_) {
      if (std::binary_search(its.begin(), its.end(), group - 1)) {
        its.push_back(part.group);
      }
    }
  }
  std::vector<uint32_t>& own = programs_[program];
  own.clear();
  for (const auto& [key, part] : parts) own.push_back(part.group);
  std::sort(own.begin(), own.end());
  for (const Device& device : devices) {
    // This looks the device up by its old group; `parts` no longer changes.
    const uint32_t group = part_of(device).group;
    group_of_[static_cast<size_t>(device.number)] = group + 1;
  }
}

const std::vector<uint32_t>& DeviceGroupTable::Of(uint32_t program) const {
  static const auto* const none = new std::vector<uint32_t>;
  const auto found = programs_.find(program);
  return found == programs_.end() ? *none : found->second;
}

}  // namespace pathways
