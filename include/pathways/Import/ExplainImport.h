//===- ExplainImport.h - Report of imported operations ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A report of the import: the locations of operations carry the kind of the
// operation through the passes.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_IMPORT_EXPLAINIMPORT_H
#define PATHWAYS_IMPORT_EXPLAINIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir::pathways {

/// The operations of one kind in an imported module.
struct ImportedKind {
  std::string op;    ///< name, such as "stablehlo.add"
  int64_t count = 0; ///< number of these operations in the text
  /// Names and numbers of the operations that they became, in functions as they
  /// are compiled; the most frequent ones first.
  std::vector<std::pair<std::string, int64_t>> became;
};

/// Writes the kind of each operation into its location. Returns all kinds, the
/// most frequent ones first.
std::vector<ImportedKind> markKinds(ModuleOp module);

/// Fills in what operations became, and removes the marks of markKinds.
void collectKinds(ModuleOp module, std::vector<ImportedKind> &kinds);

} // namespace mlir::pathways

#endif // PATHWAYS_IMPORT_EXPLAINIMPORT_H
