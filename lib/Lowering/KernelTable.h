//===- KernelTable.h - Kernels that calls share -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_KERNELTABLE_H
#define PATHWAYS_LIB_LOWERING_KERNELTABLE_H

#include "UniqueNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pathways/Analysis/CostModel.h"
#include "pathways/Codegen/Segments.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <memory>
#include <optional>

namespace mlir::pathways {

struct PlanKernel {
  uint32_t number = 0; ///< in the table
  std::string name;
  /// Number of mesh coordinates that the code takes; zero if it needs none.
  unsigned coordinates = 0;
  SegmentedBody body;
  /// The wanted aliases that the code supports.
  SmallVector<AliasPair> aliases;
  uint64_t costNs = 0;     ///< of one shard
  bool isMeasured = false; ///< true if costNs is measured, not estimated
  /// Holds the segment functions until there is a plan.kernel.
  OwningOpRef<ModuleOp> holder;
};

/// The results of a call that should take the memory of its arguments.
struct MemoryWishes {
  struct Wish {
    unsigned argument;
    /// The preferred result.
    std::optional<unsigned> best = std::nullopt;
    /// True if any result of `open` will do otherwise.
    bool isDonated = false;
    RankedTensorType shard; ///< type of the argument
  };
  SmallVector<Wish> wishes;
  /// Results that may take donated memory, by the type of their shards.
  llvm::MapVector<Type, SmallVector<unsigned>> open;
};

/// Shares one kernel among equal computations.
class KernelTable {
public:
  explicit KernelTable(const CostModel &costs) : costs(costs) {}

  /// Returns the kernel for calls of `callee` with operands of these types on
  /// `mesh`. It has those aliases of `wanted` that the code supports. Null
  /// after a diagnostic.
  PlanKernel *get(func::FuncOp callee, MeshAttr mesh,
                  ArrayRef<ArrayType> operands, const MemoryWishes &wanted);

  /// The kernels in the order of the table.
  ArrayRef<std::unique_ptr<PlanKernel>> getKernels() const { return kernels; }

private:
  /// Properties of a mesh and of layouts that the code of `callee` depends on.
  enum class Needs { Nothing, Coordinates, Extents };
  Needs getNeeds(func::FuncOp callee);
  /// Fails, after a diagnostic, on a collective that plans do not support.
  LogicalResult setCost(PlanKernel &kernel);

  const CostModel &costs;
  UniqueNames names;
  DenseMap<Operation *, Needs> needs;
  DenseMap<Attribute, PlanKernel *> byWish;   // key has the aliases asked for
  DenseMap<Attribute, PlanKernel *> byResult; // key has the aliases it got
  std::vector<std::unique_ptr<PlanKernel>> kernels;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_KERNELTABLE_H
