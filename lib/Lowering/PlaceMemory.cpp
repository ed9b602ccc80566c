//===- PlaceMemory.cpp - Places of buffers in memory ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

#include "mlir/IR/Diagnostics.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/verify.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <queue>
#include <set>

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Buffers that follow each other in the same bytes by aliases.
struct Unit {
  SmallVector<uint32_t, 1> buffers;
  uint64_t bytes = 0;
  uint32_t begin = 0, end = 0; // first and last action
  bool shareable = false;
};

/// Bytes that units occupy in turn.
struct Slot {
  uint64_t bytes = 0;
  SmallVector<uint32_t, 2> buffers; // in order of their entry
};

} // namespace

static Unit makeUnit(const ActionGraph &graph, uint32_t head) {
  const ActionGraph::Buffer &first = graph.buffers[head];
  Unit unit;
  unit.bytes = first.bytes;
  unit.begin = unit.end = first.writer;
  unit.shareable = graph.isGang(first.writer) && unit.bytes > 0;
  for (uint32_t b = head; b != ActionGraph::kNone; b = graph.buffers[b].next) {
    unit.buffers.push_back(b);
    unit.end = std::max(unit.end, graph.buffers[b].writer);
    for (uint32_t reader : graph.buffers[b].readers) {
      unit.end = std::max(unit.end, reader);
      // Reads what was written in the firing before.
      unit.shareable &= !graph.isFeed(reader);
    }
  }
  return unit;
}

/// Gives each unit a slot: the smallest free one that is large enough, else the
/// largest free one, which grows. Units come in order of their begin.
static std::vector<Slot> packSlots(ArrayRef<Unit> units) {
  using Busy = std::pair<uint32_t, uint32_t>; // last action, slot
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::set<std::pair<uint64_t, uint32_t>> free; // bytes, slot
  std::vector<Slot> slots;
  for (const Unit &unit : units) {
    uint32_t slot = slots.size();
    if (unit.shareable) {
      while (!busy.empty() && busy.top().first < unit.begin) {
        uint32_t freed = busy.top().second;
        busy.pop();
        free.insert({slots[freed].bytes, freed});
      }
      auto fit = free.lower_bound({unit.bytes, 0});
      if (fit == free.end() && !free.empty())
        fit = std::prev(fit);
      if (fit != free.end()) {
        slot = fit->second;
        free.erase(fit);
      }
    }
    if (slot == slots.size())
      slots.emplace_back();
    slots[slot].bytes = std::max(slots[slot].bytes, unit.bytes);
    llvm::append_range(slots[slot].buffers, unit.buffers);
    if (unit.shareable)
      busy.push({unit.end, slot});
  }
  return slots;
}

FailureOr<MemoryPlan> mlir::pathways::placeMemory(const ActionGraph &graph,
                                                  ArrayRef<uint32_t> credits) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Unit>> frames;
  for (auto [number, buffer] : llvm::enumerate(graph.buffers))
    if (buffer.previous == ActionGraph::kNone)
      frames[{buffer.slice, credits[number]}].push_back(
          makeUnit(graph, number));

  MemoryPlan plan;
  plan.places.resize(graph.buffers.size());
  std::vector<uint64_t> used(graph.slices.size());
  for (auto &[key, units] : frames) {
    auto [slice, copies] = key;
    llvm::sort(units, [](const Unit &a, const Unit &b) {
      return std::pair(a.begin, a.buffers.front()) <
             std::pair(b.begin, b.buffers.front());
    });
    std::vector<Slot> slots = packSlots(units);
    bool overflow = false;
    uint64_t bytes = 0;
    SmallVector<uint64_t> offsets;
    for (const Slot &slot : slots) {
      offsets.push_back(bytes);
      bool tooLarge = false;
      bytes = llvm::SaturatingAdd(
          bytes, llvm::alignTo(slot.bytes, ::pathways::kBufferAlignment),
          &tooLarge);
      overflow |= tooLarge;
    }
    bool tooLarge = false;
    uint64_t end = llvm::SaturatingMultiplyAdd(bytes, uint64_t{copies},
                                               used[slice], &tooLarge);
    if (overflow || tooLarge || end > ::pathways::kMaxSegmentBytes) {
      SliceOp op = graph.slices[slice].slice;
      return mlir::emitError(graph.loc)
             << "slice '" << op.getSymName()
             << "' needs more than 2^62 bytes on a device";
    }
    for (auto [slot, offset] : llvm::zip_equal(slots, offsets)) {
      for (uint32_t b : slot.buffers)
        plan.places[b] = {used[slice] + offset, bytes};
      plan.turns.push_back(std::move(slot.buffers));
    }
    used[slice] = end;
  }
  return plan;
}
