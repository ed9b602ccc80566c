//===- fetch_table.cc - Fetches of values ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/fetch_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {

bool FetchTable::Add(TimeNs now, ClientRequest request, uint64_t object,
                     const std::vector<FetchSource>& sources) {
  if (sources.empty()) return false;
  auto [added, is_new] = fetches_.try_emplace(request);
  if (!is_new) return false;
  ++waiting_;
  Fetch& fetch = added->second;
  fetch.object = object;
  fetch.began = fetch.since = now;
  for (const FetchSource& source : sources) {
    fetch.hosts[source.host] = {source.first_piece, 0};
  }
  return true;
}

uint64_t FetchTable::ObjectOf(ClientRequest request) const {
  auto found = fetches_.find(request);
  return found == fetches_.end() ? 0 : found->second.object;
}

void FetchTable::Sent(TimeNs now, ClientRequest request, int32_t host,
                      uint64_t pieces) {
  auto found = fetches_.find(request);
  if (found == fetches_.end()) return;
  auto source = found->second.hosts.find(host);
  if (source == found->second.hosts.end()) return;
  source->second.heard = now;
  if (pieces <= source->second.pieces) return;
  source->second.pieces = pieces;
  found->second.since = now;
}

void FetchTable::Keep(ClientRequest request) {
  auto found = fetches_.find(request);
  if (found == fetches_.end() || found->second.answered) return;
  found->second.answered = true;
  --waiting_;
}

std::vector<int32_t> FetchTable::End(ClientRequest request) {
  std::vector<int32_t> hosts;
  auto found = fetches_.find(request);
  if (found == fetches_.end()) return hosts;
  for (const auto& [host, source] : found->second.hosts) hosts.push_back(host);
  if (!found->second.answered) --waiting_;
  fetches_.erase(found);
  return hosts;
}

std::vector<ClientRequest> FetchTable::OfClient(uint32_t client) const {
  std::vector<ClientRequest> requests;
  for (const auto& [request, fetch] : fetches_) {
    if (request.client == client) requests.push_back(request);
  }
  return requests;
}

bool FetchTable::WaitsFor(const Fetch& fetch, const WaitSet& hosts) {
  return std::any_of(
      fetch.hosts.begin(), fetch.hosts.end(),
      [&](const auto& source) { return hosts.Contains(source.first); });
}

bool FetchTable::HasRequest(const WaitSet& busy) const {
  return std::any_of(fetches_.begin(), fetches_.end(), [&](const auto& fetch) {
    return !fetch.second.answered && !WaitsFor(fetch.second, busy);
  });
}

bool FetchTable::HasRecent(TimeNs now) const {
  return std::any_of(fetches_.begin(), fetches_.end(), [&](const auto& fetch) {
    return !fetch.second.answered && now - fetch.second.began < timeout_ns_;
  });
}

std::vector<ClientRequest> FetchTable::HostGone(int32_t host) {
  std::vector<ClientRequest> ended;
  for (auto& [request, fetch] : fetches_) {
    if (fetch.hosts.erase(host) == 0 || fetch.answered) continue;
    fetch.answered = true;
    --waiting_;
    ended.push_back(request);
  }
  return ended;
}

absl::Status FetchTable::NoAnswer(const Fetch& fetch) const {
  std::string silent, all;
  for (const auto& [host, source] : fetch.hosts) {
    const std::string name = topology_.HostName(host);
    absl::StrAppend(&all, all.empty() ? "" : ", ", name);
    // The host has answered since it was last asked.
    if (source.heard >= last_tick_) continue;
    absl::StrAppend(&silent, silent.empty() ? "" : ", ", name);
  }
  const std::string& names = silent.empty() ? all : silent;
  return absl::DeadlineExceededError(
      absl::StrCat("values were not fetched: no answer from ", names,
                   Tag(ErrorId::kNoAnswer)));
}

void FetchTable::Tick(TimeNs now, const WaitSet& busy,
                      std::vector<Again>* again, std::vector<Late>* late) {
  for (auto& [request, fetch] : fetches_) {
    if (fetch.answered) continue;
    if (WaitsFor(fetch, busy)) fetch.since = now;
    if (now - fetch.since >= timeout_ns_) {
      late->push_back({request, NoAnswer(fetch)});
      fetch.answered = true;
      --waiting_;
      continue;
    }
    for (const auto& [host, source] : fetch.hosts) {
      // The host was asked less than a tick ago.
      if (fetch.began > last_tick_) continue;
      again->push_back({request, fetch.object, {host, source.first_piece}});
    }
  }
  last_tick_ = now;
}

}  // namespace pathways
