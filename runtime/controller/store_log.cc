//===- store_log.cc - How far the hosts' stores have come -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/store_log.h"

#include <algorithm>
#include <utility>

namespace pathways {

uint64_t StoreLog::Number(int32_t host, bool drops) {
  Store& store = stores_[host];
  ++store.sent;
  if (drops) store.dropped = store.sent;
  return store.sent;
}

std::vector<int32_t> StoreLog::Unsettled() const {
  std::vector<int32_t> hosts;
  for (const auto& [host, store] : stores_) {
    if (store.dropped > store.settled) hosts.push_back(host);
  }
  return hosts;
}

void StoreLog::Await(ClientRequest request, const std::vector<int32_t>& hosts) {
  Waiting waiting{request, {}};
  for (int32_t host : hosts) waiting.hosts[host] = stores_[host].sent;
  waiting_.push_back(std::move(waiting));
}

std::vector<ClientRequest> StoreLog::Settled(int32_t host, uint64_t sequence) {
  std::vector<ClientRequest> over;
  Store& store = stores_[host];
  store.settled = std::clamp(sequence, store.settled, store.sent);
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    auto behind = one->hosts.find(host);
    if (behind != one->hosts.end() && behind->second <= store.settled) {
      one->hosts.erase(behind);
    }
    if (one->hosts.empty()) {
      over.push_back(one->request);
      one = waiting_.erase(one);
    } else {
      ++one;
    }
  }
  return over;
}

}  // namespace pathways
