//===- Paths.h - Code paths of the ops of a kernel --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Records which code each op became, for users who ask. Stages that take loops
/// record it here. Loops that remain go to LLVM and are judged by whether LLVM
/// can vectorize them.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_PATHS_H
#define LIB_CODEGEN_PATHS_H

#include "CodegenInternal.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::pathways::kernel {

/// Log of code paths, keyed by source locations, because stages fuse, cut and
/// copy ops.
class PathLog {
public:
  explicit PathLog(const MatmulTiles &tiles) : tiles(tiles) {}

  /// Records that `op`, and the ops fused into it, take `path`. As a plain
  /// loop, `op` takes `slowdown` times as long as vectors would.
  void add(Operation *op, StringRef path, double slowdown = 1);

  /// Records the path of `op` and of the structured ops that may remain of it.
  void addWhole(Operation *op, StringRef path);

  /// Records the paths of all ops of `func` that remain after the stages for
  /// loops.
  void addRest(func::FuncOp func);

  /// Appends the path of each op of `original` that computes or moves elements,
  /// in order. Emits a remark at each op that is much slower than it could be.
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
