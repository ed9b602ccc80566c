//===- PackBuffers.cpp - Offsets for items with lifetimes -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackBuffers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <optional>
#include <queue>
#include <set>

using namespace mlir::pathways;
using llvm::ArrayRef;

namespace {

/// Items by lifetime. Items of about equal length are together, so that few of
/// those visited are in use at another time.
class PlacedItems {
public:
  void add(uint32_t item, const PackItem &about) {
    byLength[getClass(about)].emplace(about.begin, item);
  }
  /// Calls `visit` with each item that is in use while `about` is, and perhaps
  /// with others.
  template <typename F> void visitNear(const PackItem &about, F visit) const {
    for (const auto &[lengthClass, items] : byLength) {
      uint64_t longest = (uint64_t{2} << lengthClass) - 1;
      uint64_t first =
          about.begin + 1 > longest ? about.begin + 1 - longest : 0;
      auto it = items.lower_bound({static_cast<uint32_t>(first), 0});
      for (; it != items.end() && it->first <= about.end; ++it)
        visit(it->second);
    }
  }

private:
  static unsigned getClass(const PackItem &about) {
    return llvm::Log2_64(uint64_t{about.end} - about.begin + 1);
  }
  std::map<unsigned, std::set<std::pair<uint32_t, uint32_t>>> byLength;
};

} // namespace

/// Returns the start of the smallest hole that fits between `taken`, which are
/// sorted, or after all of them.
static uint64_t findHole(ArrayRef<std::pair<uint64_t, uint64_t>> taken,
                         uint64_t bytes) {
  uint64_t end = 0, best = 0, smallest = ~uint64_t{0};
  for (auto [from, to] : taken) {
    if (from > end && from - end >= bytes && from - end < smallest) {
      smallest = from - end;
      best = end;
    }
    end = std::max(end, to);
  }
  return smallest == ~uint64_t{0} ? end : best;
}

/// Returns nullopt if more than `budget` items would be visited.
static std::optional<Packing> packByBytes(ArrayRef<PackItem> items,
                                          uint64_t budget) {
  std::vector<uint32_t> order(items.size());
  for (auto [position, item] : llvm::enumerate(order))
    item = position;
  llvm::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return items[a].bytes != items[b].bytes ? items[a].bytes > items[b].bytes
                                            : items[a].begin < items[b].begin;
  });
  Packing packing;
  packing.offsets.resize(items.size());
  PlacedItems placed;
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (uint32_t number : order) {
    const PackItem &item = items[number];
    taken.clear();
    placed.visitNear(item, [&](uint32_t other) {
      if (budget > 0)
        --budget;
      uint64_t offset = packing.offsets[other];
      if (items[other].begin <= item.end && item.begin <= items[other].end &&
          budget > 0)
        taken.emplace_back(offset, offset + items[other].bytes);
    });
    if (budget == 0)
      return std::nullopt;
    llvm::sort(taken);
    uint64_t offset = findHole(taken, item.bytes);
    packing.offsets[number] = offset;
    packing.bytes = std::max(packing.bytes, offset + item.bytes);
    placed.add(number, item);
  }
  return packing;
}

/// Gives each item a place: the smallest free one that is large enough, else
/// the largest free one, which grows.
static Packing packByBegin(ArrayRef<PackItem> items) {
  std::vector<uint32_t> order(items.size()), placeOf(items.size());
  for (auto [position, item] : llvm::enumerate(order))
    item = position;
  llvm::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return items[a].begin < items[b].begin;
  });
  using Busy = std::pair<uint32_t, uint32_t>; // last action, place
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::set<std::pair<uint64_t, uint32_t>> free; // bytes, place
  std::vector<uint64_t> places;                 // bytes
  for (uint32_t number : order) {
    const PackItem &item = items[number];
    while (!busy.empty() && busy.top().first < item.begin) {
      free.insert({places[busy.top().second], busy.top().second});
      busy.pop();
    }
    auto fit = free.lower_bound({item.bytes, 0});
    if (fit == free.end() && !free.empty())
      fit = std::prev(fit);
    uint32_t place = places.size();
    if (fit == free.end()) {
      places.push_back(0);
    } else {
      place = fit->second;
      free.erase(fit);
    }
    places[place] = std::max(places[place], item.bytes);
    placeOf[number] = place;
    busy.push({item.end, place});
  }
  Packing packing;
  std::vector<uint64_t> offsets;
  for (uint64_t bytes : places) {
    offsets.push_back(packing.bytes);
    packing.bytes += bytes;
  }
  for (uint32_t place : placeOf)
    packing.offsets.push_back(offsets[place]);
  return packing;
}

Packing mlir::pathways::packItems(ArrayRef<PackItem> items, uint64_t budget) {
  Packing simple = packByBegin(items);
  std::optional<Packing> tight = packByBytes(items, budget);
  return tight && tight->bytes < simple.bytes ? *std::move(tight) : simple;
}
