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
  /// Mesh coordinates that the code takes; zero when it asks for none.
  unsigned coordinates = 0;
  SegmentedBody body;
  /// Those wanted that the code can do.
  SmallVector<AliasPair> aliases;
  uint64_t costNs = 0;     ///< of one shard
  bool isMeasured = false; ///< so; else that is an estimate
  /// Holds the segment functions until there is a plan.kernel.
  OwningOpRef<ModuleOp> holder;
};

/// Which results of a call should take the memory of its arguments.
struct MemoryWishes {
  struct Wish {
    unsigned argument;
    /// The result that it would best go to.
    std::optional<unsigned> best = std::nullopt;
    /// Any of `open` will do otherwise.
    bool isDonated = false;
    RankedTensorType shard; ///< of the argument
  };
  SmallVector<Wish> wishes;
  /// Results that may take donated memory, by the type of their shards.
  llvm::MapVector<Type, SmallVector<unsigned>> open;
};

/// Gives equal computations one kernel.
class KernelTable {
public:
  explicit KernelTable(const CostModel &costs) : costs(costs) {}

  /// The kernel for calls of `callee` with operands of these types on `mesh`.
  /// It does of `wanted` what the code can do. Null after a diagnostic.
  PlanKernel *get(func::FuncOp callee, MeshAttr mesh,
                  ArrayRef<ArrayType> operands, const MemoryWishes &wanted);

  /// In the order of the table.
  ArrayRef<std::unique_ptr<PlanKernel>> getKernels() const { return kernels; }

private:
  /// What of a mesh and of layouts the code of `callee` depends on.
  enum class Needs { Nothing, Coordinates, Extents };
  Needs getNeeds(func::FuncOp callee);
  /// Fails, after a diagnostic, on a collective that plans lack.
  LogicalResult setCost(PlanKernel &kernel);

  const CostModel &costs;
  UniqueNames names;
  DenseMap<Operation *, Needs> needs;
  DenseMap<Attribute, PlanKernel *> byWish;   // as asked for
  DenseMap<Attribute, PlanKernel *> byResult; // with the aliases it got
  std::vector<std::unique_ptr<PlanKernel>> kernels;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_KERNELTABLE_H
