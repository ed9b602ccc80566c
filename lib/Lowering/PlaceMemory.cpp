//===- PlaceMemory.cpp - Placement of buffers in memory -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSteps.h"

#include "PackBuffers.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/plan/verify.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Buffers that share bytes by aliases, one after the other.
struct Unit {
  SmallVector<uint32_t, 1> buffers;
  uint64_t bytes = 0;          // aligned
  uint32_t begin = 0, end = 0; // first and last action
  bool shareable = false;
  // The slice that sends the unit; kNone if it is not received.
  uint32_t sender = ActionGraph::kNone;
  // The first action that reads a received unit, and the time that the link
  // and its request take. Both are 0 if it is not received.
  uint32_t firstUse = 0;
  uint64_t linkNs = 0;
};

/// The timeline of a slice's gangs, if each begins when the previous one ends.
class GangClock {
public:
  void add(uint32_t gang, uint64_t costNs) {
    gangs.push_back(gang);
    beginNs.push_back(endNs);
    endNs += std::max(costNs, kGangNs);
  }
  /// Returns the last gang that begins at least `ns` before `action`, which
  /// itself begins when all gangs before it have ended. Returns 0 if these
  /// gangs take less than `ns`, and `action` if the slice has no gangs.
  uint32_t findGangBefore(uint32_t action, uint64_t ns) const {
    if (gangs.empty())
      return action;
    size_t number = llvm::lower_bound(gangs, action) - gangs.begin();
    uint64_t at = number < gangs.size() ? beginNs[number] : endNs;
    if (at < ns)
      return 0;
    return gangs[llvm::upper_bound(beginNs, at - ns) - beginNs.begin() - 1];
  }

private:
  /// Smallest duration of a gang, since dispatch takes time, too.
  static constexpr uint64_t kGangNs = 1000;

  std::vector<uint32_t> gangs;   // ascending
  std::vector<uint64_t> beginNs; // by gang
  uint64_t endNs = 0;
};

/// The buffers of a slice with equal credits.
struct Frame {
  std::vector<Unit> units;
  std::vector<uint64_t> offsets; // by unit
  uint64_t bytes = 0;            // of one copy
};

} // namespace

/// Returns the distance of the slots for iterations.
static uint64_t getStride(const ActionGraph::Buffer &buffer) {
  return llvm::alignTo(buffer.bytes, ::pathways::kBufferAlignment);
}

static Unit makeUnit(const ActionGraph &graph, uint32_t head) {
  const ActionGraph::Buffer &first = graph.buffers[head];
  Unit unit;
  if (graph.isTemporary(head)) {
    unit.begin = unit.end = first.writer;
    unit.bytes = getStride(first);
    unit.shareable = unit.bytes > 0;
    unit.buffers.push_back(head);
    return unit;
  }
  unit.begin = graph.getBegin(graph.getEntry(head));
  unit.shareable =
      (graph.isGang(first.writer) || graph.isMoved(head)) && first.bytes > 0;
  if (graph.isMoved(head) && first.loop == ActionGraph::kNone) {
    unit.sender = graph.actions[unit.begin].slice;
    unit.firstUse =
        first.readers.empty() ? first.writer : first.readers.front();
    unit.linkNs = graph.actions[first.writer].requestNs +
                  graph.actions[first.writer].messageNs;
  }
  for (uint32_t b = head; b != ActionGraph::kNone; b = graph.buffers[b].next) {
    const ActionGraph::Buffer &buffer = graph.buffers[b];
    unit.buffers.push_back(b);
    unit.bytes = std::max(
        unit.bytes, ::pathways::AddBytes(0, getStride(buffer), buffer.slots));
    unit.end = std::max(unit.end, graph.getEnd(buffer.writer));
    for (uint32_t reader : buffer.readers) {
      unit.end = std::max(unit.end, graph.getEnd(reader));
      // A feed reads the value of the previous firing.
      unit.shareable &= !graph.isFeed(reader);
    }
  }
  return unit;
}

/// Places units that share nothing first, then units that take turns. Fails if
/// sums would overflow.
///
/// A send waits for the last use of the bytes that its recv fills. For the
/// transfer to overlap with the gangs that use the value received before it
/// from the same slice, these bytes must be free while those gangs still run
/// for as long as the transfer takes: the place is reserved from then on.
static LogicalResult placeUnits(Frame &frame, const GangClock &clock) {
  std::vector<PackItem> items;
  std::vector<size_t> unitOf;
  // The end of the last unit received from each slice.
  llvm::DenseMap<uint32_t, uint32_t> received;
  // Upper bound for any packing.
  uint64_t most = 0;
  frame.offsets.resize(frame.units.size());
  for (auto [number, unit] : llvm::enumerate(frame.units)) {
    most = ::pathways::AddBytes(most, unit.bytes);
    if (unit.shareable) {
      uint32_t begin = unit.begin;
      if (unit.sender != ActionGraph::kNone) {
        auto [last, isFirst] = received.try_emplace(unit.sender, unit.end);
        if (!isFirst) {
          uint32_t gang = clock.findGangBefore(unit.firstUse, unit.linkNs);
          begin = std::min({begin, last->second, gang});
          last->second = unit.end;
        }
      }
      items.push_back({unit.bytes, begin, unit.end});
      unitOf.push_back(number);
      continue;
    }
    frame.offsets[number] = frame.bytes;
    frame.bytes = ::pathways::AddBytes(frame.bytes, unit.bytes);
  }
  if (most >= ::pathways::kMaxBytes && !items.empty())
    return failure();
  Packing packing = packItems(items);
  for (auto [number, offset] : llvm::zip_equal(unitOf, packing.offsets))
    frame.offsets[number] = frame.bytes + offset;
  frame.bytes = ::pathways::AddBytes(frame.bytes, packing.bytes);
  return success();
}

FailureOr<MemoryPlan> mlir::pathways::placeMemory(const ActionGraph &graph,
                                                  ArrayRef<uint32_t> credits) {
  std::map<std::pair<uint32_t, uint32_t>, Frame> frames;
  for (auto [number, buffer] : llvm::enumerate(graph.buffers))
    if (buffer.previous == ActionGraph::kNone && !buffer.isName())
      frames[{buffer.slice, credits[number]}].units.push_back(
          makeUnit(graph, number));

  std::vector<GangClock> clocks(graph.slices.size());
  for (auto [number, action] : llvm::enumerate(graph.actions))
    if (action.kind == ActionGraph::Kind::Gang)
      clocks[action.slice].add(number, action.costNs);

  MemoryPlan plan;
  plan.places.resize(graph.buffers.size());
  std::vector<uint64_t> used(graph.slices.size());
  for (auto &[key, frame] : frames) {
    auto [slice, copies] = key;
    llvm::sort(frame.units, [](const Unit &a, const Unit &b) {
      return std::pair(a.begin, a.buffers.front()) <
             std::pair(b.begin, b.buffers.front());
    });
    uint64_t end = ::pathways::kMaxBytes;
    if (succeeded(placeUnits(frame, clocks[slice])))
      end = ::pathways::AddBytes(used[slice], frame.bytes, copies);
    if (end >= ::pathways::kMaxSegmentBytes) {
      SliceOp op = graph.slices[slice].slice;
      return mlir::emitError(graph.loc)
             << "slice '" << op.getSymName()
             << "' needs more than 2^62 bytes on a device";
    }
    for (auto [unit, offset] : llvm::zip_equal(frame.units, frame.offsets))
      for (uint32_t b : unit.buffers) {
        const ActionGraph::Buffer &buffer = graph.buffers[b];
        uint64_t last = (buffer.slots - 1) * getStride(buffer);
        plan.places[b] = {used[slice] + offset + (buffer.isReversed ? last : 0),
                          frame.bytes};
      }
    used[slice] = end;
  }
  for (uint32_t b = 0; b < graph.buffers.size(); ++b)
    plan.places[b] = plan.places[graph.getMemory(b)];
  return plan;
}
