//===- admission_graph.cc - Who waits for whom, for memory ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/admission_graph.h"

#include <algorithm>

#include "runtime/base/buffer_bytes.h"

namespace pathways {

std::vector<size_t> FindStuck(const std::function<uint64_t(int64_t)>& bound,
                              const std::map<uint32_t, DeviceBytes>& held,
                              absl::Span<const MemoryWish> wishes) {
  std::map<uint32_t, DeviceBytes> wanted;  // by client
  for (const MemoryWish& wish : wishes) {
    for (const auto& [device, count] : wish.bytes) {
      uint64_t& sum = wanted[wish.client][device];
      sum = AddBytes(sum, count);
    }
  }
  // What those hold who wait: all else will be free.
  DeviceBytes taken;
  for (const auto& [client, bytes] : held) {
    if (wanted.count(client) == 0) continue;
    for (const auto& [device, count] : bytes) taken[device] += count;
  }
  auto fits = [&](const DeviceBytes& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [&](const auto& one) {
      const auto found = taken.find(one.first);
      const uint64_t used = found == taken.end() ? 0 : found->second;
      const uint64_t all = bound(one.first);
      return one.second <= all - std::min(all, used);
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = wanted.begin(); it != wanted.end();) {
      const auto client = it++;
      if (!fits(client->second)) continue;
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
