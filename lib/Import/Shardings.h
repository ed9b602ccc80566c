//===- Shardings.h - Meshes and shardings of modules ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_LIB_IMPORT_SHARDINGS_H
#define PATHWAYS_LIB_IMPORT_SHARDINGS_H

#include "mlir/IR/BuiltinOps.h"
#include "pathways/Dialect/Pathways/Pathways.h"
#include "pathways/Dialect/Shardy/Shardy.h"

namespace mlir::pathways {

/// The mesh of a module and its shardings, as those of pw.
class Shardings {
public:
  /// Brings all shardings of `module` to one mesh of sdy, and reads that mesh.
  /// Fails, with a diagnostic, if there is none such.
  LogicalResult read(ModuleOp module);

  /// Returns the mesh: without axes for one device.
  MeshAttr getMesh() const { return mesh; }

  /// Returns `sharding`, of a tensor of `rank` dimensions, as one of pw. If it
  /// is null, all dimensions are open, which on one device means not cut.
  /// Unreduced axes hold contributions to a sum. Fails, with a diagnostic at
  /// `loc`, if it has another rank or names an axis that the mesh lacks.
  FailureOr<ShardingAttr>
  convert(Location loc, sdy::TensorShardingAttr sharding, int64_t rank) const;

  /// Replaces constraints of shardings in `module` by pw.constrain, and removes
  /// operations that only guide the propagation of shardings. Meshes stay.
  /// Fails, with a diagnostic, at any other operation of sdy.
  LogicalResult lowerConstraints(ModuleOp module) const;

private:
  FailureOr<SmallVector<StringAttr>>
  getNames(Location loc, ArrayRef<sdy::AxisRefAttr> axes) const;
  LogicalResult lowerConstraint(sdy::ShardingConstraintOp op) const;

  MeshAttr mesh;
};

} // namespace mlir::pathways

#endif // PATHWAYS_LIB_IMPORT_SHARDINGS_H
