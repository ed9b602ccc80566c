//===- WindowWriter.h - Windows in registers --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What writes one reduction over windows. Convolution.cpp chooses, and brings
/// operands to what is read fast; WindowTiles.cpp writes the loops.
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

/// The value of a loop dimension: `base`, if there is one, plus `offset`.
struct Position {
  Value base;
  int64_t offset = 0;
};

/// An operand that is read.
struct Input {
  unsigned number = 0; ///< of the argument of the body
  Value buffer;
  SmallVector<Subscript> subscripts;
  int64_t along = 0;       ///< elements from one of n to the next; 0: no vector
  bool isGathered = false; ///< has n, but vectors are made of single elements

  // Where it is what lies inside of padding:
  SmallVector<int64_t> low;  ///< elements in front, by dimension
  SmallVector<bool> checked; ///< dimensions with padding
  Value border;              ///< a row of padding

  bool isVector() const { return along != 0 || isGathered; }
  bool isPadded() const { return static_cast<bool>(border); }
  bool isFunctionOf(int64_t dim) const {
    return llvm::any_of(subscripts, [&](const Subscript &subscript) {
      return subscript.factors[dim] != 0;
    });
  }
};

/// One op being written.
class WindowWriter : LoopWriter {
public:
  WindowWriter(linalg::LinalgOp op, const MatmulTiles &tiles)
      : LoopWriter(op), op(op), tiles(tiles) {}

  /// Returns false, and changes nothing, when the op is not for it.
  bool match();
  /// Returns the op behind it that went with it, if one did.
  Operation *write();

private:
  /// Steps of a long innermost dimension that are written out at a time.
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
  /// Whether the innermost dimension of a sum is a loop of its own.
  bool isStepped() const {
    return !inner.empty() && writtenOut == inner.size();
  }

  /// `next` with `dim` at begin, begin + step, ...
  void over(int64_t dim, int64_t begin, int64_t end, int64_t step, Next next);
  void nest(size_t level);
  void columns(size_t level);
  void rowTiles(size_t level);

  Value valueOf(const Subscript &subscript);
  SmallVector<Value> subscriptsOf(const Input &input);
  SmallVector<Value> resultSubscripts();
  /// Whether no window of the tile leaves an operand.
  Value isInside();
  /// The row of `input` at the current position, or one of padding.
  Value rowOf(const Input &input);
  /// The rows of all operands with padding, for all rows of the tile.
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

  int64_t m = -1, n = -1;       ///< positions of loop dimensions; -1: none
  SmallVector<int64_t> others;  ///< parallel ones besides
  SmallVector<int64_t> outside; ///< reductions around the tiles
  SmallVector<int64_t> inner; ///< reductions inside, those of one step left out
  size_t writtenOut = 0;      ///< from here on, inner ones are written out
  size_t steady = 0; ///< from here on, inner ones leave rows where they are
  int64_t block = 0; ///< steps of inner[0] at a time; 0: all of them
  Value blockEnd;

  enum class Level { Other, Outside, Block, Columns, Rows };
  SmallVector<std::pair<Level, int64_t>> levels;

  int64_t mostRows = 1, mostVectors = 1;
  Lanes vectors;            ///< of the result
  SmallVector<Position> at; ///< where the loops are
  int64_t rows = 1;
  /// Of the vectors of the tile; of one that is no power of two, as many lanes
  /// of a full one are used.
  SmallVector<int64_t> widths;
  Value fill; ///< what sums begin with; none: with what is in the result
  linalg::GenericOp tail; ///< elementwise, on sums that are complete; or none
  Value target;           ///< where they go
  bool isGuarded = false;
  SmallVector<SmallVector<Value>> found; ///< by input and row
};

} // namespace mlir::pathways::kernel

#endif // LIB_CODEGEN_CONTRACTION_WINDOWWRITER_H
