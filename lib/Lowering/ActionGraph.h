//===- ActionGraph.h - Actions and what they touch --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program as the steps of the lowering see it: actions, the buffers that they
// read and write, and who waits for whom by the user's word. It says nothing of
// order beyond what follows from these, of credits, offsets or edges:
// PlanSteps.h decides those, one by one.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_ACTIONGRAPH_H
#define PATHWAYS_LIB_LOWERING_ACTIONGRAPH_H

#include "UniqueNames.h"
#include "mlir/IR/Location.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace mlir::pathways {

struct PlanKernel;

/// The actions and buffers of one program, each by its number. Built in the
/// order of the program; afterwards nothing is added.
class ActionGraph {
public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  /// A slice and the devices that it is bound to.
  struct Slice {
    SliceOp slice;
    BindOp bind;
  };

  /// One array of a slice, or a temporary of a gang.
  struct Buffer {
    std::string name;
    uint32_t slice = 0;
    uint32_t layout = 0;
    uint64_t bytes = 0; ///< of one shard
    uint32_t writer = kNone;
    /// Ascending, each once, the writer excluded.
    SmallVector<uint32_t, 2> readers;
    /// Whose bytes it takes over when that ends, and who takes over its own: by
    /// an alias, or on the way of a carried argument (see joinCarried).
    uint32_t previous = kNone;
    uint32_t next = kNone;
  };

  enum class Kind : uint8_t { Gang, Send, Recv, Feed, Fetch };

  /// What all shards of a gang do: run a segment, or communicate.
  struct Step {
    uint32_t segment = 0;
    Operation *collective = nullptr; ///< null: run the segment
    /// Those of the segment, or what the collective takes and gives.
    SmallVector<uint32_t> buffers;
  };

  struct Action {
    Kind kind;
    std::string name;
    uint32_t slice;
    uint64_t costNs;
    Location loc;
    SmallVector<uint32_t, 2> operands = {}, results = {};
    /// Operands whose memory a result takes.
    SmallVector<std::pair<uint32_t, uint32_t>, 0> aliases = {};
    /// Of a send its recv, and the other way round.
    uint32_t peer = kNone;
    /// Set for a recv only: the nanoseconds from the message that says that the
    /// buffer is free until the value has arrived in it.
    uint64_t linkNs = 0;
    /// Of a feed the argument, of a fetch the result of the program.
    uint32_t interface = 0;
    const PlanKernel *kernel = nullptr;
    SmallVector<Step, 0> steps = {};
  };

  struct Argument {
    std::string name;
    uint32_t action;
    bool isStepped;
    uint32_t from = kNone; ///< the result that it takes from the step before
  };
  struct Result {
    std::string name;
    uint32_t action;
    bool isStepped;
  };

  /// The number of the layout of `type`, whatever its slice; equal ones are
  /// one.
  uint32_t getLayout(ArrayType type);

  /// A buffer that no action touches yet, for an array of this type; `name`
  /// gets a number appended when it is taken.
  uint32_t addBuffer(StringRef name, uint32_t slice, ArrayType type);

  /// An action without operands; use addRead and addWrite for these. The
  /// reference is good until the next action.
  Action &addAction(Kind kind, StringRef name, uint32_t slice, uint64_t costNs,
                    Location loc);
  void addRead(uint32_t action, uint32_t buffer);
  void addWrite(uint32_t action, uint32_t buffer);

  /// `result`, which gang `action` writes, takes the memory of its operand.
  /// Requires equal bytes, that nobody takes over that memory yet, that all
  /// other readers of the operand come before, and that no feed reads either;
  /// but one that writes the first buffer in this memory may read the last.
  void addAlias(uint32_t action, uint32_t operand, uint32_t result);
  /// `next` takes over the bytes of `buffer`.
  void addSuccessor(uint32_t buffer, uint32_t next);

  /// Firing n of `to` starts when firing n of `from` is done on all shards.
  void addControl(uint32_t from, uint32_t to) {
    controls.emplace_back(from, to);
  }

  uint32_t lastAction() const { return actions.size() - 1; }
  bool isGang(uint32_t action) const {
    return actions[action].kind == Kind::Gang;
  }
  bool isFeed(uint32_t action) const {
    return actions[action].kind == Kind::Feed;
  }
  /// Whether the buffer is the destination of a movement.
  bool isMoved(uint32_t buffer) const {
    return actions[buffers[buffer].writer].kind == Kind::Recv;
  }
  /// The first buffer in the memory of this one, and the last.
  uint32_t getFirst(uint32_t buffer) const;
  uint32_t getLast(uint32_t buffer) const;
  /// Whether the feed that writes the first buffer in this memory reads the
  /// last one: what a step leaves there is the next one's argument, in place.
  bool isRing(uint32_t buffer) const;
  /// What must wait before the buffer may be overwritten: its writer, or the
  /// send to it.
  uint32_t getEntry(uint32_t buffer) const {
    uint32_t writer = buffers[buffer].writer;
    return isMoved(buffer) ? actions[writer].peer : writer;
  }

  std::string name;
  Location loc;
  std::string fingerprint; ///< of the program's text; may be empty
  std::vector<Slice> slices;
  std::vector<ArrayType> layouts; // their slices mean nothing
  std::vector<Buffer> buffers;
  std::vector<Action> actions;
  std::vector<std::pair<uint32_t, uint32_t>> controls;
  std::vector<Argument> arguments;
  std::vector<Result> results;

  ActionGraph(StringRef name, Location loc) : name(name), loc(loc) {}

private:
  UniqueNames bufferNames, actionNames;
  llvm::DenseMap<Type, uint32_t> layoutNumbers;
  /// Actions and what they read, as long as the graph is built.
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> reads;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_ACTIONGRAPH_H
