//===- device_choice.cc - Choice of devices that are alike ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/device_choice.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "runtime/binding/plan_binding.h"

namespace pathways {
namespace {

void AddLoad(const CellLoad& load, CellLoad* sum) {
  for (size_t i = 0; i < load.size(); ++i) (*sum)[i] += load[i];
}

// One attempt to place a whole demand, with known classes.
class Choice {
 public:
  Choice(const Topology& topology, const DeviceClasses& classes,
         const DeviceDemand& demand, const DeviceRoom& room)
      : topology_(topology), classes_(classes), demand_(demand), room_(room) {}

  // `only`: the class of all devices, instead of those that the needs name;
  // negative: none.
  std::optional<ChosenDevices> Make(int32_t only) {
    only_ = only;
    offers_.clear();
    taken_.assign(static_cast<size_t>(topology_.num_islands()), -1);
    place_.assign(demand_.islands.size(), nullptr);
    for (size_t need = 0; need < demand_.islands.size(); ++need) {
      Offer(need);
      std::vector<bool> seen(taken_.size());
      if (!Place(need, &seen)) return std::nullopt;
    }
    ChosenDevices chosen;
    for (const Island* offer : place_) chosen.push_back(offer->devices);
    return chosen;
  }

 private:
  // The devices that an island offers for a need.
  struct Island {
    CellLoad load = {};
    int number = 0;
    std::vector<int64_t> devices;
  };
  using Offers = std::vector<Island>;

  bool Suits(int64_t device, const IslandNeed::Device& need) const {
    return classes_.of(device) == (only_ < 0 ? need.like : only_) &&
           room_.Fits(device, need.bytes);
  }

  void Offer(size_t index) {
    const IslandNeed& need = demand_.islands[index];
    for (size_t other = 0; other < index; ++other) {
      // Equal needs, as of a slice over several islands, share their offers.
      if (demand_.islands[other] != need) continue;
      offers_.push_back(offers_[other]);
      return;
    }
    auto offers = std::make_shared<Offers>();
    for (int island = 0; island < topology_.num_islands(); ++island) {
      if (demand_.apart.count(island) > 0) continue;
      std::optional<std::vector<int64_t>> devices =
          need.mesh.empty() ? Least(need, island) : Mesh(need, island);
      if (!devices.has_value()) continue;
      Island offer{{}, island, *std::move(devices)};
      for (int64_t device : offer.devices) {
        AddLoad(room_.load[static_cast<size_t>(device)], &offer.load);
      }
      offers->push_back(std::move(offer));
    }
    std::stable_sort(
        offers->begin(), offers->end(),
        [](const Island& a, const Island& b) { return a.load < b.load; });
    offers_.push_back(std::move(offers));
  }

  // The largest needs choose first, since a device that suits a larger need
  // suits a smaller one too. So the sum of loads is least.
  std::optional<std::vector<int64_t>> Least(const IslandNeed& need,
                                            int island) const {
    const int64_t first = topology_.GlobalDevice(island, 0);
    std::vector<int64_t> candidates(
        static_cast<size_t>(topology_.num_devices(island)));
    if (candidates.size() < need.devices.size()) return std::nullopt;
    std::iota(candidates.begin(), candidates.end(), first);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](int64_t a, int64_t b) {
                       return room_.load[static_cast<size_t>(a)] <
                              room_.load[static_cast<size_t>(b)];
                     });
    std::vector<size_t> order(need.devices.size());
    std::iota(order.begin(), order.end(), size_t{0});
    auto key = [&](size_t i) {
      return std::make_tuple(~need.devices[i].bytes, need.devices[i].like);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(a) < key(b); });
    std::vector<int64_t> devices(order.size());
    for (auto from = order.begin(); from != order.end();) {
      const auto to = std::find_if(
          from, order.end(), [&](size_t i) { return key(i) != key(*from); });
      // Devices with equal needs stay in ascending order.
      std::vector<int64_t> some;
      const size_t wanted = static_cast<size_t>(to - from);
      std::erase_if(candidates, [&](int64_t device) {
        if (some.size() == wanted || !Suits(device, need.devices[*from])) {
          return false;
        }
        some.push_back(device);
        return true;
      });
      if (some.size() < wanted) return std::nullopt;
      std::sort(some.begin(), some.end());
      for (int64_t device : some) devices[*from++] = device;
    }
    return devices;
  }

  std::optional<std::vector<int64_t>> Mesh(const IslandNeed& need,
                                           int island) const {
    const proto::Island& proto = topology_.island(island);
    CellMesh mesh{topology_.IslandShape(island),
                  {proto.torus().begin(), proto.torus().end()}};
    std::vector<int64_t> shape = need.mesh;
    // On a line, neighbours form a row whatever the shape.
    if (mesh.sizes.size() == 1) {
      shape = {std::accumulate(shape.begin(), shape.end(), int64_t{1},
                               std::multiplies<>())};
    }
    std::vector<int64_t> device_at(static_cast<size_t>(std::accumulate(
                                       mesh.sizes.begin(), mesh.sizes.end(),
                                       int64_t{1}, std::multiplies<>())),
                                   -1);
    for (int64_t d = 0; d < topology_.num_devices(island); ++d) {
      const std::vector<int64_t> at = topology_.DeviceCoordinates(island, d);
      int64_t cell = 0;
      for (size_t dim = 0; dim < at.size(); ++dim) {
        cell = cell * mesh.sizes[dim] + at[dim];
      }
      device_at[static_cast<size_t>(cell)] = topology_.GlobalDevice(island, d);
    }
    std::optional<std::vector<int64_t>> cells =
        FindSubMesh(mesh, shape, [&](int64_t cell) -> const CellLoad* {
          const int64_t device = device_at[static_cast<size_t>(cell)];
          if (device < 0 || !Suits(device, need.devices[0])) return nullptr;
          return &room_.load[static_cast<size_t>(device)];
        });
    if (!cells.has_value()) return std::nullopt;
    for (int64_t& cell : *cells) cell = device_at[static_cast<size_t>(cell)];
    return cells;
  }

  // Gives the need its best free island; or an island whose need can move to
  // another one (an augmenting path).
  bool Place(size_t need, std::vector<bool>* seen) {
    auto take = [&](const Island& offer) {
      taken_[static_cast<size_t>(offer.number)] = static_cast<int64_t>(need);
      place_[need] = &offer;
      return true;
    };
    for (const Island& offer : *offers_[need]) {
      if (taken_[static_cast<size_t>(offer.number)] < 0) return take(offer);
    }
    for (const Island& offer : *offers_[need]) {
      const size_t island = static_cast<size_t>(offer.number);
      if ((*seen)[island]) continue;
      (*seen)[island] = true;
      if (Place(static_cast<size_t>(taken_[island]), seen)) return take(offer);
    }
    return false;
  }

  const Topology& topology_;
  const DeviceClasses& classes_;
  const DeviceDemand& demand_;
  const DeviceRoom& room_;
  int32_t only_ = -1;
  std::vector<std::shared_ptr<const Offers>> offers_;  // by need, best first
  std::vector<int64_t> taken_;        // need of each island, or -1
  std::vector<const Island*> place_;  // by need
};

}  // namespace

DeviceClasses::DeviceClasses(const Topology& topology) {
  std::vector<int64_t> firsts;  // by class
  for (int64_t device = 0; device < topology.num_devices(); ++device) {
    const proto::Device& one = topology.global_device(device);
    auto is_alike = [&](int64_t other) {
      const proto::Device& two = topology.global_device(other);
      return DeviceKind(one) == DeviceKind(two) &&
             IsSameTarget(one.target(), two.target());
    };
    const auto found = std::find_if(firsts.begin(), firsts.end(), is_alike);
    class_of_.push_back(static_cast<int32_t>(found - firsts.begin()));
    if (found != firsts.end()) continue;
    firsts.push_back(device);
    of_kind_[DeviceKind(one)].push_back(class_of_.back());
  }
}

const std::vector<int32_t>& DeviceClasses::OfKind(
    const std::string& kind) const {
  static const std::vector<int32_t>* const none = new std::vector<int32_t>;
  const auto found = of_kind_.find(kind);
  return found == of_kind_.end() ? *none : found->second;
}

bool DeviceRoom::Fits(int64_t device, uint64_t bytes) const {
  const size_t d = static_cast<size_t>(device);
  if (closed[d]) return false;
  return bytes == kWholeDevice ? free[d] == bound[d] : bytes <= free[d];
}

void DeviceRoom::Take(int64_t device, uint64_t bytes) {
  const size_t d = static_cast<size_t>(device);
  free[d] -= std::min(free[d], bytes);
  ++load[d][0];
}

std::optional<ChosenDevices> ChooseDevices(const Topology& topology,
                                           const DeviceClasses& classes,
                                           const DeviceDemand& demand,
                                           DeviceRoom* room) {
  DeviceRoom left = *room;
  for (const auto& [device, bytes] : demand.fixed) {
    if (!left.Fits(device, bytes)) return std::nullopt;
    left.Take(device, bytes);
  }
  std::optional<ChosenDevices> chosen;
  Choice choice(topology, classes, demand, left);
  if (demand.kind.empty()) {
    chosen = choice.Make(/*only=*/-1);
  } else {
    for (int32_t only : classes.OfKind(demand.kind)) {
      if (chosen.has_value()) break;
      chosen = choice.Make(only);
    }
  }
  if (!chosen.has_value()) return std::nullopt;
  for (size_t i = 0; i < chosen->size(); ++i) {
    for (size_t d = 0; d < (*chosen)[i].size(); ++d) {
      left.Take((*chosen)[i][d], demand.islands[i].devices[d].bytes);
    }
  }
  *room = std::move(left);
  return chosen;
}

DeviceBytes BytesChosen(const DeviceDemand& demand, const ChosenDevices& chosen,
                        const std::vector<uint64_t>& bound) {
  DeviceBytes bytes = demand.fixed;
  for (size_t i = 0; i < chosen.size(); ++i) {
    for (size_t d = 0; d < chosen[i].size(); ++d) {
      const int64_t device = chosen[i][d];
      bytes[device] += std::min(demand.islands[i].devices[d].bytes,
                                bound[static_cast<size_t>(device)]);
    }
  }
  return bytes;
}

}  // namespace pathways
