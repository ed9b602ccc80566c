//===- MatrixUnitWriter.h - Products on matrix units ------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Declares the class that writes one contraction with AMX instructions.
/// MatrixUnit.cpp chooses and writes the loops. MatrixUnitPacking.cpp packs the
/// operands in the order in which the instructions take them.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_CONTRACTION_MATRIXUNITWRITER_H
#define LIB_CODEGEN_CONTRACTION_MATRIXUNITWRITER_H

#include "Contraction/MatrixUnit.h"
#include "LoopWriter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::pathways::kernel {

/// Writer of one contraction. It computes the result in blocks of up to 2 x 2
/// tiles of 16 x 16 sums. One step multiplies 64 bytes of a row of the left
/// operand by 64 bytes of a column of the right one, in groups of four bytes.
class TileWriter : LoopWriter {
public:
  TileWriter(linalg::LinalgOp op, const MatrixUnit &unit)
      : LoopWriter(op), op(op), unit(unit) {}

  /// Returns false, and changes nothing, if this writer does not support the
  /// op.
  bool match();
  void write();

private:
  static constexpr int64_t kSide = 16; ///< rows and columns of a tile of sums
  static constexpr int64_t kRowBytes = 64;  ///< bytes of a row of any tile
  static constexpr int64_t kGroupBytes = 4; ///< bytes of a group
  static constexpr int64_t kRowBlock = 128; ///< rows that share columns
  static constexpr int64_t kStepBlock = 64; ///< steps that stay in the cache

  /// An operand and how the writer reads it.
  struct Operand {
    Value buffer;
    AffineMap map;
    int64_t dim = -1; ///< dimension of rows or columns; -1 if there is only one
    bool isSigned = true;
    /// Tiles with all steps of 16 rows or columns each; null if not packed.
    Value packed;
  };
  /// Rows, or columns, of the tiles of a block.
  using Sides = SmallVector<int64_t, 2>;
  struct Shape {
    Sides rows, columns;
  };
  /// Position of a block: its first row and column, and the first of the packed
  /// rows.
  struct Place {
    Value row, column, firstRow;
  };

  int64_t size(int64_t dim) const { return dim < 0 ? 1 : sizes[dim]; }
  int64_t stepSize() const { return kRowBytes / elementBytes; }
  int64_t groupSize() const { return kGroupBytes / elementBytes; }
  int64_t numSteps() const { return llvm::divideCeil(size(k), stepSize()); }
  /// Returns the steps without the remainder if that is a step of its own.
  int64_t plainSteps() const {
    return left.packed ? numSteps() : size(k) / stepSize();
  }

  //===-- MatrixUnit.cpp
  //-------------------------------------------------------===//
  bool matchBody();
  bool matchDims();
  void chooseSides();
  bool isDenseIn(const Operand &operand, int64_t dim) const;
  bool isWorthIt() const;
  void copyIfStridesAreOpen(Value &buffer);
  void chooseHeight();
  /// Returns the first row, or column, that does not fill a full block.
  int64_t edgeOf(int64_t dim) const;
  /// Returns the rows or columns of the first two tiles of `count`.
  Sides sidesOf(int64_t count) const;
  bool hasOneShape() const;
  void takeFill();
  /// Returns the value of a subscript at place `at` of dimension `dim` and `kv`
  /// of k.
  Value subscript(AffineExpr expr, int64_t dim, Value at, Value kv);
  SmallVector<Value> subscripts(AffineMap map, int64_t dim, Value at, Value kv);
  /// Returns the address of an element.
  Value addressOf(Value buffer, ValueRange where);
  Value addressOfSums(Value row, Value column);
  void call(StringRef name, ValueRange arguments);
  Value number(int64_t value, unsigned bits);
  void moveTile(StringRef name, int64_t tile, Value address, int64_t stride);
  void configure(const Shape &shape);
  void writeMatrix();
  void writeRows(Value first, Value last, const Sides &rows);
  void writeColumns(Value firstRow, Value lastRow, Value column,
                    const Shape &shape);
  void writeBlock(const Place &place, Value beginStep, Value endStep,
                  const Shape &shape);
  void beginSums(const Place &place, Value beginStep, const Shape &shape);
  void moveSums(StringRef name, const Place &place, const Shape &shape);
  void multiply(const Place &place, Value step, bool isTail,
                const Shape &shape);

  //===-- MatrixUnitPacking.cpp
  //-------------------------------------------------===//
  bool packsLeft() const;
  void allocateLeft();
  /// Copies an operand that is dense neither along k nor along its own
  /// dimension.
  void bringTogether(Operand &operand);
  /// Packs all columns of the right operand.
  void packRight();
  /// Packs `height` rows of the left operand from `first` on, or a multiple of
  /// `height`.
  void packLeft(Value first, Value last, int64_t height);
  void pack(const Operand &operand, Value begin, Value end, int64_t count,
            int64_t span, bool isTurned);
  void packAlongK(const Operand &operand, Value at, Value tile, int64_t width);
  void packGroups(const Operand &operand, Value at, Value tile, int64_t span,
                  int64_t width);
  void turn(const Operand &operand, Value begin, Value end);
  /// Loads `count` elements along k of one row or column, followed by zeros.
  Value loadAlongK(const Operand &operand, Value at, Value kv, int64_t count);
  /// Loads one group each of `span` rows or columns, 16 to a register. Only
  /// `width` of them, and `count` elements of a group, exist; the rest is zero.
  SmallVector<Value> loadGroups(const Operand &operand, Value at, Value kv,
                                int64_t span, int64_t width, int64_t count);
  Value loadSome(Value buffer, ValueRange where, int64_t span, int64_t count);
  Value zeros(VectorType type);
  SmallVector<Value> inTurns(Value first, Value second, int64_t unit);
  VectorType groupsType() { return VectorType::get(kSide, b.getI32Type()); }

  linalg::LinalgOp op;
  const MatrixUnit &unit;
  SmallVector<int64_t> sizes;
  int64_t m = -1, n = -1, k = -1; ///< loop dimensions of rows, columns, sums
  Operand left, right;
  Value tail; ///< Last step of the rows of a block, if it is not a full one.
  Value out;
  AffineMap outMap;
  int64_t height = 2 * kSide; ///< rows of a block
  int64_t elementBytes = 1;
  /// loop dimensions; those of `right` and the summed ones first
  SmallVector<int64_t> others;
  /// Number of `others` up to the last one of `right` that is not 1.
  int64_t numOfRight = 0;
  SmallVector<Value> outer; ///< values of `others`
  std::string instruction;  ///< name of the instruction that multiplies
  Value configuration;
  bool startsAtZero = false; ///< false: with the values in the result
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_MATRIXUNITWRITER_H
