//===- ShardFunctions.h - Generated functions for shards --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions in local view that passes generate, for example to split an array.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_TRANSFORMS_SHARDFUNCTIONS_H
#define PATHWAYS_LIB_TRANSFORMS_SHARDFUNCTIONS_H

#include "pathways/Dialect/Pathways/Pathways.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::pathways {

/// Generates functions for shards. Equal calls share one function.
class ShardFunctions {
public:
  /// Inserts the functions into `symbols`, which must outlive this object.
  explicit ShardFunctions(SymbolTable &symbols) : symbols(symbols) {}

  /// Returns the function for shards named `what`, of `type`, which has an
  /// input or a result. `build` makes its results from its arguments, and must
  /// do the same for each function with that name and type. Padding stays
  /// padding in it. If `isPartial`, its arguments may be contributions.
  FlatSymbolRefAttr
  get(ImplicitLocOpBuilder &builder, StringRef what, FunctionType type,
      bool isPartial,
      function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, ValueRange)>
          build);

  /// Returns the mesh of the slice of `type`.
  MeshAttr getMesh(ArrayType type) const;
  /// Returns the type of the shards of `type`.
  RankedTensorType getShard(ArrayType type) const;

private:
  SymbolTable &symbols;
  llvm::StringMap<FlatSymbolRefAttr> generated;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_TRANSFORMS_SHARDFUNCTIONS_H
