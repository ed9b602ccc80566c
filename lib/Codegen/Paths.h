//===- Paths.h - By which way ops of a kernel are computed ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Keeps, for who wants to know, what code generation made of each op. Stages
/// that take loops for themselves say so here; what they leave goes to LLVM as
/// loops, and is judged by what LLVM makes vectors of.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_PATHS_H
#define LIB_CODEGEN_PATHS_H

#include "CodegenInternal.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::pathways::kernel {

/// By places in the source: ops have been fused, cut and copied by then.
class PathLog {
public:
  explicit PathLog(const MatmulTiles &tiles) : tiles(tiles) {}

  /// `op`, and what was fused into it, takes `path`; as a plain loop it takes
  /// `slowdown` times as long as vectors would.
  void add(Operation *op, StringRef path, double slowdown = 1);

  /// Likewise, and so do the structured ops that may be left of it.
  void addWhole(Operation *op, StringRef path);

  /// Everything of `func` that is left when the stages for loops are through.
  void addRest(func::FuncOp func);

  /// What became of the ops of `original` that compute or move elements, in its
  /// order. A remark at each that is much slower than it could be.
  void describe(func::FuncOp original, std::vector<OpPath> &paths) const;

private:
  struct Entry {
    SmallVector<StringRef, 2> paths;
    double slowdown = 1;
  };

  StringRef save(const Twine &text);

  const MatmulTiles &tiles;
  llvm::DenseMap<Attribute, Entry> entries; ///< by location
  llvm::StringSet<> texts;
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_PATHS_H
