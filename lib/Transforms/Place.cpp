//===- Place.cpp - Bind slices to devices ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small search over counts of devices assigns islands to slices.
// DeviceChooser.h then chooses the devices, for all slices of an island
// together.
//
//===----------------------------------------------------------------------===//

#include "DeviceChooser.h"

#include "pathways/Transforms/Machines.h"
#include "pathways/Transforms/Passes.h"
#include "runtime/base/error_codes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pathways {
#define GEN_PASS_DEF_PLACE
#include "pathways/Transforms/Passes.h.inc"
} // namespace mlir::pathways

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Number of times that backtracking may try an island for a slice, in addition
/// to one try per slice and island.
constexpr int64_t kMaxLooks = 1 << 22;
/// Largest number of islands that a message lists.
constexpr int kMaxListed = 4;

using KindCounts = llvm::MapVector<StringRef, int64_t>;

/// Slices that must be on one island because `with` joins them. Slices that
/// span islands have one group for each run of shards.
struct Group {
  SmallVector<SliceOp> slices;
  unsigned first = 0; // group of their first run
  unsigned runs = 1;  // number of groups of these slices, which are consecutive
  SmallVector<unsigned> apart; // groups to be apart from, by their first run
  KindCounts needs;            // devices of slices not bound yet, by kind
  int64_t total = 0;           // sum of needs
  int island = -1;
};

/// Constraints that may be dropped, in order of preference.
struct Relaxation {
  bool shareDevices = false;
  bool ignoreApart = false;
};

class Placer {
public:
  Placer(ModuleOp module, const ::pathways::Topology &topology,
         bool oversubscribe)
      : module(module), topology(topology), oversubscribe(oversubscribe) {}

  LogicalResult place();

private:
  LogicalResult readSlices();
  LogicalResult readBindings();
  LogicalResult checkBinding(BindOp bind, SliceOp slice);
  void countDevices();
  LogicalResult checkKinds();
  LogicalResult searchIslands();
  bool assign(ArrayRef<unsigned> order, Relaxation relaxation);
  SmallVector<int> getCandidates(unsigned group, Relaxation relaxation);
  bool isApart(unsigned group, int island, unsigned *conflict = nullptr);
  bool hasRoom(const Group &group, int island);
  LogicalResult reportShortage(unsigned group);
  void chooseDevices();
  void reportSharedIslands();

  StringRef kindOf(int island, int64_t device) {
    return ::pathways::DeviceKind(topology.device(island, device));
  }
  /// Returns the groups of a slice, by run.
  MutableArrayRef<Group> groupsOf(SliceOp slice) {
    Group &first = groups[groupOf.lookup(slice.getSymName())];
    return MutableArrayRef<Group>(&first, first.runs);
  }
  StringRef nameOf(unsigned group) {
    return groups[group].slices.front().getSymName();
  }

  ModuleOp module;
  const ::pathways::Topology &topology;
  bool oversubscribe;

  SmallVector<SliceOp> slices;
  llvm::StringMap<BindOp> binds;
  std::vector<Group> groups;
  llvm::StringMap<unsigned> groupOf; // group of the first run
  // Per island: number of shards on each device, and devices and free devices
  // by kind.
  std::vector<std::vector<int64_t>> load;
  std::vector<KindCounts> all, available;
  Operation *insertAfter = nullptr;
  int64_t looks = 0;
  // The first group that found no island, and the devices that were free then.
  std::optional<unsigned> stuck;
  std::vector<KindCounts> availableWhenStuck;
  SmallVector<int> islandsWhenStuck;
};

LogicalResult Placer::readSlices() {
  llvm::append_range(slices, module.getOps<SliceOp>());
  llvm::StringMap<unsigned> index;
  llvm::EquivalenceClasses<unsigned> together;
  for (auto [i, slice] : llvm::enumerate(slices)) {
    index[slice.getSymName()] = i;
    together.insert(i);
    insertAfter = slice;
  }
  for (auto [i, slice] : llvm::enumerate(slices))
    if (std::optional<ArrayAttr> with = slice.getWith())
      for (auto other : with->getAsRange<FlatSymbolRefAttr>())
        together.unionSets(i, index.lookup(other.getValue()));
  // Groups are in order of their first slice.
  llvm::DenseMap<unsigned, unsigned> groupOfLeader;
  for (auto [i, slice] : llvm::enumerate(slices)) {
    auto [it, inserted] =
        groupOfLeader.try_emplace(together.getLeaderValue(i), groups.size());
    if (inserted) {
      Group group;
      group.first = groups.size();
      group.runs = slice.getNumIslands();
      groups.insert(groups.end(), group.runs, group);
    }
    groupOf[slice.getSymName()] = it->second;
    for (Group &group : groupsOf(slice))
      group.slices.push_back(slice);
  }
  for (SliceOp slice : slices) {
    unsigned group = groupOf.lookup(slice.getSymName());
    std::optional<ArrayAttr> apart = slice.getApartFrom();
    if (!apart)
      continue;
    for (auto name : apart->getAsRange<FlatSymbolRefAttr>()) {
      unsigned other = groupOf.lookup(name.getValue());
      if (group == other) {
        InFlightDiagnostic diagnostic =
            slice.emitOpError()
            << "'" << slice.getSymName() << "' is apart_from " << name
            << ", but 'with' puts both on one island";
        diagnostic.attachNote(slices[index.lookup(name.getValue())].getLoc())
            << "slice '" << name.getValue() << "' is declared here";
        return diagnostic;
      }
      for (Group &run : groupsOf(slice))
        run.apart.push_back(other);
      for (Group &run : groupsOf(slices[index.lookup(name.getValue())]))
        run.apart.push_back(group);
    }
  }
  return success();
}

void Placer::countDevices() {
  int islands = topology.num_islands();
  load.resize(islands);
  all.resize(islands);
  for (int island = 0; island != islands; ++island) {
    load[island].resize(topology.num_devices(island));
    for (int64_t d = 0, e = topology.num_devices(island); d != e; ++d)
      ++all[island][kindOf(island, d)];
  }
}

/// Checks an existing binding against the topology.
LogicalResult Placer::checkBinding(BindOp bind, SliceOp slice) {
  for (int64_t island : bind.getIslands())
    if (island >= topology.num_islands())
      return bind.emitOpError()
             << "binds slice '" << slice.getSymName() << "' to island "
             << island << ", but the topology has " << topology.num_islands();
  // With more shards than devices, devices are shared anyway and visiting each
  // shard would take long: the binding counts as using all that it can reach.
  MeshAttr mesh = slice.getMesh();
  int64_t shards = mesh.getNumShards();
  SmallVector<BindOp::Place> used;
  if (bind.getDevices() || shards <= topology.num_devices()) {
    for (int64_t shard = 0; shard != shards; ++shard)
      used.push_back(bind.getPlace(mesh, shard));
  } else {
    int64_t last = 0, span = bind.getSpan().value_or(0);
    for (auto [size, stride] :
         llvm::zip_equal(mesh.getSizes(), *bind.getStrides()))
      last += (size - 1) * stride;
    if (span)
      last = std::min(last, span - 1);
    SmallVector<int64_t> bases = {static_cast<int64_t>(*bind.getBase())};
    llvm::append_range(bases,
                       bind.getMoreBases().value_or(ArrayRef<int64_t>()));
    for (auto [island, base] : llvm::zip_equal(bind.getIslands(), bases))
      for (int64_t device = 0; device <= last; ++device) {
        used.push_back({island, base + device});
        if (base + device >= topology.num_devices(island))
          break;
      }
  }
  for (auto [island, device] : used) {
    int64_t devices = topology.num_devices(island);
    if (device >= devices)
      return bind.emitOpError()
             << "binds slice '" << slice.getSymName() << "' to device "
             << device << " of island " << island << ", which has " << devices
             << " devices";
    if (kindOf(island, device) != slice.getDeviceKind()) {
      InFlightDiagnostic diagnostic =
          bind.emitOpError()
          << "binds slice '" << slice.getSymName() << "' to device " << device
          << " of island " << island << ", whose kind is '"
          << kindOf(island, device) << "', not '" << slice.getDeviceKind()
          << "'";
      diagnostic.attachNote(slice.getLoc()) << "slice is declared here";
      return diagnostic;
    }
    ++load[island][device];
  }
  return success();
}

LogicalResult Placer::readBindings() {
  for (auto bind : module.getOps<BindOp>()) {
    binds[bind.getSlice()] = bind;
    if (insertAfter->isBeforeInBlock(bind))
      insertAfter = bind;
  }
  for (SliceOp slice : slices) {
    BindOp bind = binds.lookup(slice.getSymName());
    if (!bind) {
      int64_t shards = Run{slice}.getNumShards();
      for (Group &group : groupsOf(slice)) {
        group.needs[slice.getDeviceKind()] += shards;
        group.total += shards;
      }
      continue;
    }
    if (failed(checkBinding(bind, slice)))
      return failure();
    for (auto [group, island] :
         llvm::zip_equal(groupsOf(slice), bind.getIslands())) {
      if (group.island >= 0 && group.island != island)
        return bind.emitOpError()
               << "binds slice '" << slice.getSymName() << "' to island "
               << island << ", but a slice it is with is bound to island "
               << group.island;
      group.island = island;
    }
  }
  for (auto [i, group] : llvm::enumerate(groups)) {
    unsigned conflict;
    if (oversubscribe || group.island < 0 ||
        !isApart(i, group.island, &conflict))
      continue;
    SliceOp slice = group.slices.front(),
            other = groups[conflict].slices.front();
    InFlightDiagnostic diagnostic = slice.emitOpError();
    diagnostic << "'" << slice.getSymName() << "' is bound to island "
               << group.island;
    if (groups[conflict].first == group.first) {
      diagnostic << " twice, but spans " << group.runs << " islands";
      return diagnostic;
    }
    diagnostic << ", like '" << other.getSymName()
               << "', which it is to be apart from";
    diagnostic.attachNote(other.getLoc())
        << "slice '" << other.getSymName() << "' is declared here";
    return diagnostic;
  }
  available.resize(all.size());
  for (size_t island = 0; island != all.size(); ++island)
    for (auto [device, used] : llvm::enumerate(load[island]))
      available[island][kindOf(island, device)] += used == 0;
  return success();
}

/// Fails for a kind that no island has; no relaxation helps.
LogicalResult Placer::checkKinds() {
  for (SliceOp slice : slices) {
    if (binds.contains(slice.getSymName()))
      continue;
    KindCounts kinds;
    for (const KindCounts &counts : all)
      for (const auto &[kind, count] : counts)
        kinds[kind] += count;
    if (kinds.contains(slice.getDeviceKind()))
      continue;
    InFlightDiagnostic diagnostic = slice.emitOpError()
                                    << "'" << slice.getSymName() << "' needs '"
                                    << slice.getDeviceKind()
                                    << "' devices, but the topology has only ";
    llvm::interleaveComma(kinds, diagnostic, [&](const auto &entry) {
      diagnostic << "'" << entry.first << "'";
    });
    diagnostic << ::pathways::Tag(::pathways::ErrorId::kNoSuchKind);
    return diagnostic;
  }
  return success();
}

/// Returns true if `island` has another run of `group`'s slices, or a group
/// that `group` must be apart from.
bool Placer::isApart(unsigned group, int island, unsigned *conflict) {
  auto isThere = [&](unsigned first) {
    for (unsigned run = first, e = first + groups[first].runs; run != e; ++run)
      if (run != group && groups[run].island == island) {
        if (conflict)
          *conflict = run;
        return true;
      }
    return false;
  };
  return isThere(groups[group].first) ||
         llvm::any_of(groups[group].apart, isThere);
}

bool Placer::hasRoom(const Group &group, int island) {
  return llvm::all_of(group.needs, [&](const auto &need) {
    return available[island].lookup(need.first) >= need.second;
  });
}

/// Returns the islands for `group`, best first: fewest constraints dropped,
/// then most free devices of the kinds needed, then the order of the topology.
SmallVector<int> Placer::getCandidates(unsigned index, Relaxation relaxation) {
  const Group &group = groups[index];
  struct Candidate {
    int island;
    int givenUp;
    int64_t free;
  };
  SmallVector<Candidate> candidates;
  for (int island = 0, e = topology.num_islands(); island != e; ++island) {
    if (group.island >= 0 && group.island != island)
      continue;
    bool hasKinds = llvm::all_of(group.needs, [&](const auto &need) {
      return all[island].contains(need.first);
    });
    bool room = hasRoom(group, island);
    bool conflict = group.island < 0 && isApart(index, island);
    if (!hasKinds || (!room && !relaxation.shareDevices) ||
        (conflict && !relaxation.ignoreApart))
      continue;
    int64_t free = 0;
    for (const auto &need : group.needs)
      free += available[island].lookup(need.first);
    candidates.push_back({island, (conflict ? 2 : 0) + (room ? 0 : 1), free});
  }
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tuple(a.givenUp, -a.free) < std::tuple(b.givenUp, -b.free);
  });
  SmallVector<int> islands;
  for (const Candidate &candidate : candidates)
    islands.push_back(candidate.island);
  return islands;
}

/// Assigns islands to the groups of `order`. Iterative, because there may be
/// many.
bool Placer::assign(ArrayRef<unsigned> order, Relaxation relaxation) {
  struct Level {
    SmallVector<int> candidates;
    size_t next = 0;
    bool wasBound = false;
    KindCounts saved;
  };
  std::vector<Level> levels;
  auto open = [&](size_t depth) {
    Level &level = levels.emplace_back();
    level.wasBound = groups[order[depth]].island >= 0;
    level.candidates = getCandidates(order[depth], relaxation);
    looks += topology.num_islands();
    if (level.candidates.empty() && !stuck) {
      stuck = order[depth];
      availableWhenStuck = available;
      for (const Group &group : groups)
        islandsWhenStuck.push_back(group.island);
    }
  };
  if (order.empty())
    return true;
  int64_t maxLooks =
      kMaxLooks + topology.num_islands() * static_cast<int64_t>(order.size());
  open(0);
  while (!levels.empty()) {
    Level &level = levels.back();
    Group &group = groups[order[levels.size() - 1]];
    if (level.next > 0) { // undo the failed candidate
      available[level.candidates[level.next - 1]] = level.saved;
      if (!level.wasBound)
        group.island = -1;
    }
    if (level.next == level.candidates.size() || looks > maxLooks) {
      levels.pop_back();
      continue;
    }
    int island = level.candidates[level.next++];
    level.saved = available[island];
    group.island = island;
    for (const auto &[kind, count] : group.needs) {
      int64_t &free = available[island][kind];
      free = std::max<int64_t>(0, free - count);
    }
    if (levels.size() == order.size())
      return true;
    open(levels.size());
  }
  return false;
}

LogicalResult Placer::searchIslands() {
  SmallVector<unsigned> order;
  for (unsigned i = 0; i != groups.size(); ++i)
    if (groups[i].total > 0)
      order.push_back(i);
  // Largest groups come first, since they are the hardest to place. Bound
  // groups have no choice.
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return std::tuple(groups[a].island < 0, -groups[a].total) <
           std::tuple(groups[b].island < 0, -groups[b].total);
  });
  SmallVector<Relaxation> relaxations = {{}};
  if (oversubscribe)
    relaxations.append({{/*shareDevices=*/true, /*ignoreApart=*/false},
                        {/*shareDevices=*/false, /*ignoreApart=*/true},
                        {/*shareDevices=*/true, /*ignoreApart=*/true}});
  for (Relaxation relaxation : relaxations) {
    looks = 0;
    if (assign(order, relaxation))
      return success();
  }
  // A search that gave up has also recorded where it was stuck.
  return reportShortage(stuck.value_or(order.front()));
}

LogicalResult Placer::reportShortage(unsigned index) {
  Group &group = groups[index];
  SliceOp slice = *llvm::find_if(group.slices, [&](SliceOp slice) {
    return !binds.contains(slice.getSymName());
  });
  for (auto [i, island] : llvm::enumerate(islandsWhenStuck))
    groups[i].island = island;
  available = availableWhenStuck;
  InFlightDiagnostic diagnostic = slice.emitOpError()
                                  << "'" << slice.getSymName() << "' needs ";
  llvm::interleaveComma(group.needs, diagnostic, [&](const auto &need) {
    diagnostic << need.second << " '" << need.first << "' devices";
  });
  if (group.runs > 1)
    diagnostic << " on each of " << group.runs << " islands";
  else
    diagnostic << " on one island";
  if (group.slices.size() > 1)
    diagnostic << ", together with the slices of its 'with'";
  if (!group.apart.empty()) {
    diagnostic << ", apart from ";
    SmallVector<unsigned> apart(group.apart);
    llvm::sort(apart);
    apart.erase(llvm::unique(apart), apart.end());
    llvm::interleaveComma(apart, diagnostic, [&](unsigned other) {
      diagnostic << "'" << nameOf(other) << "'";
    });
  }
  diagnostic << ", but ";
  int listed = 0;
  for (int island = 0, e = topology.num_islands(); island != e; ++island) {
    if (group.island >= 0 && group.island != island)
      continue;
    if (listed == kMaxListed) {
      diagnostic << "; and so on for the other islands";
      break;
    }
    diagnostic << (listed++ ? "; " : "") << topology.IslandName(island);
    unsigned conflict;
    if (isApart(index, island, &conflict)) {
      diagnostic << " has '" << nameOf(conflict) << "'";
      continue;
    }
    diagnostic << " has ";
    llvm::interleaveComma(group.needs, diagnostic, [&](const auto &need) {
      diagnostic << available[island].lookup(need.first) << " of "
                 << all[island].lookup(need.first) << " '" << need.first
                 << "' devices free";
    });
  }
  diagnostic << ::pathways::Tag(::pathways::ErrorId::kNoIslandForSlice);
  diagnostic.attachNote() << "use a topology with more or larger islands, or "
                             "set oversubscribe to share "
                             "devices and islands";
  return diagnostic;
}

void Placer::chooseDevices() {
  DeviceChooser chooser(topology, std::move(load), insertAfter);
  for (int island = 0, e = topology.num_islands(); island != e; ++island) {
    SmallVector<Run> here;
    for (SliceOp slice : slices) {
      if (binds.contains(slice.getSymName()))
        continue;
      for (auto [number, group] : llvm::enumerate(groupsOf(slice)))
        if (group.island == island)
          here.push_back({slice, static_cast<unsigned>(number)});
    }
    chooser.chooseFor(here, island);
  }
}

/// Reports each pair once, at the later slice, unless both were already bound.
void Placer::reportSharedIslands() {
  for (auto [i, group] : llvm::enumerate(groups)) {
    SliceOp slice = group.slices.front();
    llvm::SmallDenseSet<unsigned> reported;
    auto report = [&](unsigned first) {
      for (unsigned other = first, e = first + groups[first].runs;
           other != e && other < i; ++other) {
        if (groups[other].island != group.island ||
            (group.total == 0 && groups[other].total == 0) ||
            !reported.insert(first).second)
          continue;
        InFlightDiagnostic remark = slice.emitRemark();
        remark << "slice '" << slice.getSymName() << "' is on "
               << topology.IslandName(group.island);
        if (first == group.first)
          remark << " more than once, but spans " << group.runs
                 << " islands; it acts as several islands";
        else
          remark << " like '" << nameOf(other)
                 << "', which it is to be apart from; it acts as another "
                    "island";
      }
    };
    report(group.first);
    llvm::for_each(group.apart, report);
  }
}

LogicalResult Placer::place() {
  if (failed(readSlices()))
    return failure();
  if (slices.empty())
    return success();
  countDevices();
  if (failed(readBindings()) || failed(checkKinds()) || failed(searchIslands()))
    return failure();
  reportSharedIslands();
  chooseDevices();
  return success();
}

class PlacePass : public mlir::pathways::impl::PlaceBase<PlacePass> {
public:
  using PlaceBase::PlaceBase;

  void runOnOperation() override {
    const ::pathways::Topology *machines =
        getAnalysis<Machines>().read(topology);
    if (!machines ||
        failed(Placer(getOperation(), *machines, oversubscribe).place()))
      signalPassFailure();
  }
};

} // namespace
