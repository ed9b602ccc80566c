//===- ContractionWriter.h - Products in registers --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What writes one contraction. Matmul.cpp chooses and writes the loops and
/// tiles; Packing.cpp brings together what of the operands is used together;
/// Int8Dot.cpp has what is different for bytes.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_CONTRACTION_CONTRACTIONWRITER_H
#define LIB_CODEGEN_CONTRACTION_CONTRACTIONWRITER_H

#include "CodegenInternal.h"
#include "LoopWriter.h"
#include "Vectorize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pathways::kernel {

/// Whether neighbours along the loop dimension `dim` lie next to each other in
/// `buffer`, whose subscripts are `map`.
bool isDenseAlong(Value buffer, AffineMap map, int64_t dim);

/// Bytes between them.
int64_t strideAlong(Value buffer, AffineMap map, int64_t dim);

/// Vectors of columns that a register tile has.
struct Columns {
  Value first;
  Value panel; ///< its number
  SmallVector<int64_t> widths;
};

/// A right operand that was turned around before the loops in which it stays
/// the same.
struct Turned {
  Value rhs;
  SmallVector<int64_t> order; ///< which of its dimensions are n, k and others
  Value panels;
};

/// One contraction being written.
class ContractionWriter : LoopWriter {
public:
  /// What is turned around is added to `turned`, for others in the function.
  ContractionWriter(linalg::LinalgOp op, const MatmulTiles &tiles,
                    SmallVectorImpl<Turned> &turned)
      : LoopWriter(op), op(op), tiles(tiles), turned(turned) {}

  /// Returns false, and changes nothing, when the op is not for it.
  bool match();
  void write();

private:
  static constexpr int64_t kDepthBytes = 1536; ///< of a column in one block
  static constexpr int64_t kQuadDepth = 1024;
  static constexpr int64_t kQuadRows = 128; ///< that share columns
  static constexpr int64_t kRowBlock = 256; ///< likewise, of other products
  using Sums = SmallVector<Value>;

  /// Positions of the loop dimensions; -1: there is none.
  int64_t m = -1, n = -1, k = -1;

  int64_t size(int64_t dim) const { return dim < 0 ? 1 : sizes[dim]; }
  int64_t panelWidth() const { return tileVectors * vectors.most; }
  /// Steps of k in one block.
  int64_t depthBlock() const {
    return usesQuads ? kQuadDepth
                     : kDepthBytes * 8 / element.getIntOrFloatBitWidth();
  }
  MemRefType panelsType(int64_t depth) const {
    int64_t width = panelWidth(), count = llvm::divideCeil(size(n), width);
    return MemRefType::get({count, depth, width},
                           getElementTypeOrSelf(rhs.getType()));
  }
  /// Elements of an operand, as many in a vector as there are in one of C.
  Lanes vectorsOf(Value operand) const {
    Lanes lanes = vectors;
    lanes.element = getElementTypeOrSelf(operand.getType());
    return lanes;
  }
  bool matchBody();
  void chooseTile();

  /// Subscripts of an operand where the loop dimensions have the given values.
  SmallVector<Value> subscripts(AffineMap map, Value mv, Value nv, Value kv);
  /// Calls `body` for all tiles of columns from left to right.
  void forEachColumns(llvm::function_ref<void(const Columns &)> body);
  bool chooseTurned(int64_t &depth) const;
  /// All columns of B and `depth` steps of k from `begin` on, as panels.
  void turnAroundB(OpFoldResult begin, int64_t depth);
  /// All of B in front of the loops in which it stays the same.
  void turnAroundInFront();
  void packB(Value kBegin, Value kEnd);
  void packA(Value rowBegin, Value rowEnd, Value kBegin, Value kEnd);
  void takeFill();
  /// All tiles for one block of k.
  void writeBlock(Value kBegin, Value kEnd);
  Value loadA(Value row, Value kv);
  Value loadB(const Columns &columns, size_t v, Value kv);
  /// What is multiplied, of what was loaded.
  Value converted(Value value, Operation *by);
  /// Adds the terms of a block of k to the sums of a tile.
  void addTerms(Value kBegin, Value kEnd, ArrayRef<Value> rows,
                const Columns &columns, Sums &sums);
  void allocateQuads();
  void packQuadsOfB(Value kBegin, Value kEnd);
  void packQuadsOfA(Value rowBegin, Value rowEnd, Value kBegin, Value kEnd);
  void addQuads(Value kBegin, Value kEnd, ArrayRef<Value> rows,
                const Columns &columns, Sums &sums);
  /// One register tile: `rows` rows from `row`.
  void writeTile(Value kBegin, Value kEnd, Value row, int64_t rows,
                 const Columns &columns);

  linalg::LinalgOp op;
  const MatmulTiles &tiles;
  SmallVectorImpl<Turned> &turned;
  Value lhs, rhs, out;
  AffineMap lhsMap, rhsMap, outMap;
  SmallVector<int64_t> sizes;
  SmallVector<int64_t> others; ///< loop dimensions other than m, n, k
  SmallVector<Value> outer;    ///< their values
  Type element;
  /// What converts an operand before it is multiplied; or none.
  Operation *convertsLhs = nullptr, *convertsRhs = nullptr;
  Lanes vectors; ///< of C
  int64_t tileRows = 1, tileVectors = 1;
  bool turnsB = false, packsB = false, packsA = false;
  bool usesQuads = false;     ///< see Int8Dot.cpp
  Value quads;                ///< of B
  Value corrections;          ///< by row of the block of A
  Value panels;               ///< of B: panel, k, column; none: B as it is
  Value panelBegin;           ///< the k with which they begin; none: 0
  Value blockA;               ///< rows of A; none: A as it is
  Value blockRow, blockBegin; ///< the row and the k with which they begin
  Value fill;                 ///< what sums begin with; none: with what is in C
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_CONTRACTIONWRITER_H
