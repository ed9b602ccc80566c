//===- fetch_table.cc - Values that are asked for -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/fetch_table.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pathways {

void FetchTable::Add(TimeNs now, ClientRequest request, uint64_t object,
                     std::vector<FetchRange> ranges) {
  Fetch fetch;
  fetch.object = object;
  fetch.came = fetch.since = now;
  std::vector<int32_t> pieces;
  for (const FetchRange& range : ranges) {
    if (range.bytes == 0) continue;
    pieces.resize((range.bytes - 1) / piece_bytes_ + 1);
    std::iota(pieces.begin(), pieces.end(), 0);
    fetch.ranges.push_back({range, {}});
    fetch.ranges.back().pieces.Assign(pieces);
  }
  fetch.open = fetch.ranges.size();
  if (fetch.open > 0) fetches_[request] = std::move(fetch);
}

void FetchTable::Arrived(TimeNs now, ClientRequest request, int32_t host,
                         uint64_t offset) {
  auto found = fetches_.find(request);
  if (found == fetches_.end()) return;
  Fetch& fetch = found->second;
  for (Range& one : fetch.ranges) {
    if (one.range.host != host || offset < one.range.offset ||
        offset - one.range.offset >= one.range.bytes) {
      continue;
    }
    const uint64_t piece = (offset - one.range.offset) / piece_bytes_;
    if (!one.pieces.Erase(static_cast<int32_t>(piece))) continue;
    fetch.came = fetch.since = now;
    if (one.pieces.empty() && --fetch.open == 0) {
      fetches_.erase(found);
      return;
    }
  }
}

bool FetchTable::WaitsFor(const Fetch& fetch, const WaitSet& hosts) {
  return std::any_of(
      fetch.ranges.begin(), fetch.ranges.end(), [&](const Range& one) {
        return !one.pieces.empty() && hosts.Contains(one.range.host);
      });
}

bool FetchTable::HasRequest(const WaitSet& busy) const {
  return std::any_of(fetches_.begin(), fetches_.end(), [&](const auto& fetch) {
    return !WaitsFor(fetch.second, busy);
  });
}

std::vector<ClientRequest> FetchTable::HostGone(int32_t host) {
  std::vector<ClientRequest> ended;
  WaitSet gone;
  gone.Insert(host);
  for (auto it = fetches_.begin(); it != fetches_.end();) {
    if (WaitsFor(it->second, gone)) {
      ended.push_back(it->first);
      it = fetches_.erase(it);
    } else {
      ++it;
    }
  }
  return ended;
}

absl::Status FetchTable::NoAnswer(const Fetch& fetch) const {
  std::set<int32_t> hosts;
  for (const Range& one : fetch.ranges) {
    if (!one.pieces.empty()) hosts.insert(one.range.host);
  }
  std::string names;
  for (int32_t host : hosts) {
    absl::StrAppend(&names, names.empty() ? "" : ", ",
                    topology_.HostName(host));
  }
  return absl::DeadlineExceededError(
      absl::StrCat("values were not fetched: no answer from ", names));
}

void FetchTable::Tick(TimeNs now, const WaitSet& busy,
                      std::vector<Again>* again, std::vector<Late>* late) {
  for (auto it = fetches_.begin(); it != fetches_.end();) {
    Fetch& fetch = it->second;
    if (WaitsFor(fetch, busy)) fetch.since = now;
    if (now - fetch.since >= timeout_ns_) {
      late->push_back({it->first, NoAnswer(fetch)});
      it = fetches_.erase(it);
      continue;
    }
    for (const Range& one : fetch.ranges) {
      if (one.pieces.empty() || fetch.came > last_tick_) continue;
      // From the first piece that is missing on, whose place stays the same.
      FetchRange rest = one.range;
      const uint64_t skip =
          static_cast<uint64_t>(one.pieces.First()) * piece_bytes_;
      rest.offset += skip;
      rest.bytes -= skip;
      again->push_back({it->first, fetch.object, rest});
    }
    ++it;
  }
  last_tick_ = now;
}

}  // namespace pathways
