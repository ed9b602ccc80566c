//===- BodySharding.h - Propagation of shardings in a body ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagates the shardings of some values of a body in global view to the
// others, forward and backward, along the factors of ShardingRule. This is the
// propagation of GSPMD (Xu et al., 2021) on named axes, with rounds as in
// Shardy.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_BODYSHARDING_H
#define PATHWAYS_ANALYSIS_BODYSHARDING_H

#include "pathways/Analysis/ShardingRule.h"

namespace mlir::pathways {

/// The operations that propagate shardings in a round. A later round includes
/// the earlier ones, which have converged by then.
enum class ShardingRound {
  Alike,        ///< elementwise operations, reshapes, loops and branches
  Contractions, ///< sums of products
  All
};
inline constexpr unsigned kNumShardingRounds = 3;

/// Axes of a mesh, by number, major first.
using AxisList = SmallVector<unsigned, 2>;

/// Shardings of the tensors of one block and of the blocks nested in it. A
/// closed dimension keeps its axes, an open one gains axes, none loses any.
/// Axes of size 1 count as absent. No tensor gets axes that would leave a shard
/// without elements. Deterministic. Time is linear in the number of operations
/// for meshes of a few axes.
class BodySharding {
public:
  /// `body` has no calls. Its arguments and returned values are cut like
  /// `operands` and `results`, none of which is partial.
  BodySharding(Block &body, MeshAttr mesh, ArrayRef<ShardingAttr> operands,
               ArrayRef<ShardingAttr> results);

  /// Propagates shardings until nothing changes.
  void propagate(ShardingRound last = ShardingRound::All);

  /// Returns the sharding of a tensor of the body; open dimensions are still
  /// marked.
  ShardingAttr get(Value value) const;
  /// Returns the requested sharding of a result. The returned value may be cut
  /// differently.
  ShardingAttr getResult(unsigned index) const;

  /// The operand, result or constraint that an axis of a value comes from.
  struct Origin {
    enum Kind { Operand, Result, Constraint } kind;
    unsigned index;        ///< number of the operand or result
    Operation *constraint; ///< the `pw.constrain`
    Operation
        *through; ///< operation that passed it on to the value; null: none
  };
  std::optional<Origin> getOrigin(Value value, StringAttr axis) const;
  std::optional<Origin> getResultOrigin(unsigned index, StringAttr axis) const;

private:
  struct Tensor {
    RankedTensorType type;
    SmallVector<AxisList> dims;
    SmallVector<bool> isOpen;
    bool isFree =
        false;     ///< made in any layout: neither gives nor wants a sharding
    Origin origin; ///< set if the tensor has a sharding of its own
    /// For each axis that was propagated to the tensor: the source tensor and
    /// the link.
    llvm::SmallDenseMap<unsigned, std::pair<unsigned, unsigned>, 4> sources;
    SmallVector<unsigned, 4> links;
  };
  /// Tensors whose dimensions are factors of one rule.
  struct Link {
    Operation *op;
    ShardingRound round;
    SmallVector<ShardingRule::Factor> factors;
    SmallVector<std::pair<unsigned, SmallVector<int64_t>>> tensors;
    /// Set if the second of two tensors is in the region of a `pw.manual`: the
    /// manual axes that cut each dimension outside, in front of those inside.
    SmallVector<AxisList> manual;
    AxisList barred;         ///< axes that do not cut the second tensor
    bool isIdentity = false; ///< the two tensors have the same dimensions
    bool isQueued = false;
  };

  unsigned addTensor(RankedTensorType type);
  std::optional<unsigned> lookup(Value value) const;
  void write(unsigned tensor, ShardingAttr sharding, Origin origin);
  void addBlock(Block &block);
  void addOp(Operation &op);
  void addLink(Link link);
  void addIdentity(Operation *op, unsigned a, unsigned b);
  void addIdentity(Operation *op, Value a, unsigned b);
  void addManual(ManualOp op);
  void addManualLink(ManualOp op, ShardingAttr sharding, Value outside,
                     Value inside);
  AxisList getAxes(const Link &link, unsigned index, unsigned dim) const;
  AxisList getNumbers(ArrayAttr axes) const;
  void update(unsigned link);
  SmallVector<AxisList> chooseCut(const Link &link) const;
  int64_t getNumBlocks(ArrayRef<unsigned> axes) const;
  ShardingAttr toAttr(const Tensor &tensor) const;
  std::optional<Origin> findOrigin(unsigned tensor, StringAttr axis) const;

  MeshAttr mesh;
  SmallVector<Tensor, 0> tensors;
  SmallVector<Link, 0> links;
  llvm::DenseMap<Value, unsigned> numbers;
  SmallVector<unsigned> resultTensors;
  std::vector<unsigned> queue; ///< links to update, in order
};

/// Returns how a tensor of type `local` in the region of `op` is cut if it is
/// cut as `sharding` outside: without the manual axes. In a dimension that
/// manual axes cut, only axes that make equal blocks stay, because blocks are
/// then the same inside and outside.
ShardingAttr getInsideSharding(ManualOp op, MeshAttr mesh,
                               RankedTensorType local, ShardingAttr sharding);
/// Returns how a tensor is cut outside of `op` that is cut as `inside` in its
/// region, and by those axes of `sharding` that are manual.
ShardingAttr getOutsideSharding(ManualOp op, ShardingAttr sharding,
                                ShardingAttr inside);

/// Returns true if `op` contains a `pw.manual` or a collective, so that the
/// text says that shards communicate in its regions.
bool containsManual(Operation *op);

/// Describes the origin for people, with its line.
std::string describe(const BodySharding::Origin &origin);

/// Returns true if the result of `op` costs nothing to make in any layout:
/// constants of one value, fills, empty tensors.
bool isMadeAnywhere(Operation *op);

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_BODYSHARDING_H
