//===- BodySharding.h - How values of a body are cut ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes what is known of some values of a body in global view on to the
// others, forward and backward, along the factors of ShardingRule: the
// propagation of GSPMD (Xu et al., 2021), on axes with names, with rounds as in
// Shardy.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_ANALYSIS_BODYSHARDING_H
#define PATHWAYS_ANALYSIS_BODYSHARDING_H

#include "pathways/Analysis/ShardingRule.h"

namespace mlir::pathways {

/// Who passes on shardings. Later rounds include the earlier ones, which have
/// settled by then.
enum class ShardingRound {
  Alike,        ///< elementwise operations, reshapes, loops and branches
  Contractions, ///< sums of products
  All
};
inline constexpr unsigned kNumShardingRounds = 3;

/// Axes of a mesh, by number, major first.
using AxisList = SmallVector<unsigned, 2>;

/// Shardings of the tensors of one block, with what is nested in it. Closed
/// dimensions keep the axes they have, open ones get more, none loses any. Axes
/// of size 1 count as absent. Nobody gets axes that would leave a shard without
/// elements. Deterministic; time is linear in the operations for meshes of a
/// few axes.
class BodySharding {
public:
  /// Of `body`, without calls, with arguments and returned values cut like
  /// `operands` and `results`, none of them partial.
  BodySharding(Block &body, MeshAttr mesh, ArrayRef<ShardingAttr> operands,
               ArrayRef<ShardingAttr> results);

  /// Passes on what is known until nothing changes.
  void propagate(ShardingRound last = ShardingRound::All);

  /// How a tensor of the body is cut; open dimensions are still marked.
  ShardingAttr get(Value value) const;
  /// What a result is asked for like, which is not what is returned where that
  /// is cut otherwise.
  ShardingAttr getResult(unsigned index) const;

  /// Who brought an axis to a value.
  struct Origin {
    enum Kind { Operand, Result, Constraint } kind;
    unsigned index;        ///< of the operand or result
    Operation *constraint; ///< the `pw.constrain`
    Operation *through;    ///< what passed it on to the value; null: none
  };
  std::optional<Origin> getOrigin(Value value, StringAttr axis) const;
  std::optional<Origin> getResultOrigin(unsigned index, StringAttr axis) const;

private:
  struct Tensor {
    RankedTensorType type;
    SmallVector<AxisList> dims;
    SmallVector<bool> isOpen;
    bool isFree = false; ///< made in any layout: says nothing, wants nothing
    Origin origin;       ///< where it says something itself
    /// Of each axis that came: the tensor and the link it came by.
    llvm::SmallDenseMap<unsigned, std::pair<unsigned, unsigned>, 4> sources;
    SmallVector<unsigned, 4> links;
  };
  /// Tensors whose dimensions are factors.
  struct Link {
    Operation *op;
    ShardingRound round;
    SmallVector<ShardingRule::Factor> factors;
    SmallVector<std::pair<unsigned, SmallVector<int64_t>>> tensors;
    bool isIdentity = false; ///< both tensors are one
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
  std::vector<unsigned> queue; ///< links to look at, in order
};

/// Who that is, with lines, for people.
std::string describe(const BodySharding::Origin &origin);

/// Whether the result of `op` costs nothing to make in any layout: constants of
/// one value, fills, empty tensors.
bool isMadeAnywhere(Operation *op);

} // namespace mlir::pathways

#endif // PATHWAYS_ANALYSIS_BODYSHARDING_H
