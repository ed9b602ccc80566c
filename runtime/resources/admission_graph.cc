//===- admission_graph.cc - Deadlocks among waits for memory --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/admission_graph.h"

namespace pathways {

std::vector<size_t> FindStuck(WishesFit fit,
                              const std::map<uint32_t, DeviceBytes>& held,
                              absl::Span<const MemoryWish> wishes) {
  std::map<uint32_t, std::vector<const MemoryWish*>> wanted;  // by client
  for (const MemoryWish& wish : wishes) wanted[wish.client].push_back(&wish);
  // Memory held by clients that wait; all other memory will become free.
  DeviceBytes taken;
  for (const auto& [client, bytes] : held) {
    if (wanted.count(client) == 0) continue;
    for (const auto& [device, count] : bytes) taken[device] += count;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = wanted.begin(); it != wanted.end();) {
      const auto client = it++;
      if (!fit(taken, client->second)) continue;
      if (auto own = held.find(client->first); own != held.end()) {
        for (const auto& [device, count] : own->second) taken[device] -= count;
      }
      wanted.erase(client);
      changed = true;
    }
  }
  std::vector<size_t> stuck;
  for (size_t i = 0; i < wishes.size(); ++i) {
    if (wanted.count(wishes[i].client) > 0) stuck.push_back(i);
  }
  return stuck;
}

}  // namespace pathways
