//===- ContractionWriter.h - Products in registers --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Declares the class that writes one contraction. Matmul.cpp chooses and
/// writes the loops and tiles, Packing.cpp packs the parts of the operands that
/// are used together, and Int8Dot.cpp has what differs for bytes.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_CONTRACTION_CONTRACTIONWRITER_H
#define LIB_CODEGEN_CONTRACTION_CONTRACTIONWRITER_H

#include "CodegenInternal.h"
#include "LoopWriter.h"
#include "Vectorize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pathways::kernel {

/// Returns true if adjacent elements along the loop dimension `dim` are
/// adjacent in `buffer`, whose subscripts are `map`.
bool isDenseAlong(Value buffer, AffineMap map, int64_t dim);

/// Returns the bytes between elements that are adjacent along `dim`.
int64_t strideAlong(Value buffer, AffineMap map, int64_t dim);

/// Columns of one register tile, as vectors.
struct Columns {
  Value first;
  Value panel; ///< number of the panel
  SmallVector<int64_t> widths;
};

/// A right operand that was transposed before the loops in which it does not
/// change.
struct Turned {
  Value rhs;
  SmallVector<int64_t> order; ///< the order of its dimensions n, k and others
  Value panels;
};

/// Writer of one contraction.
class ContractionWriter : LoopWriter {
public:
  /// Transposed operands are added to `turned`, for other contractions of the
  /// function.
  ContractionWriter(linalg::LinalgOp op, const MatmulTiles &tiles,
                    SmallVectorImpl<Turned> &turned)
      : LoopWriter(op), op(op), tiles(tiles), turned(turned) {}

  /// Returns false, and changes nothing, if this writer does not support the
  /// op.
  bool match();
  void write();

private:
  /// bytes of a column in one block
  static constexpr int64_t kDepthBytes = 1536;
  static constexpr int64_t kQuadDepth = 1024;
  static constexpr int64_t kQuadRows = 128; ///< rows that share columns
  /// rows that share columns, in products other than quads
  static constexpr int64_t kRowBlock = 256;
  using Sums = SmallVector<Value>;

  /// Positions of the loop dimensions; -1 if there is none.
  int64_t m = -1, n = -1, k = -1;

  int64_t size(int64_t dim) const { return dim < 0 ? 1 : sizes[dim]; }
  int64_t panelWidth() const { return tileVectors * vectors.most; }
  /// Returns the steps of k in one block.
  int64_t depthBlock() const {
    return usesQuads ? kQuadDepth
                     : kDepthBytes * 8 / element.getIntOrFloatBitWidth();
  }
  MemRefType panelsType(int64_t depth) const {
    int64_t width = panelWidth(), count = llvm::divideCeil(size(n), width);
    return MemRefType::get({count, depth, width},
                           getElementTypeOrSelf(rhs.getType()));
  }
  /// Returns vectors of elements of an operand, with as many elements as a
  /// vector of C has.
  Lanes vectorsOf(Value operand) const {
    Lanes lanes = vectors;
    lanes.element = getElementTypeOrSelf(operand.getType());
    return lanes;
  }
  bool matchBody();
  void chooseTile();

  /// Returns the subscripts of an operand for the given values of the loop
  /// dimensions.
  SmallVector<Value> subscripts(AffineMap map, Value mv, Value nv, Value kv);
  /// Calls `body` for all tiles of columns from left to right.
  void forEachColumns(llvm::function_ref<void(const Columns &)> body);
  bool chooseTurned(int64_t &depth) const;
  /// Writes all columns of B and `depth` steps of k from `begin` on as panels.
  void turnAroundB(OpFoldResult begin, int64_t depth);
  /// Writes all of B as panels before the loops in which B does not change.
  void turnAroundInFront();
  void packB(Value kBegin, Value kEnd);
  void packA(Value rowBegin, Value rowEnd, Value kBegin, Value kEnd);
  void takeFill();
  /// Writes all tiles for one block of k.
  void writeBlock(Value kBegin, Value kEnd);
  Value loadA(Value row, Value kv);
  Value loadB(const Columns &columns, size_t v, Value kv);
  /// Returns the factor that is multiplied, converted from a loaded value.
  Value converted(Value value, Operation *by);
  /// Adds the terms of a block of k to the sums of a tile.
  void addTerms(Value kBegin, Value kEnd, ArrayRef<Value> rows,
                const Columns &columns, Sums &sums);
  void allocateQuads();
  void packQuadsOfB(Value kBegin, Value kEnd);
  void packQuadsOfA(Value rowBegin, Value rowEnd, Value kBegin, Value kEnd);
  void addQuads(Value kBegin, Value kEnd, ArrayRef<Value> rows,
                const Columns &columns, Sums &sums);
  /// Writes one register tile of `rows` rows from `row` on.
  void writeTile(Value kBegin, Value kEnd, Value row, int64_t rows,
                 const Columns &columns);

  linalg::LinalgOp op;
  const MatmulTiles &tiles;
  SmallVectorImpl<Turned> &turned;
  Value lhs, rhs, out;
  AffineMap lhsMap, rhsMap, outMap;
  SmallVector<int64_t> sizes;
  SmallVector<int64_t> others; ///< loop dimensions other than m, n, k
  SmallVector<Value> outer;    ///< values of `others`
  Type element;
  /// Ops that convert an operand before it is multiplied, or null.
  Operation *convertsLhs = nullptr, *convertsRhs = nullptr;
  Lanes vectors; ///< vectors of C
  int64_t tileRows = 1, tileVectors = 1;
  bool turnsB = false, packsB = false, packsA = false;
  bool roundsOnce = false; ///< multiplies and adds with one rounding
  bool usesQuads = false;  ///< see Int8Dot.cpp
  Value quads;             ///< packed B for byte products
  Value corrections;       ///< by row of the block of A
  Value panels; ///< panels of B by panel, k, column; null if B is read in place
  Value panelBegin;           ///< first k of the panels; null stands for 0
  Value blockA;               ///< packed rows of A; null if A is read in place
  Value blockRow, blockBegin; ///< first row and first k of blockA
  Value fill; ///< initial value of the sums; null if they begin with C
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_CONTRACTIONWRITER_H
