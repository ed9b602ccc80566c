//===- store_log.cc - Log of messages to the hosts' stores ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/store_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {

uint64_t StoreLog::Number(int32_t host, bool drops) {
  Store& store = stores_[host];
  ++store.sent;
  if (drops) store.dropped = store.sent;
  return store.sent;
}

void StoreLog::Keep(TimeNs now, int32_t host, uint64_t launch, bool asks,
                    ControlRef message) {
  Store& store = stores_[host];
  store.kept.push_back({store.sent, launch, asks, now, std::move(message)});
}

uint64_t StoreLog::Undone(int32_t host, uint64_t launch) const {
  auto found = stores_.find(host);
  if (found == stores_.end()) return 0;
  const Store& store = found->second;
  // The launch is usually among the last messages.
  for (auto message = store.kept.rbegin(); message != store.kept.rend();
       ++message) {
    if (message->launch == launch) {
      return message->sequence > store.settled ? message->sequence : 0;
    }
  }
  return 0;
}

bool StoreLog::HasUndone(int32_t host) const {
  auto found = stores_.find(host);
  if (found == stores_.end()) return false;
  const Store& store = found->second;
  return std::any_of(
      store.kept.begin(), store.kept.end(), [&](const Message& message) {
        return message.launch != 0 && message.sequence > store.settled;
      });
}

std::vector<int32_t> StoreLog::Unsettled() const {
  std::vector<int32_t> hosts;
  for (const auto& [host, store] : stores_) {
    if (store.dropped > store.settled) hosts.push_back(host);
  }
  return hosts;
}

void StoreLog::Await(TimeNs now, ClientRequest request,
                     const std::vector<int32_t>& hosts) {
  Waiting waiting{request, now, {}};
  for (int32_t host : hosts) waiting.hosts[host] = stores_[host].sent;
  waiting_.push_back(std::move(waiting));
}

std::vector<ClientRequest> StoreLog::Settled(TimeNs now, int32_t host,
                                             uint64_t sequence) {
  std::vector<ClientRequest> over;
  Store& store = stores_[host];
  store.heard = now;
  store.settled = std::clamp(sequence, store.settled, store.sent);
  store.kept.erase(
      std::remove_if(store.kept.begin(), store.kept.end(),
                     [&](const Message& message) {
                       return (message.launch == 0 || !message.asks) &&
                              message.sequence <= store.settled;
                     }),
      store.kept.end());
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    auto behind = one->hosts.find(host);
    if (behind != one->hosts.end() && behind->second <= store.settled) {
      one->hosts.erase(behind);
      one->since = now;
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

std::vector<ClientRequest> StoreLog::Answered(TimeNs now, int32_t host,
                                              uint64_t launch) {
  for (Message& message : stores_[host].kept) {
    if (message.launch != launch) continue;
    message.launch = 0;
    return Settled(now, host, message.sequence);
  }
  return {};
}

void StoreLog::Forget(int32_t host, uint64_t launch) {
  auto found = stores_.find(host);
  if (found == stores_.end()) return;
  for (Message& message : found->second.kept) {
    if (message.launch == launch) message.launch = 0;
  }
}

std::vector<ClientRequest> StoreLog::HostGone(TimeNs now, int32_t host) {
  auto found = stores_.find(host);
  if (found == stores_.end()) return {};
  std::vector<ClientRequest> over = Settled(now, host, found->second.sent);
  stores_.erase(host);
  return over;
}

absl::Status StoreLog::NoAnswer(const Waiting& waiting) const {
  std::string names;
  for (const auto& [host, sequence] : waiting.hosts) {
    absl::StrAppend(&names, names.empty() ? "" : ", ",
                    topology_.HostName(host));
  }
  return absl::DeadlineExceededError(
      absl::StrCat("released memory may still be in use: no answer from ",
                   names, Tag(ErrorId::kNoAnswer)));
}

StoreLog::Findings StoreLog::Tick(TimeNs now, const WaitSet& busy) {
  Findings findings;
  for (auto& [host, store] : stores_) {
    if (busy.Contains(host)) store.busy = now;
    if (store.kept.empty()) continue;
    for (const Message& message : store.kept) {
      // Later messages may still be on their way. The answer for a launch may
      // be lost alone, so its message is always sent again; others are not
      // while the host is heard. That the host is busy does not count, since it
      // may wait for a message that was lost.
      if (message.sent >= last_tick_) break;
      if (message.launch == 0 && store.heard > last_tick_) continue;
      findings.again.push_back({host, message.message});
    }
    const TimeNs alive =
        std::max({store.heard, store.busy, store.kept.front().sent});
    if (now - alive >= timeout_ns_) findings.silent.push_back(host);
  }
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    for (const auto& [host, sequence] : one->hosts) {
      if (busy.Contains(host)) one->since = now;
    }
    if (now - one->since < timeout_ns_) {
      ++one;
      continue;
    }
    findings.late.push_back({one->request, NoAnswer(*one)});
    one = waiting_.erase(one);
  }
  last_tick_ = now;
  return findings;
}

bool StoreLog::HasRequest(const WaitSet& busy) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
    return std::none_of(
        one.hosts.begin(), one.hosts.end(),
        [&](const auto& host) { return busy.Contains(host.first); });
  });
}

bool StoreLog::HasRecent(TimeNs now) const {
  return std::any_of(stores_.begin(), stores_.end(), [&](const auto& one) {
    const std::deque<Message>& kept = one.second.kept;
    return std::any_of(kept.begin(), kept.end(), [&](const Message& message) {
      return message.launch != 0 && now - message.sent < timeout_ns_;
    });
  });
}

bool StoreLog::Owes(int32_t host) const {
  auto found = stores_.find(host);
  return found != stores_.end() && found->second.settled < found->second.sent;
}

bool StoreLog::empty() const {
  return waiting_.empty() &&
         std::all_of(stores_.begin(), stores_.end(),
                     [](const auto& one) { return one.second.kept.empty(); });
}

}  // namespace pathways
