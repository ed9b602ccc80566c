//===- load_queue.cc - Loads that wait for memory -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/load_queue.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pathways {

bool LoadQueue::Meets(const Load& a, const Load& b) {
  return std::any_of(a.need.begin(), a.need.end(), [&](const auto& one) {
    return one.second > 0 && b.need.count(one.first) > 0;
  });
}

void LoadQueue::TryAll() {
  for (Load& load : loads_) load.version = 0;
}

bool LoadQueue::MayPass(const Load& load) const {
  if (loads_.empty() || admission_.HoldsAny(load.request.client)) return true;
  return std::none_of(loads_.begin(), loads_.end(), [&](const Load& other) {
    return other.passed >= kMaxPassed && Meets(load, other);
  });
}

void LoadQueue::Passed(const Load& load) {
  for (Load& other : loads_) {
    if (Meets(load, other)) ++other.passed;
  }
}

absl::Status LoadQueue::Add(Load load, NameOf name_of) {
  std::map<uint32_t, DeviceBytes> held = admission_.HeldByClients();
  std::vector<MemoryWish> wishes;
  for (const Load& other : loads_) {
    wishes.push_back({other.request.client, other.need});
  }
  wishes.push_back({load.request.client, load.need});
  const std::vector<size_t> stuck = FindStuck(
      [&](int64_t device) { return admission_.BoundOf(device); }, held, wishes);
  load.why = Why(load, name_of);
  if (!stuck.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(load.why, Circle(load, stuck, name_of)));
  }
  loads_.push_back(std::move(load));
  return absl::OkStatus();
}

std::string LoadQueue::Why(const Load& load, NameOf name_of) const {
  if (load.awaits_devices) {
    const absl::Status there =
        admission_.CheckDevices(load.need, load.plan->name());
    if (!there.ok()) return std::string(there.message());
  }
  std::string text = absl::StrCat("program '", load.plan->name(), "' needs ");
  const std::vector<Admission::Held> holders = admission_.HoldersOf(load.need);
  if (holders.empty()) {
    return absl::StrCat(text, "memory that another load waits for already");
  }
  const int64_t where = holders[0].device;
  const auto [island, device] = topology_.FromGlobalDevice(where);
  absl::StrAppend(&text, load.need.at(where), " of ", admission_.BoundOf(where),
                  " bytes of ", topology_.DeviceName(island, device));
  const char* before = ", held by ";
  for (const Admission::Held& held : holders) {
    if (held.device != where) continue;
    absl::StrAppend(&text, before, "program '", held.program, "' of client '",
                    name_of(held.client), "' (", held.bytes, ")");
    before = ", ";
  }
  return text;
}

std::string LoadQueue::Circle(const Load& load,
                              const std::vector<size_t>& stuck,
                              NameOf name_of) const {
  // From each to one that holds what it needs and waits as well, until one
  // comes again.
  std::vector<const Load*> all;
  for (const Load& other : loads_) all.push_back(&other);
  all.push_back(&load);
  std::map<uint32_t, const Load*> waiting;
  for (size_t i : stuck) waiting.emplace(all[i]->request.client, all[i]);
  std::vector<uint32_t> chain;
  uint32_t client = load.request.client;
  while (std::find(chain.begin(), chain.end(), client) == chain.end()) {
    chain.push_back(client);
    const auto own = waiting.find(client);
    if (own == waiting.end()) break;
    uint32_t next = client;
    for (const Admission::Held& held :
         admission_.HoldersOf(own->second->need)) {
      if (waiting.count(held.client) == 0) continue;
      next = held.client;
      if (next != client) break;
    }
    client = next;
  }
  if (chain.size() == 1) {
    return "; its own client holds too much of that and waits meanwhile";
  }
  return absl::StrCat(
      "; clients would wait for each other: ",
      absl::StrJoin(chain, ", ", [&](std::string* out, uint32_t one) {
        absl::StrAppend(out, "'", name_of(one), "' for '");
        const auto own = waiting.find(one);
        absl::StrAppend(
            out, own == waiting.end() ? "" : own->second->plan->name(), "'");
      }));
}

bool LoadQueue::Retry(absl::FunctionRef<absl::Status(const Load&)> grant) {
  bool tried = false;
  for (auto load = loads_.begin(); load != loads_.end();) {
    const uint64_t version = admission_.VersionOf(load->need);
    if (load->version == version) {
      ++load;
      continue;
    }
    load->version = version;
    tried = true;
    load->stale = true;
    // One that has been passed too often is next, where it waits.
    const bool waits =
        !admission_.HoldsAny(load->request.client) &&
        std::any_of(loads_.begin(), load, [&](const Load& before) {
          return before.passed >= kMaxPassed && Meets(*load, before);
        });
    if (waits || absl::IsResourceExhausted(grant(*load))) {
      ++load;
      continue;
    }
    for (auto before = loads_.begin(); before != load; ++before) {
      if (Meets(*load, *before)) ++before->passed;
    }
    load = loads_.erase(load);
  }
  return tried;
}

std::vector<LoadQueue::Load> LoadQueue::TakeLate(TimeNs now) {
  std::vector<Load> late;
  for (auto load = loads_.begin(); load != loads_.end();) {
    if (load->deadline > now) {
      ++load;
      continue;
    }
    late.push_back(std::move(*load));
    load = loads_.erase(load);
  }
  if (!late.empty()) TryAll();
  return late;
}

bool LoadQueue::Remove(ClientRequest request) {
  TryAll();
  return loads_.remove_if([&](const Load& load) {
    return load.request.client == request.client &&
           load.request.id == request.id;
  }) > 0;
}

void LoadQueue::RemoveAll(uint32_t client) {
  TryAll();
  loads_.remove_if(
      [&](const Load& load) { return load.request.client == client; });
}

std::vector<LoadQueue::Load> LoadQueue::Explain(NameOf name_of) {
  std::vector<Load> changed;
  for (Load& load : loads_) {
    if (!std::exchange(load.stale, false)) continue;
    std::string why = Why(load, name_of);
    if (why == load.why) continue;
    load.why = std::move(why);
    changed.push_back(load);
  }
  return changed;
}

TimeNs LoadQueue::NextDeadline() const {
  TimeNs next = kNoDeadline;
  for (const Load& load : loads_) next = std::min(next, load.deadline);
  return next;
}

std::optional<int32_t> LoadQueue::PriorityOver(uint32_t client) const {
  std::optional<int32_t> most;
  for (const Load& load : loads_) {
    if (load.priority <= most.value_or(INT32_MIN)) continue;
    for (const Admission::Held& held : admission_.HoldersOf(load.need)) {
      if (held.client == client) most = load.priority;
    }
  }
  return most;
}

}  // namespace pathways
