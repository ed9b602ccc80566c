//===- PlanMemory.cpp - Places of buffers in memory -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers with equal credits on a slice form a frame of slots; firing n of all
// of them uses copy n mod credits of the frame. Buffers take turns in a slot
// when only gangs write them: the queue then orders writers and readers that
// are gangs, a step apart too, and what remains is an edge from each send or
// fetch to the next writer. Whatever is written from outside, by a feed or a
// recv, has a slot of its own, but for the results that alias it.
//
//===----------------------------------------------------------------------===//

#include "PlanBuilder.h"

#include "mlir/IR/Diagnostics.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/verify.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <queue>
#include <set>

using namespace mlir;
using namespace mlir::pathways;
namespace proto = ::pathways::proto;

/// Buffers that share bytes turn with the same step.
void PlanBuilder::equalizeCredits() {
  for (uint32_t head = 0; head < usage.size(); ++head) {
    if (usage[head].operand != kNone || usage[head].result == kNone)
      continue;
    uint32_t credits = 0;
    for (uint32_t b = head; b != kNone; b = usage[b].result)
      credits = std::max(credits, plan.buffers(b).credits());
    for (uint32_t b = head; b != kNone; b = usage[b].result)
      plan.mutable_buffers(b)->set_credits(credits);
  }
}

PlanBuilder::Unit PlanBuilder::makeUnit(uint32_t head) const {
  Unit unit;
  unit.bytes = usage[head].bytes;
  unit.begin = unit.end = usage[head].writer;
  unit.shareable = isGang(usage[head].writer) && unit.bytes > 0;
  for (uint32_t b = head; b != kNone; b = usage[b].result) {
    unit.buffers.push_back(b);
    unit.end = std::max(unit.end, usage[b].writer);
    for (uint32_t reader : usage[b].readers) {
      unit.end = std::max(unit.end, reader);
      // Reads what was written in the firing before.
      unit.shareable &= !isFeed(reader);
    }
  }
  return unit;
}

/// Gives each unit a slot: the smallest free one that is large enough, else the
/// largest free one, which grows. Units come in order of their begin.
void PlanBuilder::packSlots(Frame &frame) {
  using Busy = std::pair<uint32_t, uint32_t>; // last action, slot
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::set<std::pair<uint64_t, uint32_t>> free; // bytes, slot
  for (const Unit &unit : frame.units) {
    uint32_t slot = frame.slots.size();
    if (unit.shareable) {
      while (!busy.empty() && busy.top().first < unit.begin) {
        uint32_t freed = busy.top().second;
        busy.pop();
        free.insert({frame.slots[freed].bytes, freed});
      }
      auto fit = free.lower_bound({unit.bytes, 0});
      if (fit == free.end() && !free.empty())
        fit = std::prev(fit);
      if (fit != free.end()) {
        slot = fit->second;
        free.erase(fit);
      }
    }
    if (slot == frame.slots.size())
      frame.slots.emplace_back();
    frame.slots[slot].bytes = std::max(frame.slots[slot].bytes, unit.bytes);
    llvm::append_range(frame.slots[slot].buffers, unit.buffers);
    if (unit.shareable)
      busy.push({unit.end, slot});
  }
}

/// Adds the edges by which each occupant of `slot` waits for the one before,
/// and the first one for the last one of an earlier step.
void PlanBuilder::orderSlot(const Slot &slot) {
  if (slot.buffers.size() < 2)
    return;
  uint32_t head = slot.buffers.front();
  uint32_t credits = plan.buffers(head).credits();
  bool gangs = isGang(usage[head].writer);
  for (auto [buffer, next] :
       llvm::zip(slot.buffers, llvm::drop_begin(slot.buffers))) {
    uint32_t writer = usage[next].writer; // A gang: the others have no turns.
    for (uint32_t reader : usage[buffer].readers) {
      if (isGang(reader))
        continue;
      addEdge(reader, writer, 0, proto::REUSE, proto::SAME);
      // The way back, which queue order gives when a gang wrote the buffer.
      if (!isGang(usage[buffer].writer))
        addEdge(writer, reader, credits, proto::REUSE, proto::SAME);
    }
  }
  uint32_t last = slot.buffers.back();
  uint32_t entry = getEntry(head);
  proto::Relation relation = isMoved(head) ? proto::PIECES : proto::SAME;
  uint32_t lastGang = usage[last].writer;
  for (uint32_t reader : usage[last].readers) {
    if (isGang(reader)) {
      lastGang = reader;
      continue;
    }
    addEdge(reader, entry, credits, proto::REUSE, relation);
    if (!gangs)
      addEdge(usage[head].writer, reader, 0, proto::REUSE, proto::SAME);
  }
  // A gang that reads the head has the right edge already, as a credit.
  if (!gangs && !llvm::is_contained(usage[head].readers, lastGang))
    addEdge(lastGang, entry, credits, proto::REUSE, relation);
}

FailureOr<std::vector<PlanBuilder::Slot>>
PlanBuilder::placeBuffers(Location loc) {
  std::map<std::pair<uint32_t, uint32_t>, Frame> frames; // slice, credits
  for (uint32_t b = 0; b < usage.size(); ++b)
    if (usage[b].operand == kNone)
      frames[{plan.buffers(b).slice(), plan.buffers(b).credits()}]
          .units.push_back(makeUnit(b));

  std::vector<Slot> slots;
  std::vector<uint64_t> used(plan.slices_size());
  for (auto &[key, frame] : frames) {
    auto [slice, credits] = key;
    llvm::sort(frame.units, [](const Unit &a, const Unit &b) {
      return std::pair(a.begin, a.buffers.front()) <
             std::pair(b.begin, b.buffers.front());
    });
    packSlots(frame);
    bool overflow = false;
    uint64_t bytes = 0;
    for (Slot &slot : frame.slots) {
      slot.offset = bytes;
      bool tooLarge = false;
      bytes = llvm::SaturatingAdd(
          bytes, llvm::alignTo(slot.bytes, ::pathways::kBufferAlignment),
          &tooLarge);
      overflow |= tooLarge;
    }
    bool tooLarge = false;
    uint64_t end = llvm::SaturatingMultiplyAdd(bytes, uint64_t{credits},
                                               used[slice], &tooLarge);
    if (overflow || tooLarge || end > ::pathways::kMaxSegmentBytes)
      return mlir::emitError(loc) << "slice '" << plan.slices(slice).name()
                                  << "' needs more than 2^62 bytes on a device";
    for (Slot &slot : frame.slots) {
      for (uint32_t b : slot.buffers) {
        proto::Buffer *buffer = plan.mutable_buffers(b);
        buffer->set_offset(used[slice] + slot.offset);
        buffer->set_slot_stride(bytes);
      }
      slots.push_back(std::move(slot));
    }
    used[slice] = end;
  }
  return slots;
}
