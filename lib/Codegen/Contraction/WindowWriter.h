//===- WindowWriter.h - Windows in registers --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Declares the class that writes one reduction over windows. Convolution.cpp
/// makes the choices and copies operands into a form that is fast to read;
/// WindowTiles.cpp writes the loops.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_CONTRACTION_WINDOWWRITER_H
#define LIB_CODEGEN_CONTRACTION_WINDOWWRITER_H

#include "CodegenInternal.h"
#include "LoopWriter.h"
#include "Vectorize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::pathways::kernel {

/// A sum of loop dimensions, each times a number, and a constant.
struct Subscript {
  SmallVector<int64_t> factors;
  int64_t constant = 0;
};

/// Value of a loop dimension: `base`, unless it is null, plus `offset`.
struct Position {
  Value base;
  int64_t offset = 0;
};

/// An operand that the op reads.
struct Input {
  unsigned number = 0; ///< number of the body's argument
  Value buffer;
  SmallVector<Subscript> subscripts;
  /// Elements between neighbors along n; 0 if the operand is not a vector.
  int64_t along = 0;
  /// Depends on n, but its vectors are built from single elements.
  bool isGathered = false;

  // The next fields are set if the buffer is the inside of a padded operand.
  SmallVector<int64_t> low;  ///< elements of padding in front, by dimension
  SmallVector<bool> checked; ///< dimensions with padding
  Value border;              ///< a row of padding; null if not padded

  bool isVector() const { return along != 0 || isGathered; }
  bool isPadded() const { return static_cast<bool>(border); }
  bool isFunctionOf(int64_t dim) const {
    return llvm::any_of(subscripts, [&](const Subscript &subscript) {
      return subscript.factors[dim] != 0;
    });
  }
};

/// Writer of one op.
class WindowWriter : LoopWriter {
public:
  WindowWriter(linalg::LinalgOp op, const MatmulTiles &tiles)
      : LoopWriter(op), op(op), tiles(tiles) {}

  /// Returns false, and changes nothing, if this writer does not support the
  /// op.
  bool match();
  /// Returns the next op if this one absorbed it, otherwise null.
  Operation *write();

private:
  /// Steps of a long innermost dimension that are unrolled.
  static constexpr int64_t kUnroll = 4;

  using Next = llvm::function_ref<void()>;
  using Sums = SmallVector<Value>;

  bool matchBody();
  bool matchInputs();
  void turnAround(Input &input);
  void takePadding(Input &input);
  void takeTail();
  bool isByVector() const;
  void chooseTile();
  void chooseBlocks();
  void chooseOrder();

  int64_t size(int64_t dim) const { return dim < 0 ? 1 : sizes[dim]; }
  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Returns true if the innermost dimension of a sum is a loop of its own.
  bool isStepped() const {
    return !inner.empty() && writtenOut == inner.size();
  }

  /// Writes a loop that runs `next` with `dim` at begin, begin + step, ...
  void over(int64_t dim, int64_t begin, int64_t end, int64_t step, Next next);
  void nest(size_t level);
  void columns(size_t level);
  void rowTiles(size_t level);

  Value valueOf(const Subscript &subscript);
  SmallVector<Value> subscriptsOf(const Input &input);
  SmallVector<Value> resultSubscripts();
  /// Returns whether no window of the tile leaves an operand.
  Value isInside();
  /// Returns the row of `input` at the current position, or a row of padding.
  Value rowOf(const Input &input);
  /// Finds the rows of all padded operands for all rows of the tile.
  void findRows();
  Value load(const Input &input, int64_t row, int64_t width);

  void writeTile();
  void writeSums(bool isGuarded);
  void addTerms(size_t i, Sums &sums);
  void addTerm(Sums &sums);
  Value combine(Value sum, ArrayRef<Value> terms, VectorType type);
  Value finish(Value sum, int64_t width);

  linalg::LinalgOp op;
  const MatmulTiles &tiles;
  SmallVector<int64_t> sizes;
  AffineMap outMap;
  Value out;
  Type element;
  bool isFused = false; ///< multiplies and adds with one rounding
  SmallVector<Input> inputs;

  int64_t m = -1, n = -1; ///< positions of loop dimensions; -1 if there is none
  SmallVector<int64_t> others;  ///< other parallel dimensions
  SmallVector<int64_t> outside; ///< reductions around the tiles
  /// reductions inside the tiles, except those of one step
  SmallVector<int64_t> inner;
  size_t writtenOut = 0; ///< inner reductions from this index on are unrolled
  size_t steady = 0; ///< inner reductions from this index on do not move rows
  int64_t block = 0; ///< steps of inner[0] at a time; 0 means all of them
  Value blockEnd;

  enum class Level { Other, Outside, Block, Columns, Rows };
  SmallVector<std::pair<Level, int64_t>> levels;

  int64_t mostRows = 1, mostVectors = 1;
  Lanes vectors;            ///< vectors of the result
  SmallVector<Position> at; ///< current values of the loop dimensions
  int64_t rows = 1;
  /// Widths of the vectors of the tile. For a width that is not a power of 2,
  /// the first lanes of a full vector are used.
  SmallVector<int64_t> widths;
  Value fill; ///< initial value of the sums; null if they begin with the result
  linalg::GenericOp tail; ///< Elementwise op applied to complete sums, or null.
  Value target;           ///< buffer that the sums are stored to
  bool isGuarded = false;
  SmallVector<SmallVector<Value>> found; ///< rows by input and row of the tile
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_WINDOWWRITER_H
