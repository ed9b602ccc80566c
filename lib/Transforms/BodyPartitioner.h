//===- BodyPartitioner.h - Partitioning of one body -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Visits a body once, from its arguments to its results. Each operation that
// has a rule is cut in the cheapest way, given the layouts that its operands
// have by then and those that BodySharding wants for its results. An operand in
// another layout is converted. Values without cost, such as constants, are made
// in the layout that is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_BODYPARTITIONER_H
#define PATHWAYS_LIB_TRANSFORMS_BODYPARTITIONER_H

#include "LocalReshard.h"
#include "PaddingMask.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "pathways/Analysis/BodySharding.h"
#include "pathways/Analysis/CutChoice.h"

namespace mlir::pathways {

/// Makes a function in local view that is equivalent to `body`, a function in
/// global view, for arrays of these types on `mesh`. Inserts it into `symbols`,
/// under a name derived from that of `body`, which is unchanged. Fails, with a
/// diagnostic, if the function becomes too large by inlining its callees.
FailureOr<func::FuncOp> partitionBody(func::FuncOp body, MeshAttr mesh,
                                      ArrayRef<ArrayType> operands,
                                      ArrayRef<ArrayType> results,
                                      SymbolTable &symbols,
                                      const BodyExplanations &explanations);

/// Largest number of iterations of a loop that is written out because shards
/// communicate in it: if the partitioner made the communication, and if the
/// text has it.
inline constexpr uint64_t kMaxWrittenOut = 64;
inline constexpr uint64_t kMaxManualTrips = 1024;

/// Returns true if shards may wait for each other at `collective`: all shards
/// run it equally often, and its loops, of at most `mostTrips` iterations
/// together, can be unrolled later.
bool mayStandWhereItIs(Operation *collective, uint64_t mostTrips);

/// Implementation of partitionBody, for one function.
class BodyPartitioner {
public:
  BodyPartitioner(func::FuncOp body, MeshAttr mesh,
                  ArrayRef<ArrayType> operands, ArrayRef<ArrayType> results,
                  SymbolTable &symbols, const BodyExplanations &explanations)
      : body(body), mesh(mesh), operands(operands), results(results),
        symbols(symbols), explanations(explanations),
        isExplained(explanations.shardings), layouts(mesh, explanations),
        builder(body.getLoc(), body) {}

  FailureOr<func::FuncOp> run();

private:
  /// A tensor of the body in one layout.
  struct Local {
    /// The shard; null if the value is made again in each layout. Contributions
    /// to a sum of f16 or bf16 are f32.
    Value value;
    ShardingAttr sharding;
    bool isFree() const { return !value; }
  };

  /// Operands that are contributions, by their number.
  using KeptInits = llvm::SmallDenseMap<unsigned, Value>;

  void partition(Operation *op);
  bool partitionLoop(scf::ForOp loop);
  bool partitionBranch(scf::IfOp branch);
  void partitionManual(ManualOp op);
  bool skipCollective(Operation *op);
  bool partitionAllBranches(Operation *op);
  SmallVector<SmallVector<Value>>
  partitionInPlace(Operation *op, ArrayRef<ShardingAttr> carried);
  void partitionWhile(scf::WhileOp loop);
  void partitionInto(Block &from, Block &to, Operation *op, Operation *copy);
  void partitionRegion(Block &from, Block &to, Operation *op, Operation *copy,
                       ArrayRef<ShardingAttr> carried);
  /// Returns the layouts that the results of `op`, which has regions, have in
  /// all regions. Fails if a result is a tensor that cannot be cut.
  FailureOr<SmallVector<ShardingAttr>> getCarried(Operation *op);
  Value getAs(Value value, ShardingAttr sharding) {
    return sharding ? get(value, sharding) : getWhole(value);
  }
  void defineAs(Value value, Value local, ShardingAttr sharding) {
    if (sharding)
      define(value, local, sharding);
    else
      scalars[value] = local;
  }
  bool keepOrUndo(Operation *op, Operation *copy);
  /// Reports an error at `op`, which contains `inner`, once. The function is
  /// not made.
  void refuse(Operation *op, Operation *inner, const Twine &why);
  /// Reports an error at a loop or branch around `collective`: `op`, or one
  /// inside of it.
  void refuse(Operation *op, Operation *collective);
  /// Returns the layouts over the axes of `ofMesh`, with the routes that are
  /// known.
  LocalReshard takeLayouts(MeshAttr ofMesh);
  void setPlaceFor(Value value);
  /// Returns true if `value` is defined outside of all loops and branches.
  bool isOutside(Value value);
  void cutByRule(Operation *op, const ShardingRule &rule);
  Operation *cloneShard(Operation *op, ValueRange inputs, TypeRange types);
  SmallVector<unsigned> getPaddedFactors(const ShardingRule &rule,
                                         const Cut &cut);
  SmallVector<PaddedDim> getPadding(ArrayRef<int64_t> dims,
                                    const ShardingRule &rule, const Cut &cut,
                                    ArrayRef<unsigned> padded);
  Value getBlockBegin(int64_t size, ArrayAttr axes);
  void maskOperands(Operation *op, const ShardingRule &rule, const Cut &cut,
                    ArrayRef<unsigned> padded, MutableArrayRef<Value> inputs);
  void makeIndicesGlobal(Operation *copy, const ShardingRule &rule,
                         const Cut &cut);
  Operation *widenReduced(Operation *copy, const ShardingRule &rule,
                          ArrayRef<Value> inputs, const KeptInits &kept);
  Operation *maskBody(linalg::LinalgOp copy, const ShardingRule &rule,
                      const Cut &cut, ArrayRef<unsigned> padded);
  void explainEmpty(ConstrainOp op);
  bool cutInBlocks(Operation *op);
  void explainGathers(Operation *op, const ShardingRule &rule);
  bool isGatheredWhole(Value value);
  void explainWhole(Operation *op);
  void computeWhole(Operation *op);

  /// Returns the cheapest axes for the factors of `op`.
  Cut chooseCut(Operation *op, const ShardingRule &rule);
  void explainCut(Operation *op, ArrayRef<CutOption> options);
  void explainLayouts(Operation *op);
  ShardingAttr getLayout(ArrayRef<int64_t> dims, const Cut &cut) {
    return mlir::pathways::getLayout(builder.getContext(), dims, cut);
  }
  /// Returns true if both are combined by one kind over the same axes.
  static bool areAlike(ShardingAttr a, ShardingAttr b) {
    return a && b && a.getPartialKind() == b.getPartialKind() &&
           a.getPartialAxes() == b.getPartialAxes();
  }
  void askContributions(Value value, ShardingAttr sharding);
  KeptInits keepInits(Operation *op, const ShardingRule &rule, const Cut &cut,
                      ArrayRef<StringAttr> reduced);
  ShardingAttr getMade(const ShardingRule &rule, const Cut &cut,
                       unsigned result, ArrayRef<StringAttr> reduced) {
    return getMadeLayout(builder.getContext(), rule, cut, result, reduced);
  }
  bool keepContributions(Operation *op, const ShardingRule &rule);
  /// Returns true if `init` is a tensor of the identity of the reduction.
  bool startsNeutral(Value init, ReductionKind kind);
  Value makeFilled(TypedAttr value, RankedTensorType type);
  /// Converts `value` to the element type `element`.
  Value narrow(Value value, Type element);
  Value widen(Value value);

  RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }
  /// Returns `value` of the body in the layout `sharding`.
  Value get(Value value, ShardingAttr sharding);
  Value getContributions(Value value, ShardingAttr sharding);
  Value getWhole(Value value);
  Value makeFree(Operation *op, RankedTensorType type);
  void define(Value value, Value local, ShardingAttr sharding);
  void mapCaptured(Operation *op, IRMapping &mapping);

  func::FuncOp body;
  MeshAttr mesh;
  ArrayRef<ArrayType> operands, results;
  SymbolTable &symbols;
  BodyExplanations explanations;
  bool isExplained;
  LocalReshard layouts; // over the axes that are not manual at this point
  llvm::DenseMap<Attribute, LocalReshard> otherLayouts; // of other such axes
  bool hasFailed = false;
  ImplicitLocOpBuilder builder;
  OwningOpRef<func::FuncOp> inlined;     // copy of the body that is visited
  std::optional<BodySharding> shardings; // shardings of its tensors
  llvm::DenseMap<Value, Local> locals;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> versions;
  llvm::DenseMap<Value, Value> scalars;
  /// Values that are computed as contributions.
  llvm::DenseMap<Value, ShardingAttr> contributions;
  /// Enclosing operations with regions: the original and its copy.
  SmallVector<std::pair<Operation *, Operation *>> nest;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_BODYPARTITIONER_H
