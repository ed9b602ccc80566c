//===- group_bytes.cc - Bytes that a collective moves ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/layout/group_bytes.h"

#include <algorithm>
#include <set>

namespace pathways::layout {
namespace {

// Returns the bytes between the devices of one host that has `ranks` of a
// group.
uint64_t BytesInHost(const ExchangeSpec& spec,
                     const std::vector<int64_t>& devices,
                     const std::vector<int64_t>& ranks,
                     const std::map<int64_t, uint64_t>& on_device) {
  const uint64_t source = spec.count * spec.element_bytes;
  const uint64_t links = on_device.size() - 1;
  switch (spec.kind) {
    case ExchangeKind::kAllReduce:
      return 2 * links * source;
    case ExchangeKind::kAllGather:
      return links * ranks.size() * source;
    case ExchangeKind::kReduceScatter:
      return links * ranks.size() * (source / devices.size());
    case ExchangeKind::kAllToAll: {
      uint64_t pairs = ranks.size() * ranks.size();
      for (const auto& [device, count] : on_device) pairs -= count * count;
      return pairs * (source / devices.size());
    }
    case ExchangeKind::kPermute:
      break;
  }
  uint64_t total = 0;
  for (int64_t rank : ranks) {
    const int64_t from = spec.sources[rank];
    if (from >= 0 && devices[from] != devices[rank] &&
        std::binary_search(ranks.begin(), ranks.end(), from)) {
      total += source;
    }
  }
  return total;
}

}  // namespace

uint64_t GroupBytes::total() const {
  uint64_t sum = 0;
  for (const auto& [host, part] : hosts) sum += part.bytes;
  for (const auto& [link, bytes] : between) sum += bytes;
  return sum;
}

GroupBytes CountGroupBytes(const ExchangeSpec& spec,
                           const std::vector<int64_t>& devices) {
  std::map<int32_t, std::vector<int64_t>> ranks_on;
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    ranks_on[spec.hosts[rank]].push_back(static_cast<int64_t>(rank));
  }
  GroupBytes counted;
  std::set<uint32_t> rounds;
  for (const auto& [host, ranks] : ranks_on) {
    std::map<int64_t, uint64_t> on_device;
    for (int64_t rank : ranks) on_device[devices[rank]] += 1;
    counted.hosts[host] = {on_device.size(),
                           BytesInHost(spec, devices, ranks, on_device)};
    if (ranks_on.size() == 1) break;
    for (const ExchangeMessage& sent : MakeExchange(spec, host).sends) {
      counted.between[{host, sent.host}] += sent.bytes;
      rounds.insert(sent.round);
    }
  }
  counted.rounds = rounds.size();
  return counted;
}

}  // namespace pathways::layout
