//===- admission.cc - Memory of devices, and its holders ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/admission.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/error_codes.h"
#include "runtime/plan/tables.h"

namespace pathways {
namespace {

// Returns the largest buffers of the plan on a device, for messages.
std::string Largest(const PreparedPlan& plan, int64_t device) {
  std::vector<std::pair<uint64_t, int>> sizes;
  for (int b = 0; b < plan.plan().buffers_size(); ++b) {
    const proto::Buffer& buffer = plan.plan().buffers(b);
    if (buffer.memory() != proto::DEVICE) continue;
    const size_t shards = plan.bound(buffer.slice()).ShardsOn(device).size();
    if (shards > 0)
      sizes.emplace_back(AddBytes(0, SpanBytes(buffer), shards), b);
  }
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](auto& a, auto& b) { return a.first > b.first; });
  if (sizes.size() > 3) sizes.resize(3);
  return absl::StrJoin(sizes, ", ", [&](std::string* out, const auto& size) {
    absl::StrAppend(out, "'", plan.plan().buffers(size.second).name(), "' ",
                    size.first);
  });
}

}  // namespace

Admission::Admission(const Topology& topology, const ObjectTable* arrays,
                     const SpillOptions& spill)
    : topology_(topology),
      arrays_(arrays),
      classes_(topology),
      hosts_(topology, spill),
      used_(topology.num_devices()),
      versions_(topology.num_devices()) {
  for (int64_t device = 0; device < topology.num_devices(); ++device) {
    bounds_.push_back(DeviceMemoryBytes(topology.global_device(device)));
  }
}

DeviceBytes Admission::NeedOf(const PreparedPlan& plan) {
  DeviceBytes need, scratch;
  for (const proto::Action& action : plan.plan().actions()) {
    if (action.kind() != proto::GANG) continue;
    uint64_t most = 0;
    for (const proto::GangStep& step : action.steps()) {
      if (!step.has_run()) continue;
      most = std::max<uint64_t>(most, plan.plan()
                                          .kernels(action.kernel())
                                          .segments(step.run().segment())
                                          .scratch_bytes());
    }
    if (most == 0) continue;
    for (const auto& [device, shard] : plan.bound(action.slice()).by_device) {
      uint64_t& s = scratch[device];
      s = std::max(s, most);
    }
  }
  for (uint32_t s = 0; s < plan.slices().size(); ++s) {
    const uint64_t bytes = AlignBuffer(plan.slices()[s].device_bytes);
    for (const auto& [device, shard] : plan.bound(s).by_device) {
      uint64_t& total = need[device];
      total = AddBytes(total, bytes);
    }
  }
  for (const auto& [device, bytes] : scratch) {
    need[device] = AddBytes(need[device], bytes);
  }
  return need;
}

std::string Admission::NameOf(int64_t place) const {
  if (place < topology_.num_devices()) return topology_.GlobalDeviceName(place);
  const std::string host = topology_.HostName(HostOf(place));
  return IsRest(place) ? absl::StrCat(host, " and its spill folder") : host;
}

void Admission::AddNeedOf(int32_t host, uint64_t bytes,
                          DeviceBytes* need) const {
  for (int64_t place : {MemoryPoolOf(host), SpillPoolOf(host)}) {
    if (IsRest(place) && hosts_.spill(host) == 0) continue;
    uint64_t& sum = (*need)[place];
    sum = AddBytes(sum, bytes);
  }
}

int32_t Admission::HostOf(int64_t place) const {
  return place < topology_.num_devices()
             ? topology_.LocateGlobal(place).host
             : static_cast<int32_t>((place - topology_.num_devices()) %
                                    topology_.num_hosts());
}

uint64_t Admission::BoundOf(int64_t place) const {
  if (place < topology_.num_devices()) return bounds_[place];
  const int32_t host = HostOf(place);
  return IsRest(place) ? AddBytes(hosts_.bound(host), hosts_.spill(host))
                       : hosts_.bound(host);
}

uint64_t Admission::FreeAt(int64_t place) const {
  const uint64_t bound = BoundOf(place);
  uint64_t used = 0;
  if (place < topology_.num_devices()) {
    used = used_[place];
  } else if (const int32_t host = HostOf(place); place == ArrayPoolOf(host)) {
    used = AddBytes(hosts_.used(host), hosts_.leaving(host));
  } else {
    used = hosts_.programs(host);
  }
  return bound - std::min(bound, used);
}

std::map<uint32_t, DeviceBytes> Admission::HeldByClients() const {
  std::map<uint32_t, DeviceBytes> held;
  for (const auto& [id, holder] : holders_) {
    DeviceBytes& of = held[holder.number];
    for (const auto& [host, bytes] : hosts_.OfProgram(id)) {
      AddNeedOf(host, bytes, &of);
    }
    if (holder.slice != 0) continue;
    for (const auto& [device, bytes] : holder.bytes) of[device] += bytes;
  }
  if (arrays_ == nullptr) return held;
  for (const auto& [client, bytes_of] : arrays_->BytesByClient()) {
    for (const auto& [host, bytes] : bytes_of) {
      held[client][ArrayPoolOf(host)] += bytes;
    }
  }
  return held;
}

std::vector<Admission::Held> Admission::HoldersOf(
    const DeviceBytes& need) const {
  std::vector<bool> is_short(topology_.num_devices() +
                             2 * topology_.num_hosts());
  bool are_hosts = false;
  for (const auto& [place, bytes] : need) {
    is_short[place] = bytes > FreeAt(place);
    are_hosts |= is_short[place] && place >= topology_.num_devices();
  }
  std::vector<Held> all;
  // Appends a holder to `all`. Returns true if its pool has too little memory.
  auto add = [&](uint32_t client, const std::string& what, int64_t place,
                 uint64_t bytes) {
    if (bytes == 0 || !is_short[place]) return false;
    all.push_back({client, what, place, bytes});
    return true;
  };
  for (const auto& [id, holder] : holders_) {
    const uint32_t client = holder.number;
    const std::string& what = holder.what;
    const bool is_on_device =
        holder.slice == 0 &&
        std::any_of(holder.bytes.begin(), holder.bytes.end(),
                    [&](const auto& one) {
                      return add(client, what, one.first, one.second);
                    });
    if (is_on_device || !are_hosts) continue;
    for (const auto& [host, bytes] : hosts_.OfProgram(id)) {
      if (add(client, what, MemoryPoolOf(host), bytes) ||
          add(client, what, SpillPoolOf(host), bytes)) {
        break;
      }
    }
  }
  if (arrays_ == nullptr || !are_hosts) return all;
  for (const auto& [client, bytes_of] : arrays_->BytesByClient()) {
    for (const auto& [host, bytes] : bytes_of) {
      if (add(client, "arrays", ArrayPoolOf(host), bytes)) break;
    }
  }
  return all;
}

std::set<uint32_t> Admission::ClientsThatHold() const {
  std::set<uint32_t> clients;
  for (const auto& [id, holder] : holders_) clients.insert(holder.number);
  if (arrays_ == nullptr) return clients;
  for (const auto& [client, bytes_of] : arrays_->BytesByClient()) {
    const bool holds =
        std::any_of(bytes_of.begin(), bytes_of.end(),
                    [](const auto& one) { return one.second > 0; });
    if (holds) clients.insert(client);
  }
  return clients;
}

bool Admission::HoldsAny(uint32_t client) const {
  return std::any_of(
             holders_.begin(), holders_.end(),
             [&](const auto& one) { return one.second.number == client; }) ||
         (arrays_ != nullptr && arrays_->BytesOf(client) > 0);
}

uint64_t Admission::BytesOfClient(uint32_t client) const {
  uint64_t bytes = 0;
  for (const auto& [id, holder] : holders_) {
    if (holder.number == client && holder.slice == 0) {
      bytes = AddBytes(bytes, BytesOf(id));
    }
  }
  return bytes;
}

uint64_t Admission::VersionOf(const DeviceBytes& need) const {
  uint64_t version = 1;
  for (const auto& [place, bytes] : need) {
    version += place < topology_.num_devices() ? versions_[place]
                                               : hosts_.version(HostOf(place));
  }
  return version;
}

absl::Status Admission::Admit(uint64_t id, const PreparedPlan& plan,
                              uint32_t number, const std::string& client,
                              uint64_t slice,
                              const std::map<int32_t, uint64_t>& on_hosts) {
  Holder holder{absl::StrCat("program '", plan.name(), "'"), client, number,
                NeedOf(plan), slice};
  absl::Status there = CheckDevices(holder.bytes, plan.name());
  if (!there.ok()) return there;
  DeviceBytes need;
  if (slice == 0) need = holder.bytes;
  for (const auto& [host, bytes] : on_hosts) AddNeedOf(host, bytes, &need);
  for (const auto& [place, bytes] : need) {
    if (bytes <= FreeAt(place)) continue;
    std::string held;
    for (const Held& one : HoldersOf({{place, bytes}})) {
      const auto owner = std::find_if(
          holders_.begin(), holders_.end(),
          [&](const auto& h) { return h.second.number == one.client; });
      absl::StrAppend(&held, held.empty() ? "; held by " : ", ", one.what);
      if (owner != holders_.end()) {
        absl::StrAppend(&held, " of client '", owner->second.client, "'");
      }
      absl::StrAppend(&held, " (", one.bytes, ")");
    }
    const bool is_device = place < topology_.num_devices();
    const std::string largest = is_device ? Largest(plan, place) : "";
    return absl::ResourceExhaustedError(absl::StrCat(
        holder.what, " needs ", bytes, " bytes on ", NameOf(place),
        largest.empty() ? ""
                        : absl::StrCat(" (largest buffers: ", largest, ")"),
        ", where ", BoundOf(place) - FreeAt(place), " of ", BoundOf(place),
        " bytes are used", held, Tag(ErrorId::kNoDeviceMemory)));
  }
  if (slice != 0) {
    absl::Status lent = LendOf(slice, holder);
    if (!lent.ok()) return lent;
  } else {
    for (const auto& [global, bytes] : holder.bytes) {
      SetUsed(global, used_[global] + bytes);
    }
  }
  for (const auto& [host, bytes] : on_hosts) {
    hosts_.SetProgram(id, host, bytes);
  }
  holders_[id] = std::move(holder);
  return absl::OkStatus();
}

absl::Status Admission::CheckDevices(const DeviceBytes& need,
                                     const std::string& program) const {
  const auto needs = [&] {
    return absl::StrCat("program '", program, "' needs ");
  };
  for (const auto& [place, bytes] : need) {
    const int32_t host = HostOf(place);
    if (const auto gone = gone_.find(host); gone != gone_.end()) {
      return absl::UnavailableError(absl::StrCat(
          needs(), topology_.HostName(host), ", which is gone (epoch ",
          gone->second, ")", Tag(ErrorId::kHostGone)));
    }
  }
  for (const auto& [global, bytes] : need) {
    const auto name = [&, device = global] { return NameOf(device); };
    if (const auto lost = lost_.find(global); lost != lost_.end()) {
      return absl::FailedPreconditionError(absl::StrCat(
          needs(), name(), ", whose worker is lost: ", WithoutTag(lost->second),
          Tag(ErrorId::kWorkerLost)));
    }
    if (drained_.count(global) > 0) {
      return absl::UnavailableError(absl::StrCat(
          needs(), name(), ", which is drained", Tag(ErrorId::kDrained)));
    }
  }
  return absl::OkStatus();
}

std::vector<int64_t> Admission::AwayDevices() const {
  std::vector<int64_t> away;
  if (lost_.empty() && drained_.empty() && gone_.empty()) return away;
  for (int64_t device = 0; device < topology_.num_devices(); ++device) {
    if (lost_.count(device) > 0 || drained_.count(device) > 0 ||
        gone_.count(topology_.LocateGlobal(device).host) > 0) {
      away.push_back(device);
    }
  }
  return away;
}

std::string Admission::WhyAway(int64_t device) const {
  const auto gone = gone_.find(topology_.LocateGlobal(device).host);
  if (gone != gone_.end())
    return absl::StrCat("gone (epoch ", gone->second, ")");
  const auto lost = lost_.find(device);
  if (lost != lost_.end()) return absl::StrCat("lost: ", lost->second);
  return drained_.count(device) > 0 ? "drained" : "";
}

bool Admission::IsOnAny(uint64_t id, const std::vector<bool>& devices) const {
  const auto holder = holders_.find(id);
  return holder != holders_.end() &&
         std::any_of(
             holder->second.bytes.begin(), holder->second.bytes.end(),
             [&](const auto& one) {
               const int64_t device = one.first;
               return devices[device] &&
                      gone_.count(topology_.LocateGlobal(device).host) == 0;
             });
}

void Admission::Drain(int64_t device, bool drained) {
  drained ? (void)drained_.insert(device) : (void)drained_.erase(device);
  ++versions_[device];
  ++away_version_;
}

bool Admission::Uses(uint64_t id, int64_t device) const {
  auto holder = holders_.find(id);
  return holder != holders_.end() && holder->second.bytes.count(device) > 0;
}

uint64_t Admission::BytesOf(uint64_t id) const {
  uint64_t bytes = 0;
  auto found = holders_.find(id);
  if (found == holders_.end()) return bytes;
  for (const auto& [device, taken] : found->second.bytes) bytes += taken;
  return bytes;
}

void Admission::Shrink(Holder* holder, int64_t device, uint64_t bytes) {
  const auto found = holder->bytes.find(device);
  if (found == holder->bytes.end()) return;
  uint64_t& has = found->second;
  const uint64_t less = std::exchange(has, bytes) - bytes;
  if (holder->slice == 0) return SetUsed(device, used_[device] - less);
  const auto slice = holders_.find(holder->slice);
  if (slice != holders_.end()) slice->second.lent[device] -= less;
}

void Admission::Release(uint64_t id) {
  auto holder = holders_.find(id);
  if (holder == holders_.end()) return;
  for (const auto& [global, bytes] : holder->second.bytes) {
    Shrink(&holder->second, global, 0);
  }
  hosts_.FreeProgram(id);
  holders_.erase(holder);
}

void Admission::HostGone(int32_t host, uint32_t epoch) {
  ++away_version_;
  gone_[host] = epoch;
  auto is_there = [&](int64_t global) {
    return topology_.LocateGlobal(global).host == host;
  };
  for (auto& [id, holder] : holders_) {
    // A slice gets the device back when the host is up again.
    if (holder.is_slice) continue;
    for (const auto& [global, bytes] : holder.bytes) {
      if (is_there(global)) Shrink(&holder, global, 0);
    }
  }
  std::erase_if(lost_, [&](const auto& one) { return is_there(one.first); });
  for (size_t global = 0; global < versions_.size(); ++global) {
    versions_[global] += is_there(static_cast<int64_t>(global));
  }
}

void Admission::HostUp(int32_t host) {
  gone_.erase(host);
  for (int d = 0; d < topology_.num_host_devices(host); ++d) {
    ++versions_[topology_.GlobalDevice({host, d})];
  }
}

void Admission::ReleaseExcept(uint64_t id, const WaitSet& hosts) {
  auto holder = holders_.find(id);
  if (holder == holders_.end()) return;
  for (const auto& [global, bytes] : holder->second.bytes) {
    if (hosts.Contains(topology_.LocateGlobal(global).host)) continue;
    Shrink(&holder->second, global, 0);
  }
}

}  // namespace pathways
