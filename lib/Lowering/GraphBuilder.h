//===- GraphBuilder.h - Building of action graphs ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to BuildGraph.cpp and BuildLoops.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_GRAPHBUILDER_H
#define PATHWAYS_LIB_LOWERING_GRAPHBUILDER_H

#include "BuildGraph.h"

#include "pathways/Analysis/ProgramLiveness.h"

namespace mlir::pathways {

/// Builds the action graph of one program (see buildGraph).
class GraphBuilder {
public:
  GraphBuilder(ProgramOp program, PlacedModule &module, const CostModel &costs,
               LabelCosts &byLabel, KernelTable &kernels, uint32_t credits)
      : program(program), module(module), costs(costs), byLabel(byLabel),
        kernels(kernels), credits(credits),
        graph(program.getSymName(), program.getLoc()) {}

  FailureOr<ActionGraph> build();

private:
  friend class LoopBuilder;
  using Kind = ActionGraph::Kind;
  /// Properties of an array type in the graph.
  struct ArrayInfo {
    uint32_t slice = 0;
    uint64_t bytes = 0;
    RankedTensorType shard;
  };
  FailureOr<uint32_t> getSlice(FlatSymbolRefAttr name, Location loc);
  FailureOr<ArrayInfo> getInfo(Value value);
  MeshAttr getMesh(uint32_t slice) {
    return graph.slices[slice].slice.getMesh();
  }

  /// Adds a buffer for `value`, which `action` writes.
  LogicalResult define(Value value, uint32_t action, StringRef name);
  LogicalResult checkBody();
  LogicalResult addFeeds();
  LogicalResult addCall(CallOp call);
  LogicalResult addMovement(Operation *op, Value source, Value result);
  LogicalResult addFetches();
  LogicalResult addNode(Operation *op);
  LogicalResult checkNode(Operation *op);
  LogicalResult addLoop(ForOp loop);
  /// Adds to `wanted` the carried arguments whose next value `call` may write
  /// to their memory, and the donations that loops permit.
  LogicalResult addLoopDonations(CallOp call, MemoryWishes &wanted);
  /// Returns true if a buffer has one place in all iterations.
  bool isFixed(uint32_t buffer) const {
    return graph.buffers[graph.getMemory(buffer)].slots == 1;
  }
  void addSteps(CallOp call, const PlanKernel &kernel, uint32_t gang);
  void findCarried();
  /// Returns the arguments whose memory a result may take, with the results.
  FailureOr<MemoryWishes> getDonations(CallOp call);
  /// Returns the carried argument in whose memory `value` is, if no feed reads
  /// it.
  BlockArgument getCarriedAt(Value value);
  /// Returns true if `result` may be written to the memory of `argument`: it is
  /// the next value of `argument`, and of no other argument.
  bool isNextOf(Value result, BlockArgument argument);
  void explainDonations(CallOp call, const PlanKernel &kernel);
  /// Returns true if calls that write into the memory of `value` leave a value
  /// in it that the next step takes.
  bool isCarriedByOthers(Value value);
  /// Lets `action` work only if `guard`, which may be null, says so.
  void addGuard(uint32_t action, Value guard, bool unless);
  /// Adds the arrays that `call` writes into to `gang`.
  LogicalResult addInto(CallOp call, uint32_t gang);

  ProgramOp program;
  PlacedModule &module;
  const CostModel &costs;
  LabelCosts &byLabel;
  KernelTable &kernels;
  uint32_t credits;
  ActionGraph graph;
  DenseMap<StringAttr, uint32_t> slices;
  DenseMap<Type, ArrayInfo> infos;
  DenseMap<Value, uint32_t> buffers;
  DenseMap<Value, std::string> baseNames; // without the numbers
  /// Arguments that take the value from the previous step.
  DenseMap<Value, SmallVector<BlockArgument, 1>> carriedInto;
  std::optional<ProgramLiveness> liveness;
  /// Gangs of the loop that is built, by `pw.gang`.
  llvm::DenseMap<int64_t, uint32_t> gangs;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_GRAPHBUILDER_H
