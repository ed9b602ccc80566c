//===- GspmdStrings.h - Shardings in the text of XLA ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attribute `mhlo.sharding` has text such as {devices=[2,1]<=[2]}.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_GSPMDSTRINGS_H
#define PATHWAYS_LIB_IMPORT_GSPMDSTRINGS_H

#include "MeshRefinement.h"

namespace mlir::pathways {

/// A sharding as its text states it.
struct GspmdSharding {
  enum class Kind {
    Replicated, ///< each partition has all elements
    Manual,     ///< the value is a shard already
    Free,       ///< nothing is said: one device only, or not known
    Tiled,      ///< cut by a grid of partitions
  };
  Kind kind = Kind::Free;
  /// Sizes of the grid: one per dimension of the tensor, then one for each
  /// element of `isManual`.
  SmallVector<int64_t> tiles;
  /// Kinds of the last dimensions of the grid: true for shards of a manual
  /// computation, false for copies.
  SmallVector<bool> isManual;
  /// The digits of the partitions at positions of the grid.
  Digits order;
  /// Dimensions that the compiler may cut further.
  SmallVector<int64_t> openDims;

  int64_t getRank() const { return tiles.size() - isManual.size(); }
};

/// Returns what `text` says. Fails, with a diagnostic by `emitError`, if it is
/// not the sharding of one tensor, or if its devices are no digits of the
/// numbers of partitions.
FailureOr<GspmdSharding>
parseGspmdSharding(StringRef text,
                   llvm::function_ref<InFlightDiagnostic()> emitError);

/// Adds the open dimensions that the backend_config of a call has, such as
/// `unspecified_dims=[0,1]`. Fails, without a diagnostic, if `config` cannot be
/// read.
LogicalResult addOpenDims(StringRef config, SmallVectorImpl<int64_t> &dims);

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_GSPMDSTRINGS_H
