//===- rebind_plan.cc - A plan on other devices ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/rebind_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/binding/plan_binding.h"

namespace pathways {
namespace {

// Rebinds a slice, which is bound as `bound` says, to the devices of `places`.
void Bind(const SliceBinding& bound, const Topology& topology,
          const std::map<int64_t, int64_t>& places, proto::Slice* slice) {
  auto place = [&](int64_t device) {
    const auto found = places.find(device);
    return found == places.end() ? device : found->second;
  };
  auto in_island = [&](int64_t device) {
    return topology.FromGlobalDevice(device).second;
  };
  if (std::all_of(
          bound.by_device.begin(), bound.by_device.end(),
          [&](const auto& one) { return place(one.first) == one.first; })) {
    return;
  }
  proto::Binding binding = slice->binding();
  const size_t runs = 1 + static_cast<size_t>(binding.more_size());
  const size_t run = bound.device_of.size() / runs;
  proto::DeviceList list;
  // Per run, the distance by which all its devices move within the island.
  std::vector<int64_t> further;
  bool is_affine = binding.has_affine();
  for (size_t r = 0; r < runs; ++r) {
    const uint32_t island = static_cast<uint32_t>(
        topology.FromGlobalDevice(place(bound.device_of[r * run])).first);
    if (r == 0) {
      binding.set_island(island);
    } else {
      binding.mutable_more(static_cast<int>(r) - 1)->set_island(island);
    }
    for (size_t shard = r * run; shard < (r + 1) * run; ++shard) {
      const int64_t from = in_island(bound.device_of[shard]);
      const int64_t to = in_island(place(bound.device_of[shard]));
      if (shard == r * run) further.push_back(to - from);
      is_affine &= to - from == further.back();
      list.add_devices(to);
    }
  }
  if (is_affine) {
    proto::AffineDevices* affine = binding.mutable_affine();
    affine->set_base(affine->base() + further[0]);
    for (size_t r = 1; r < runs; ++r) {
      proto::IslandRun* more = binding.mutable_more(static_cast<int>(r) - 1);
      more->set_base(more->base() + further[r]);
    }
  } else {
    for (proto::IslandRun& more : *binding.mutable_more()) more.clear_base();
    *binding.mutable_list() = std::move(list);
  }
  *slice->mutable_binding() = std::move(binding);
}

class Rebinder {
 public:
  Rebinder(const proto::Plan& plan, const PlanBinding& binding,
           const Topology& topology, const std::vector<bool>& avoid,
           bool oversubscribe)
      : plan_(plan),
        binding_(binding),
        topology_(topology),
        avoid_(avoid),
        oversubscribe_(oversubscribe) {}

  // Chooses the device that replaces each device of the plan.
  absl::Status Choose() {
    used_ = DevicesByIsland(binding_, topology_);
    for (const auto& [island, devices] : used_) {
      for (int64_t device : devices) {
        if (!IsAvoided(device)) place_[device] = device;
      }
    }
    for (const auto& [device, same] : place_) ++load_[same];
    for (const auto& [island, devices] : used_) {
      if (std::none_of(devices.begin(), devices.end(),
                       [&](int64_t device) { return IsAvoided(device); })) {
        continue;
      }
      if (Fill(island, devices)) continue;
      if (MoveAway(devices)) continue;
      if (oversubscribe_ && Share(island, devices)) continue;
      return TooFew(island, devices);
    }
    return absl::OkStatus();
  }

  const std::map<int64_t, int64_t>& place() const { return place_; }

 private:
  using Devices = std::set<int64_t>;

  bool IsAvoided(int64_t device) const {
    return avoid_[static_cast<size_t>(device)];
  }
  int IslandOf(int64_t device) const {
    return topology_.FromGlobalDevice(device).first;
  }

  // Returns true if one device can run the other's kernels, with the same bits.
  bool IsAlike(int64_t one, int64_t other) const {
    const proto::Device& a = topology_.global_device(one);
    const proto::Device& b = topology_.global_device(other);
    return DeviceKind(a) == DeviceKind(b) &&
           IsSameTarget(a.target(), b.target());
  }
  // Returns devices of an island that may replace `device`, in order.
  std::vector<int64_t> Alike(int island, int64_t device) const {
    std::vector<int64_t> alike;
    const int64_t first = topology_.GlobalDevice(island, 0);
    for (int64_t d = first; d < first + topology_.num_devices(island); ++d) {
      if (!IsAvoided(d) && IsAlike(device, d)) alike.push_back(d);
    }
    return alike;
  }

  // Replaces each of `devices` by a free device of the island.
  bool TakeFree(int island, const std::vector<int64_t>& devices) {
    std::set<int64_t> taken;
    std::vector<int64_t> places;
    for (int64_t device : devices) {
      const std::vector<int64_t> alike = Alike(island, device);
      const auto free =
          std::find_if(alike.begin(), alike.end(), [&](int64_t d) {
            return load_.count(d) == 0 && taken.count(d) == 0;
          });
      if (free == alike.end()) return false;
      taken.insert(*free);
      places.push_back(*free);
    }
    for (size_t i = 0; i < devices.size(); ++i) Put(devices[i], places[i]);
    return true;
  }

  // Replaces avoided devices by others of the same island.
  bool Fill(int island, const Devices& devices) {
    std::vector<int64_t> missing;
    for (int64_t device : devices) {
      if (IsAvoided(device)) missing.push_back(device);
    }
    return TakeFree(island, missing);
  }

  // Moves all devices to an island that the plan does not use.
  bool MoveAway(const Devices& devices) {
    std::set<int> taken;
    for (const auto& [island, its] : used_) taken.insert(island);
    for (const auto& [device, place] : place_) taken.insert(IslandOf(place));
    for (int island = 0; island < topology_.num_islands(); ++island) {
      if (taken.count(island) > 0) continue;
      if (!TakeFree(island, {devices.begin(), devices.end()})) continue;
      return true;
    }
    return false;
  }

  // Shares devices of this island, if any may be used, or of the island with
  // the most usable devices. Devices of this island that may stay do.
  bool Share(int island, const Devices& devices) {
    auto usable = [&](int of) {
      int64_t least = INT64_MAX;
      for (int64_t device : devices) {
        least = std::min(least, static_cast<int64_t>(Alike(of, device).size()));
      }
      return least;
    };
    int best = island;
    if (usable(island) == 0) {
      for (int of = 0; of < topology_.num_islands(); ++of) {
        if (usable(of) > usable(best)) best = of;
      }
    }
    if (usable(best) == 0) return false;
    for (int64_t device : devices) {
      if (best == island && !IsAvoided(device)) continue;
      if (place_.count(device) > 0) Remove(device);
      const std::vector<int64_t> alike = Alike(best, device);
      Put(device, *std::min_element(alike.begin(), alike.end(),
                                    [&](int64_t a, int64_t b) {
                                      return LoadOf(a) < LoadOf(b);
                                    }));
    }
    return true;
  }

  absl::Status TooFew(int island, const Devices& devices) const {
    size_t gone = 0;
    for (int64_t device : devices) gone += IsAvoided(device);
    std::string there;
    bool can_share = false;
    for (int of = 0; of < topology_.num_islands(); ++of) {
      const std::vector<int64_t> alike = Alike(of, *devices.begin());
      can_share |= !alike.empty();
      const auto free = std::count_if(
          alike.begin(), alike.end(),
          [&](int64_t device) { return load_.count(device) == 0; });
      absl::StrAppend(&there, there.empty() ? "" : ", ",
                      topology_.IslandName(of), " ", free);
    }
    return absl::ResourceExhaustedError(absl::StrCat(
        "program '", plan_.header().program(), "' is on ", devices.size(),
        " devices of ", topology_.IslandName(island), ", ", gone,
        " of which must be avoided, and there are too few devices to replace "
        "them; devices that are allowed and that the program does not use: ",
        there,
        can_share && !oversubscribe_ ? "; oversubscribe to share devices" : "",
        Tag(ErrorId::kNoReplacement)));
  }

  int64_t LoadOf(int64_t device) const {
    const auto found = load_.find(device);
    return found == load_.end() ? 0 : found->second;
  }
  void Put(int64_t device, int64_t place) {
    if (place_.count(device) > 0) Remove(device);
    place_[device] = place;
    ++load_[place];
  }
  void Remove(int64_t device) {
    const auto place = place_.find(device);
    if (--load_[place->second] == 0) load_.erase(place->second);
    place_.erase(place);
  }

  const proto::Plan& plan_;
  const PlanBinding& binding_;
  const Topology& topology_;
  const std::vector<bool>& avoid_;
  const bool oversubscribe_;
  std::map<int, Devices> used_;       // devices of the plan, by island
  std::map<int64_t, int64_t> place_;  // replacement of each device of the plan
  std::map<int64_t, int64_t> load_;   // devices of the plan on a device
};

}  // namespace

absl::StatusOr<PlanSlices> RebindPlan(const proto::Plan& plan,
                                      const Topology& topology,
                                      const std::vector<bool>& avoid,
                                      bool oversubscribe) {
  absl::StatusOr<PlanBinding> binding = PlanBinding::Create(plan, topology);
  if (!binding.ok()) return binding.status();
  Rebinder rebinder(plan, *binding, topology, avoid, oversubscribe);
  absl::Status chosen = rebinder.Choose();
  if (!chosen.ok()) return chosen;
  return PlacePlan(plan, *binding, topology, rebinder.place());
}

std::map<int, std::set<int64_t>> DevicesByIsland(const PlanBinding& binding,
                                                 const Topology& topology) {
  std::map<int, std::set<int64_t>> devices;
  for (const SliceBinding& slice : binding.slices()) {
    for (const auto& [device, shard] : slice.by_device) {
      devices[topology.FromGlobalDevice(device).first].insert(device);
    }
  }
  return devices;
}

PlanSlices PlacePlan(const proto::Plan& plan, const PlanBinding& binding,
                     const Topology& topology,
                     const std::map<int64_t, int64_t>& place) {
  PlanSlices slices = plan.slices();
  for (int s = 0; s < slices.size(); ++s) {
    Bind(binding.slices()[static_cast<size_t>(s)], topology, place,
         slices.Mutable(s));
  }
  return slices;
}

}  // namespace pathways
