//===- admission_slices.cc - Memory of devices, ahead of programs ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/error_codes.h"
#include "runtime/resources/admission.h"

namespace pathways {
namespace {

// Returns the bytes of the devices that are to be chosen. Larger demands choose
// first.
uint64_t SizeOf(const DeviceDemand& demand) {
  uint64_t size = 0;
  for (const IslandNeed& island : demand.islands) {
    for (const IslandNeed::Device& device : island.devices) {
      size = AddBytes(size, device.bytes);
    }
  }
  return size;
}

uint64_t BytesOn(const DeviceBytes& bytes, int64_t device) {
  const auto found = bytes.find(device);
  return found == bytes.end() ? 0 : found->second;
}

// Returns the devices of each demand, by index; nullopt unless all can be met.
std::optional<std::vector<ChosenDevices>> ChooseAll(
    const Topology& topology, const DeviceClasses& classes,
    const std::vector<const DeviceDemand*>& demands, DeviceRoom room) {
  std::vector<size_t> order(demands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return SizeOf(*demands[a]) > SizeOf(*demands[b]);
  });
  std::vector<ChosenDevices> chosen(demands.size());
  for (size_t i : order) {
    std::optional<ChosenDevices> one =
        ChooseDevices(topology, classes, *demands[i], &room);
    if (!one.has_value()) return std::nullopt;
    chosen[i] = *std::move(one);
  }
  return chosen;
}

}  // namespace

DeviceRoom Admission::RoomBeside(const DeviceBytes& taken) const {
  const size_t devices = static_cast<size_t>(topology_.num_devices());
  DeviceRoom room;
  room.closed.resize(devices);
  room.load.resize(devices);
  for (int64_t device : AwayDevices()) {
    room.closed[static_cast<size_t>(device)] = true;
  }
  for (int64_t device = 0; device < topology_.num_devices(); ++device) {
    room.bound.push_back(BoundOf(device));
    const uint64_t used = BytesOn(taken, device);
    room.free.push_back(room.bound.back() - std::min(room.bound.back(), used));
  }
  return room;
}

bool Admission::MayFit(const DeviceDemand& demand,
                       const IslandNeed& need) const {
  uint64_t least = kWholeDevice;
  std::set<int32_t> classes;
  for (const IslandNeed::Device& device : need.devices) {
    least = std::min(least, device.bytes);
    if (demand.kind.empty()) classes.insert(device.like);
  }
  if (!demand.kind.empty()) {
    const std::vector<int32_t>& all = classes_.OfKind(demand.kind);
    classes.insert(all.begin(), all.end());
  }
  // A device counts as free if it suits the need with the fewest bytes.
  auto is_free = [&](int64_t device) {
    if (classes.count(classes_.of(device)) == 0) return false;
    return FreeAt(device) >= std::min(least, bounds_[device]);
  };
  for (int island = 0; island < topology_.num_islands(); ++island) {
    if (demand.apart.count(island) > 0) continue;
    const int64_t first = topology_.GlobalDevice(island, 0);
    size_t free = 0;
    for (int64_t d = 0; d < topology_.num_devices(island); ++d) {
      free += is_free(first + d);
      if (free == need.devices.size()) return true;
    }
  }
  return false;
}

absl::StatusOr<std::vector<ChosenDevices>> Admission::Reserve(
    uint32_t number, const std::string& client,
    absl::Span<const SliceTerms> slices,
    absl::FunctionRef<int64_t(uint64_t holder)> time_of) {
  const bool may_fit = std::all_of(
      slices.begin(), slices.end(), [this](const SliceTerms& slice) {
        const std::vector<IslandNeed>& needs = slice.demand->islands;
        return std::all_of(needs.begin(), needs.end(),
                           [&](const IslandNeed& need) {
                             return MayFit(*slice.demand, need);
                           });
      });
  if (!may_fit) {
    return absl::ResourceExhaustedError("too few devices are free");
  }
  DeviceBytes taken;
  for (size_t device = 0; device < used_.size(); ++device) {
    taken.emplace_hint(taken.end(), device, used_[device]);
  }
  DeviceRoom room = RoomBeside(taken);
  for (const auto& [id, holder] : holders_) {
    const int64_t time = holder.is_slice ? 0 : time_of(id);
    for (const auto& [device, bytes] : holder.bytes) {
      if (bytes == 0) continue;
      CellLoad& load = room.load[static_cast<size_t>(device)];
      ++load[0];
      load[1] += time;
    }
  }
  for (size_t device = 0; device < used_.size(); ++device) {
    room.load[device][2] = static_cast<int64_t>(used_[device]);
  }
  std::vector<const DeviceDemand*> demands;
  for (const SliceTerms& slice : slices) demands.push_back(slice.demand);
  const std::vector<uint64_t> bound = room.bound;
  std::optional<std::vector<ChosenDevices>> chosen =
      ChooseAll(topology_, classes_, demands, std::move(room));
  if (!chosen.has_value()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("too few devices are free", Tag(ErrorId::kTooFewDevices)));
  }
  for (size_t i = 0; i < slices.size(); ++i) {
    Holder holder{slices[i].what, client, number,
                  BytesChosen(*demands[i], (*chosen)[i], bound)};
    holder.is_slice = true;
    for (const auto& [device, bytes] : holder.bytes) {
      SetUsed(device, used_[device] + bytes);
    }
    holders_[slices[i].id] = std::move(holder);
  }
  return *std::move(chosen);
}

absl::Status Admission::LendOf(uint64_t id, const Holder& holder) {
  const auto found = holders_.find(id);
  if (found == holders_.end() || !found->second.is_slice ||
      found->second.number != holder.number) {
    return absl::FailedPreconditionError(
        absl::StrCat(holder.what, " cannot be loaded on slice ", id,
                     ": it is not held by client '", holder.client, "'",
                     Tag(ErrorId::kSliceNotHeld)));
  }
  Holder& slice = found->second;
  for (const auto& [device, bytes] : holder.bytes) {
    const uint64_t has = BytesOn(slice.bytes, device);
    const uint64_t left = has - BytesOn(slice.lent, device);
    if (bytes <= left) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(holder.what, " needs ", bytes, " bytes on ",
                     NameOf(device), ", where ", slice.what, " has ", left,
                     " of ", has, " bytes left", Tag(ErrorId::kSliceFull)));
  }
  for (const auto& [device, bytes] : holder.bytes) slice.lent[device] += bytes;
  return absl::OkStatus();
}

uint64_t Admission::OwnSlice(uint32_t number, const DeviceBytes& need,
                             std::map<uint64_t, DeviceBytes>* promised) const {
  const bool fits = std::all_of(
      need.begin(), need.end(),
      [this](const auto& one) { return one.second <= FreeAt(one.first); });
  if (fits) return 0;
  for (const auto& [id, slice] : holders_) {
    if (!slice.is_slice || slice.number != number) continue;
    DeviceBytes& taken = (*promised)[id];
    const bool has_room = std::all_of(
        need.begin(), need.end(), [&, &slice = slice](const auto& one) {
          const auto [device, bytes] = one;
          const uint64_t has = BytesOn(slice.bytes, device);
          const uint64_t lent =
              AddBytes(BytesOn(slice.lent, device), BytesOn(taken, device));
          return lent <= has && bytes <= has - lent;
        });
    if (!has_room) continue;
    for (const auto& [device, bytes] : need) taken[device] += bytes;
    return id;
  }
  return 0;
}

void Admission::GiveBack(uint32_t number, uint64_t id) {
  const auto found = holders_.find(id);
  if (found == holders_.end() || !found->second.is_slice ||
      found->second.number != number) {
    return;
  }
  for (auto& [other, holder] : holders_) {
    if (holder.slice == id) holder.slice = 0;
  }
  Holder& slice = found->second;
  for (const auto& [device, bytes] : slice.bytes) {
    Shrink(&slice, device, slice.lent[device]);
  }
  holders_.erase(found);
}

void Admission::GiveBackAll(uint32_t number) {
  std::vector<uint64_t> slices;
  for (const auto& [id, holder] : holders_) {
    if (holder.is_slice && holder.number == number) slices.push_back(id);
  }
  for (uint64_t slice : slices) GiveBack(number, slice);
}

absl::StatusOr<std::set<int>> Admission::IslandsOf(uint32_t number,
                                                   uint64_t slice) const {
  const auto found = holders_.find(slice);
  if (found == holders_.end() || !found->second.is_slice ||
      found->second.number != number) {
    return absl::FailedPreconditionError(absl::StrCat(
        "slice ", slice, " is not held by the client that asks for it",
        Tag(ErrorId::kSliceNotHeld)));
  }
  std::set<int> islands;
  for (const auto& [device, bytes] : found->second.bytes) {
    islands.insert(topology_.FromGlobalDevice(device).first);
  }
  return islands;
}

std::vector<Admission::HeldSlice> Admission::Slices() const {
  std::vector<HeldSlice> slices;
  for (const auto& [id, holder] : holders_) {
    if (!holder.is_slice) continue;
    HeldSlice& slice = slices.emplace_back();
    slice.what = holder.what;
    slice.client = holder.number;
    slice.devices = holder.bytes.size();
    slice.bytes = BytesOf(id);
    for (const auto& [device, bytes] : holder.lent) slice.lent += bytes;
  }
  return slices;
}

DeviceBytes Admission::Reach(const DeviceDemand& demand) const {
  DeviceBytes reach = demand.fixed;
  std::map<int32_t, uint64_t> least;  // by class
  for (const IslandNeed& island : demand.islands) {
    for (const IslandNeed::Device& device : island.devices) {
      std::vector<int32_t> classes = {device.like};
      if (!demand.kind.empty()) classes = classes_.OfKind(demand.kind);
      for (int32_t one : classes) {
        const auto [found, is_new] = least.emplace(one, device.bytes);
        if (!is_new) found->second = std::min(found->second, device.bytes);
      }
    }
  }
  for (int64_t device = 0; device < topology_.num_devices(); ++device) {
    const auto found = least.find(classes_.of(device));
    if (found == least.end() ||
        demand.apart.count(topology_.FromGlobalDevice(device).first) > 0) {
      continue;
    }
    reach.emplace(device, std::min(found->second, BoundOf(device)));
  }
  return reach;
}

bool Admission::WouldFit(const DeviceBytes& taken,
                         absl::Span<const MemoryWish* const> wishes) const {
  // Fixed demands first; the rest is chosen beside them.
  DeviceBytes used = taken;
  std::vector<const DeviceDemand*> demands;
  for (const MemoryWish* wish : wishes) {
    for (const auto& [place, bytes] : wish->bytes) {
      uint64_t& sum = used[place];
      sum = AddBytes(sum, bytes);
      if (sum > BoundOf(place)) return false;
    }
    for (const DeviceDemand& demand : wish->demands) {
      demands.push_back(&demand);
    }
  }
  return demands.empty() ||
         ChooseAll(topology_, classes_, demands, RoomBeside(used)).has_value();
}

}  // namespace pathways
