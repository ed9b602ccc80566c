//===- ActionGraph.h - Actions and the buffers they use ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program as the steps of the lowering see it: actions, the buffers that they
// read and write, and the control dependences that the user requested. It
// implies no further order, credits, offsets or edges: PlanSteps.h decides
// those one by one.
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

/// The actions and buffers of one program, by number. Built in the order of the
/// program; nothing is added afterwards.
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
    /// Sorted, without duplicates and without the writer.
    SmallVector<uint32_t, 2> readers;
    /// The buffer whose bytes this one takes over when that ends, and the
    /// buffer that takes over the bytes of this one: by an alias, or for a
    /// carried argument (see joinCarried).
    uint32_t previous = kNone;
    uint32_t next = kNone;

    uint32_t loop = kNone; ///< kNone: it is in no loop
    /// Slots for the iterations of the loop; 0 while that is not known.
    uint32_t slots = 1;
    bool isReversed = false; ///< the first iteration has the last slot
    /// Another name: for `initial` in the first iteration, and for what the
    /// iteration before has in `carried` in the others.
    uint32_t initial = kNone, carried = kNone;
    /// Another name, behind the loop, for what the last iteration has in this.
    uint32_t lastOf = kNone;

    /// Returns true if the buffer is another name without a writer.
    bool isName() const { return initial != kNone || lastOf != kNone; }
  };

  /// Cells that a slice runs one after the other: a gang and an iteration each,
  /// `times` times, the iterations `step` higher each time.
  struct OrderRun {
    uint32_t slice;
    SmallVector<uint32_t> gangs, iterations;
    uint32_t times, step;
  };

  /// Actions that follow each other and run once in each iteration.
  struct Loop {
    std::string name;
    uint32_t trips;
    uint32_t firstAction, lastAction;
    std::vector<OrderRun> orders = {};
  };

  enum class Kind : uint8_t { Gang, Send, Recv, Feed, Fetch };

  /// Step that all shards of a gang run: a segment or a collective.
  struct Step {
    uint32_t segment = 0;
    Operation *collective = nullptr; ///< null: run the segment
    /// Buffers of the segment, or source and result of the collective.
    SmallVector<uint32_t> buffers;
  };

  struct Action {
    Kind kind;
    std::string name;
    uint32_t slice;
    uint64_t costNs;
    Location loc;
    SmallVector<uint32_t, 2> operands = {}, results = {};
    /// Pairs of an operand and the result that takes its memory.
    SmallVector<std::pair<uint32_t, uint32_t>, 0> aliases = {};
    /// For a send its recv, and for a recv its send.
    uint32_t peer = kNone;
    /// Set for a recv only: nanoseconds of the message that its buffer is free,
    /// and of the one with the value.
    uint64_t requestNs = 0, messageNs = 0;
    /// For a feed the argument, for a fetch the result of the program.
    uint32_t interface = 0;
    const PlanKernel *kernel = nullptr;
    SmallVector<Step, 0> steps = {};
    /// The operand that decides whether the action works; kNone if it always
    /// does. With `unless` it works where the operand is false.
    uint32_t guard = kNone;
    bool unless = false;
    uint32_t loop = kNone; ///< kNone: it is in no loop
  };

  struct Argument {
    std::string name;
    uint32_t action;
    bool isStepped;
    uint32_t from = kNone;      ///< result of the previous step that it takes
    ElementsAttr constant = {}; ///< its value; null: callers pass one
  };
  struct Result {
    std::string name;
    uint32_t action;
    bool isStepped;
    ExpectAttr expect; ///< check of this result; null if there is none
  };

  /// Returns the number of the layout of `type`, independent of its slice;
  /// equal layouts share a number.
  uint32_t getLayout(ArrayType type);

  /// Adds a buffer without actions for an array of this type. A number is
  /// appended to `name` if it is taken.
  uint32_t addBuffer(StringRef name, uint32_t slice, ArrayType type);

  /// Begins a loop, to which the actions and buffers belong that are added
  /// until it ends. A number is appended to `name` if it is taken.
  void beginLoop(StringRef name, uint32_t trips);
  /// Ends the loop. The names of its carried buffers must be complete.
  void endLoop();
  /// Returns the loop that has begun; kNone if there is none.
  uint32_t getOpenLoop() const { return openLoop; }

  /// Adds an action without operands; addRead and addWrite add them. The
  /// reference is valid until the next action is added.
  Action &addAction(Kind kind, StringRef name, uint32_t slice, uint64_t costNs,
                    Location loc);
  void addRead(uint32_t action, uint32_t buffer);
  void addWrite(uint32_t action, uint32_t buffer);

  /// Makes `result`, which gang `action` writes, take the memory of its
  /// operand, which may be a name. Requires that both have equal bytes, that no
  /// other buffer takes over that memory, that all other readers of the operand
  /// come before, and that no feed reads either. Exception: a feed that writes
  /// the first buffer in this memory may read the last.
  void addAlias(uint32_t action, uint32_t operand, uint32_t result);
  /// Makes `next` take over the bytes of `buffer`.
  void addSuccessor(uint32_t buffer, uint32_t next);

  /// Makes firing n of `to` start when firing n of `from` is done on all
  /// shards.
  void addControl(uint32_t from, uint32_t to) {
    controls.emplace_back(from, to);
  }

  uint32_t lastAction() const { return actions.size() - 1; }
  /// Returns the first or the last action that runs in the same loop.
  uint32_t getBegin(uint32_t action) const {
    uint32_t loop = actions[action].loop;
    return loop == kNone ? action : loops[loop].firstAction;
  }
  uint32_t getEnd(uint32_t action) const {
    uint32_t loop = actions[action].loop;
    return loop == kNone ? action : loops[loop].lastAction;
  }
  /// Returns the buffer in whose memory a buffer is, which is no name; of a
  /// carried one the buffer of its loop.
  uint32_t getMemory(uint32_t buffer) const {
    const Buffer &entry = buffers[buffer];
    return entry.lastOf != kNone    ? entry.lastOf
           : entry.carried != kNone ? entry.carried
                                    : buffer;
  }
  bool isGang(uint32_t action) const {
    return actions[action].kind == Kind::Gang;
  }
  bool isFeed(uint32_t action) const {
    return actions[action].kind == Kind::Feed;
  }
  /// Returns true if the buffer is the destination of a movement.
  bool isMoved(uint32_t buffer) const {
    return actions[buffers[buffer].writer].kind == Kind::Recv;
  }
  /// Returns true if only its writer, a gang, uses the buffer.
  bool isTemporary(uint32_t buffer) const {
    const Buffer &entry = buffers[buffer];
    return isGang(entry.writer) && entry.readers.empty() &&
           entry.previous == kNone && entry.next == kNone && entry.slots == 1;
  }
  /// Returns the first or the last buffer in the memory of this one.
  uint32_t getFirst(uint32_t buffer) const;
  uint32_t getLast(uint32_t buffer) const;
  /// Returns true if the feed that writes the first buffer in this memory reads
  /// the last one: the result of a step is the argument of the next, in place.
  bool isRing(uint32_t buffer) const;
  /// Returns the action that must wait until the buffer may be overwritten: its
  /// writer, or the send to it.
  uint32_t getEntry(uint32_t buffer) const {
    uint32_t writer = buffers[buffer].writer;
    return isMoved(buffer) ? actions[writer].peer : writer;
  }

  std::string name;
  Location loc;
  std::string fingerprint; ///< fingerprint of the program's text; may be empty
  std::vector<Slice> slices;
  std::vector<ArrayType>
      layouts; // layouts of arrays; their slices have no meaning
  std::vector<Buffer> buffers;
  std::vector<Action> actions;
  std::vector<std::pair<uint32_t, uint32_t>> controls;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  std::vector<Loop> loops;

  ActionGraph(StringRef name, Location loc) : name(name), loc(loc) {}

private:
  void addReader(uint32_t buffer, uint32_t action);

  UniqueNames bufferNames, actionNames, loopNames;
  uint32_t openLoop = kNone;
  llvm::DenseMap<Type, uint32_t> layoutNumbers;
  /// Pairs of an action and a buffer that it reads, while the graph is built.
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> reads;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_ACTIONGRAPH_H
