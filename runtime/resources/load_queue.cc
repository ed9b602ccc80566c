//===- load_queue.cc - Loads that wait for memory -------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/load_queue.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/error_codes.h"

namespace pathways {
namespace {

// Largest number of holders that a message lists.
constexpr size_t kMaxListed = 4;

// Returns, for example, "2 devices of an island, 512 bytes of each".
std::string IslandText(const IslandNeed& need) {
  uint64_t least = kWholeDevice, most = 0;
  for (const IslandNeed::Device& device : need.devices) {
    least = std::min(least, device.bytes);
    most = std::max(most, device.bytes);
  }
  const size_t count = need.devices.size();
  std::string text =
      absl::StrCat(count, count == 1 ? " device" : " devices of an island");
  if (!need.mesh.empty()) {
    absl::StrAppend(&text, " that are neighbors in a mesh of ",
                    absl::StrJoin(need.mesh, "x"));
  }
  if (most == kWholeDevice) return absl::StrCat(text, ", used by nothing else");
  absl::StrAppend(&text, ", ", least);
  if (most != least) absl::StrAppend(&text, " to ", most);
  return absl::StrCat(text, count == 1 ? " bytes of it" : " bytes of each");
}

std::string DemandText(const std::vector<DeviceDemand>& demands) {
  std::vector<std::string> texts;
  for (const DeviceDemand& demand : demands) {
    for (size_t i = 0; i < demand.islands.size();) {
      size_t same = 1;
      while (i + same < demand.islands.size() &&
             demand.islands[i + same] == demand.islands[i]) {
        ++same;
      }
      std::string text = IslandText(demand.islands[i]);
      if (same > 1) text = absl::StrCat("on ", same, " islands each ", text);
      texts.push_back(std::move(text));
      i += same;
    }
  }
  return absl::StrJoin(texts, "; ");
}

// Returns the wish of a waiting load.
MemoryWish WishOf(const LoadQueue::Load& load) {
  MemoryWish wish{load.request.client, {}, load.demands};
  if (load.demands.empty()) wish.bytes = load.need;
  return wish;
}

}  // namespace

std::string LoadQueue::Load::What() const {
  std::vector<std::string> all = whats;
  for (const Program& program : programs) {
    all.push_back(absl::StrCat("program '", program.plan->name(), "'"));
  }
  return absl::StrJoin(all, " and ");
}

bool LoadQueue::Meets(const Load& a, const Load& b) {
  return std::any_of(a.need.begin(), a.need.end(), [&](const auto& one) {
    return one.second > 0 && b.need.count(one.first) > 0;
  });
}

void LoadQueue::TryAll() {
  for (Load& load : loads_) load.version = 0;
}

bool LoadQueue::MayPass(const Load& load) const {
  if (loads_.empty()) return true;
  if (!IsSafe(load)) return false;
  if (admission_.HoldsAny(load.request.client)) return true;
  return std::none_of(loads_.begin(), loads_.end(), [&](const Load& other) {
    return other.passed >= kMaxPassed && Meets(load, other);
  });
}

void LoadQueue::Passed(const Load& load) {
  has_chosen_ |= !load.demands.empty();
  for (Load& other : loads_) {
    if (Meets(load, other)) ++other.passed;
  }
}

bool LoadQueue::AreApart(const Load* more) const {
  const std::set<uint32_t> holding = admission_.ClientsThatHold();
  std::set<uint32_t> waiting;
  auto is_apart = [&](const Load& load) {
    const uint32_t client = load.request.client;
    return waiting.insert(client).second && holding.count(client) == 0;
  };
  return std::all_of(loads_.begin(), loads_.end(), is_apart) &&
         (more == nullptr || is_apart(*more));
}

bool LoadQueue::FitsAlone(const Load& load) const {
  const uint64_t away = admission_.away_version() + 1;
  if (load.fits_alone == away) return true;
  const MemoryWish wish = WishOf(load);
  if (!admission_.WouldFit({}, {&wish})) return false;
  load.fits_alone = away;
  return true;
}

std::vector<size_t> LoadQueue::Stuck(const Load* more,
                                     const Load* granted) const {
  if (granted == nullptr && AreApart(more)) {
    std::vector<size_t> stuck;
    size_t i = 0;
    for (const Load& load : loads_) {
      if (!FitsAlone(load)) stuck.push_back(i);
      ++i;
    }
    if (more != nullptr && !FitsAlone(*more)) stuck.push_back(i);
    return stuck;
  }
  std::map<uint32_t, DeviceBytes> held = admission_.HeldByClients();
  if (granted != nullptr) {
    for (const auto& [place, bytes] : granted->need) {
      held[granted->request.client][place] += bytes;
    }
  }
  std::vector<MemoryWish> wishes;
  auto add = [&](const Load& load) {
    if (&load != granted) wishes.push_back(WishOf(load));
  };
  for (const Load& load : loads_) add(load);
  if (more != nullptr) add(*more);
  return FindStuck(
      [this](const DeviceBytes& taken,
             absl::Span<const MemoryWish* const> some) {
        return admission_.WouldFit(taken, some);
      },
      held, wishes);
}

bool LoadQueue::IsSafe(const Load& load) const {
  const bool waits_too =
      std::any_of(loads_.begin(), loads_.end(), [&](const Load& other) {
        return &other != &load && other.request.client == load.request.client;
      });
  // A load with demands gets its devices only when it is granted; TakeStuck
  // checks the others then.
  return !waits_too || !load.demands.empty() || Stuck(nullptr, &load).empty();
}

absl::Status LoadQueue::Add(Load load, NameOf name_of, std::string* why) {
  const std::vector<size_t> stuck = Stuck(&load, nullptr);
  load.why = Why(load, name_of);
  if (!stuck.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(load.why, Circle(load, stuck, name_of)));
  }
  *why = load.why;
  // A load that was granted and refused by a host returns to its old place.
  const auto behind =
      std::find_if(loads_.begin(), loads_.end(),
                   [&](const Load& other) { return other.since > load.since; });
  loads_.insert(behind, std::move(load));
  return absl::OkStatus();
}

std::vector<std::pair<LoadQueue::Load, absl::Status>> LoadQueue::TakeStuck(
    NameOf name_of) {
  std::vector<std::pair<Load, absl::Status>> taken;
  // All other loads were checked when they were asked for, or granted.
  const uint64_t away = admission_.away_version();
  if (loads_.empty() || (std::exchange(away_, away) == away && !has_chosen_)) {
    return taken;
  }
  has_chosen_ = false;
  std::vector<size_t> stuck = Stuck(nullptr, nullptr);
  while (!stuck.empty()) {
    auto last = std::next(loads_.begin(), static_cast<int64_t>(stuck.back()));
    Load load = std::move(*last);
    loads_.erase(last);
    stuck.pop_back();
    stuck.push_back(loads_.size());  // index at which Circle expects it
    absl::Status why = absl::ResourceExhaustedError(
        absl::StrCat(Why(load, name_of), Circle(load, stuck, name_of)));
    taken.emplace_back(std::move(load), std::move(why));
    stuck = Stuck(nullptr, nullptr);
  }
  if (!taken.empty()) TryAll();
  return taken;
}

std::string LoadQueue::Why(const Load& load, NameOf name_of) const {
  if (load.awaits_devices) {
    for (const Program& program : load.programs) {
      const absl::Status there = admission_.CheckDevices(
          Admission::NeedOf(*program.plan), program.plan->name());
      if (!there.ok()) return std::string(WithoutTag(there.message()));
    }
  }
  const bool is_one = load.whats.size() + load.programs.size() == 1;
  std::string text = absl::StrCat(load.What(), is_one ? " needs " : " need ");
  std::vector<Admission::Held> holders = admission_.HoldersOf(load.need);
  if (!load.demands.empty()) {
    absl::StrAppend(&text, DemandText(load.demands));
  } else if (holders.empty()) {
    return absl::StrCat(text, "memory that another load already waits for");
  } else {
    const int64_t where = holders[0].place;
    const auto need = load.need.find(where);
    absl::StrAppend(&text, need == load.need.end() ? 0 : need->second, " of ",
                    admission_.BoundOf(where), " bytes of ",
                    admission_.NameOf(where));
    std::erase_if(holders, [where](const Admission::Held& held) {
      return held.place != where;
    });
  }
  const char* before = ", held by ";
  for (const Admission::Held& held : holders) {
    if (!load.demands.empty() && &held - holders.data() == kMaxListed) {
      absl::StrAppend(&text, " and ", holders.size() - kMaxListed, " others");
      break;
    }
    absl::StrAppend(&text, before, held.what, " of client '",
                    name_of(held.client), "' (", held.bytes, ")");
    before = ", ";
  }
  return text;
}

std::string LoadQueue::Circle(const Load& load,
                              const std::vector<size_t>& stuck,
                              NameOf name_of) const {
  // Follows the chain from each load to one that holds what it needs and waits
  // as well, until a client repeats.
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
    const MemoryWish wish{load.request.client, {}, load.demands};
    if (!admission_.WouldFit({}, {&wish})) {
      const std::vector<int64_t> away = admission_.AwayDevices();
      return absl::StrCat(
          "; the cluster has too few devices even if every client releases all "
          "of its memory",
          away.empty() ? ""
                       : absl::StrCat(", while ", away.size(),
                                      " of its devices are unavailable: ",
                                      admission_.NameOf(away[0]), " is ",
                                      admission_.WhyAway(away[0])),
          Tag(ErrorId::kNoSuchSlice));
    }
    return absl::StrCat(
        "; its own client holds that memory and cannot release it while it "
        "waits",
        Tag(ErrorId::kWaitsForItself));
  }
  return absl::StrCat(
      "; the wait would deadlock, because these clients wait for each other: ",
      absl::StrJoin(chain, ", ",
                    [&](std::string* out, uint32_t one) {
                      const auto own = waiting.find(one);
                      absl::StrAppend(
                          out, "'", name_of(one), "' for ",
                          own == waiting.end() ? "" : own->second->What());
                    }),
      Tag(ErrorId::kWaitsInCircle));
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
    // A load that was passed too often comes before all later loads that want
    // the same memory.
    const bool waits =
        !admission_.HoldsAny(load->request.client) &&
        std::any_of(loads_.begin(), load, [&](const Load& before) {
          return before.passed >= kMaxPassed && Meets(*load, before);
        });
    if (waits || !IsSafe(*load) || absl::IsResourceExhausted(grant(*load))) {
      ++load;
      continue;
    }
    has_chosen_ |= !load->demands.empty();
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

bool LoadQueue::Awaits(int32_t host) const {
  const int64_t place = admission_.MemoryPoolOf(host);
  return std::any_of(loads_.begin(), loads_.end(), [&](const Load& load) {
    return load.need.count(place) > 0;
  });
}

TimeNs LoadQueue::NextDeadline() const {
  TimeNs next = kNoDeadline;
  for (const Load& load : loads_) next = std::min(next, load.deadline);
  return next;
}

std::optional<int32_t> LoadQueue::PriorityOver(uint32_t client,
                                               int32_t above) const {
  std::optional<int32_t> most;
  for (const Load& load : loads_) {
    if (load.priority <= most.value_or(above)) continue;
    for (const Admission::Held& held : admission_.HoldersOf(load.need)) {
      if (held.client == client) most = load.priority;
    }
  }
  return most;
}

}  // namespace pathways
