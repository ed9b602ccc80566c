//===- PlanBuilder.h - The tables of a plan under construction --*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Actions and buffers go in in the order of the program; then finish() finds a
// place in memory for each buffer and writes the edges that follow from who
// reads and writes what.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_PLANBUILDER_H
#define PATHWAYS_LIB_LOWERING_PLANBUILDER_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "runtime/proto/plan.pb.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace mlir::pathways {

/// Gives out names that differ: the name asked for, or with a number appended.
class UniqueNames {
public:
  std::string get(StringRef name);

private:
  llvm::StringMap<unsigned> used; // by name: the next number to try
};

class PlanBuilder {
public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  explicit PlanBuilder(uint32_t stepsInFlight) {
    plan.mutable_header()->set_steps_in_flight(stepsInFlight);
  }

  ::pathways::proto::Plan plan;
  UniqueNames bufferNames, actionNames, kernelNames;

  /// The number of a layout; equal layouts are one.
  uint32_t getLayout(const ::pathways::proto::Layout &layout);

  /// A buffer that no action touches yet; `bytes` are those of one shard.
  uint32_t addBuffer(StringRef name, uint32_t slice, uint32_t layout,
                     uint64_t bytes, uint32_t credits);

  /// An action without operands; use addRead and addWrite for these. The
  /// reference is good until the next action.
  ::pathways::proto::Action &addAction(::pathways::proto::ActionKind kind,
                                       StringRef name, uint32_t slice,
                                       Location loc);
  void addRead(uint32_t action, uint32_t buffer);
  void addWrite(uint32_t action, uint32_t buffer);
  uint32_t getWriter(uint32_t buffer) const { return usage[buffer].writer; }
  uint64_t getBytes(uint32_t buffer) const { return usage[buffer].bytes; }
  Location getLoc(uint32_t action) const { return locs[action]; }

  /// `result`, which gang `action` writes, takes the memory of its operand.
  /// Requires equal bytes, that the operand has no other result yet, that all
  /// its other readers come before, and that no feed reads either.
  void addAlias(uint32_t action, uint32_t operand, uint32_t result);

  /// Firing n of `to` starts when firing n of `from` is done on all shards.
  void addControl(uint32_t from, uint32_t to);

  /// Completes buffers and edges. Fails, with a diagnostic at `loc`, when a
  /// slice needs more memory than a plan can say.
  LogicalResult finish(Location loc);

private:
  struct Usage {
    uint64_t bytes = 0;
    uint32_t writer = kNone;
    SmallVector<uint32_t, 2> readers; // in table order, the writer excluded
    uint32_t operand = kNone;         // of the alias that it is the result of
    uint32_t result = kNone;          // of the alias that it is the operand of
  };
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
    uint64_t offset = 0;
    SmallVector<uint32_t, 2> buffers; // in order of their entry
  };
  /// Slots with equal credits on a slice: firing n of all of them is at
  /// n mod credits times the sum of their bytes.
  struct Frame {
    SmallVector<Slot> slots;
    SmallVector<Unit> units;
  };

  bool isGang(uint32_t action) const {
    return plan.actions(action).kind() == ::pathways::proto::GANG;
  }
  bool isFeed(uint32_t action) const {
    return plan.actions(action).kind() == ::pathways::proto::FEED;
  }
  bool isMoved(uint32_t buffer) const {
    return plan.actions(usage[buffer].writer).kind() == ::pathways::proto::RECV;
  }
  /// What must wait before the buffer may be overwritten.
  uint32_t getEntry(uint32_t buffer) const {
    uint32_t writer = usage[buffer].writer;
    return isMoved(buffer) ? plan.actions(writer).peer() : writer;
  }

  void equalizeCredits();
  Unit makeUnit(uint32_t head) const;
  static void packSlots(Frame &frame);
  void orderSlot(const Slot &slot);
  /// Sets offsets and strides; the slots say which edges that needs.
  FailureOr<std::vector<Slot>> placeBuffers(Location loc);
  void addBufferEdges();
  void addEdge(uint32_t from, uint32_t to, uint32_t tokens,
               ::pathways::proto::EdgeKind kind,
               ::pathways::proto::Relation relation);

  std::vector<Usage> usage;          // per buffer
  std::vector<Location> locs;        // per action
  llvm::StringMap<uint32_t> layouts; // by serialized layout
  std::vector<std::pair<uint32_t, uint32_t>> controls;
  llvm::DenseSet<std::pair<uint64_t, uint64_t>> edges; // ends; all the rest
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_PLANBUILDER_H
