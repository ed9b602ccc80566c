//===- BuildGraph.h - Action graphs of placed programs ----------*- C++ -*-===//
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
#include "LabelCosts.h"
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

/// Returns the action graph of `program`, which is placed and has explicit
/// movement. Takes the kernels of its calls from `kernels`, which must outlive
/// the graph; `byLabel` replaces their costs. If an argument is carried into
/// another one and buffers have one slot (`credits` 1), inserts a copy into the
/// program. Emits a remark for each donation whose memory is not reused. Fails,
/// with a diagnostic, at anything not in the required form.
FailureOr<ActionGraph> buildGraph(ProgramOp program, PlacedModule &module,
                                  const CostModel &costs, LabelCosts &byLabel,
                                  KernelTable &kernels, uint32_t credits);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_LOWERING_BUILDGRAPH_H
