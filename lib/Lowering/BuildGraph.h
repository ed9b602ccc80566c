//===- BuildGraph.h - From placed programs to action graphs -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_LOWERING_BUILDGRAPH_H
#define PATHWAYS_LIB_LOWERING_BUILDGRAPH_H

#include "ActionGraph.h"
#include "KernelTable.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pathways {

/// Slices of a module with their bindings.
struct PlacedModule {
  SymbolTable symbols;
  DenseMap<StringAttr, BindOp> bindings;

  explicit PlacedModule(ModuleOp module) : symbols(module) {
    for (auto bind : module.getOps<BindOp>())
      bindings[bind.getSliceAttr().getAttr()] = bind;
  }
};

/// What `program`, placed and with explicit movement, does. Takes the kernels
/// of its calls from `kernels`, which must outlive the graph. Where an argument
/// is carried into another one and buffers have one slot (`credits` 1), inserts
/// a copy into the program. Says in a remark which donation gives nobody its
/// memory. Fails, with a diagnostic, at what is not in the form needed.
FailureOr<ActionGraph> buildGraph(ProgramOp program, PlacedModule &module,
                                  const CostModel &costs, KernelTable &kernels,
                                  uint32_t credits);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_BUILDGRAPH_H
