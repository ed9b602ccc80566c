//===- WindowTiles.cpp - Loops over windows -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a tile of the result, `rows` times some vectors, and the loops around
// it.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Contraction/WindowWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pathways;
using namespace mlir::pathways::kernel;

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

Value WindowWriter::valueOf(const Subscript &subscript) {
  Value sum;
  int64_t constant = subscript.constant;
  for (auto [factor, position] : llvm::zip_equal(subscript.factors, at)) {
    constant += factor * position.offset;
    if (factor == 0 || !position.base)
      continue;
    Value term = factor == 1
                     ? position.base
                     : arith::MulIOp::create(b, position.base, index(factor))
                           .getResult();
    sum = sum ? arith::AddIOp::create(b, sum, term).getResult() : term;
  }
  return sum ? add(sum, constant) : index(constant);
}

SmallVector<Value> WindowWriter::subscriptsOf(const Input &input) {
  return llvm::map_to_vector(input.subscripts, [&](const Subscript &subscript) {
    return valueOf(subscript);
  });
}

SmallVector<Value> WindowWriter::resultSubscripts() {
  SmallVector<Value> values;
  for (AffineExpr expr : outMap.getResults()) {
    const Position &position = at[cast<AffineDimExpr>(expr).getPosition()];
    values.push_back(position.base ? add(position.base, position.offset)
                                   : index(position.offset));
  }
  return values;
}

Value WindowWriter::isInside() {
  Value all;
  auto require = [&](Value value, int64_t extent) {
    Value ok = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value,
                                     index(extent));
    all = all ? arith::AndIOp::create(b, all, ok).getResult() : ok;
  };
  SmallVector<Position> before = at;
  for (const Input &input : inputs) {
    if (!input.isPadded())
      continue;
    for (auto [d, subscript] : llvm::enumerate(input.subscripts)) {
      if (!input.checked[d])
        continue;
      int64_t extent = cast<MemRefType>(input.buffer.getType()).getDimSize(d);
      for (bool isLargest : {false, true}) {
        auto place = [&](int64_t dim, int64_t last) {
          bool isAtEnd = (subscript.factors[dim] > 0) == isLargest;
          return isAtEnd ? last : 0;
        };
        for (int64_t dim : inner)
          at[dim] = {{}, place(dim, sizes[dim] - 1)};
        if (m >= 0)
          at[m].offset = before[m].offset + place(m, rows - 1);
        require(add(valueOf(subscript), -input.low[d]), extent);
        at = before;
      }
    }
  }
  return all;
}

Value WindowWriter::rowOf(const Input &input) {
  auto type = cast<MemRefType>(input.buffer.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets, extents(rank, b.getIndexAttr(1)),
      strides(rank, b.getIndexAttr(1));
  Value isThere;
  for (int64_t d = 0; d + 1 < rank; ++d) {
    Value value = add(valueOf(input.subscripts[d]), -input.low[d]);
    offsets.push_back(value);
    if (!input.checked[d])
      continue;
    Value ok = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value,
                                     index(type.getDimSize(d)));
    isThere = isThere ? arith::AndIOp::create(b, isThere, ok).getResult() : ok;
  }
  offsets.push_back(b.getIndexAttr(0));
  extents.back() = b.getIndexAttr(type.getDimSize(rank - 1));
  auto rowType = cast<MemRefType>(input.border.getType());
  auto viewType = memref::SubViewOp::inferRankReducedResultType(
      rowType.getShape(), type, offsets, extents, strides);
  Value row = memref::SubViewOp::create(b, viewType, input.buffer, offsets,
                                        extents, strides);
  if (viewType != rowType)
    row = memref::CastOp::create(b, rowType, row);
  return arith::SelectOp::create(b, isThere, row, input.border);
}

void WindowWriter::findRows() {
  found.assign(inputs.size(), {});
  for (auto [rowsOfInput, input] : llvm::zip_equal(found, inputs)) {
    if (!isGuarded || !input.isPadded())
      continue;
    int64_t count = m >= 0 && input.isFunctionOf(m) ? rows : 1;
    Position first = m >= 0 ? at[m] : Position();
    for (int64_t r = 0; r < count; ++r) {
      if (m >= 0)
        at[m].offset = first.offset + r;
      rowsOfInput.push_back(rowOf(input));
    }
    if (m >= 0)
      at[m] = first;
  }
}

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

Value WindowWriter::load(const Input &input, int64_t row, int64_t width) {
  if (input.isGathered) {
    Position first = at[n];
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < width; ++lane) {
      at[n].offset = first.offset + lane;
      elements.push_back(
          memref::LoadOp::create(b, input.buffer, subscriptsOf(input)));
    }
    at[n] = first;
    elements.resize(vectors.typeOf(width).getDimSize(0), elements.front());
    return vector::FromElementsOp::create(b, vectors.typeOf(width), elements);
  }
  const SmallVector<Value> &views = found[&input - inputs.data()];
  Value buffer = input.buffer;
  SmallVector<Value> where;
  if (views.empty()) {
    where = subscriptsOf(input);
    if (input.isPadded())
      for (auto [value, low] : llvm::zip_equal(where, input.low))
        value = add(value, -low);
  } else {
    buffer = views[std::min<int64_t>(row, views.size() - 1)];
    where = {valueOf(input.subscripts.back())};
  }
  if (input.along == 0)
    return memref::LoadOp::create(b, buffer, where);
  if (input.along == 1)
    return vectors.load(b, buffer, where, width);
  auto wide = VectorType::get((width - 1) * input.along + 1, element);
  Value all = vector::LoadOp::create(b, wide, buffer, where);
  SmallVector<int64_t> kept(vectors.typeOf(width).getDimSize(0), 0);
  for (int64_t lane = 0; lane < width; ++lane)
    kept[lane] = lane * input.along;
  return vector::ShuffleOp::create(b, all, all, kept);
}

Value WindowWriter::combine(Value sum, ArrayRef<Value> terms, VectorType type) {
  if (isFused)
    // vector.fma may become two roundings.
    return math::FmaOp::create(b, terms[0], terms[1], sum);
  IRMapping values;
  for (auto [input, term] : llvm::zip_equal(inputs, terms))
    values.map(op.getBlock()->getArgument(input.number), term);
  values.map(op.getBlock()->getArguments().back(), sum);
  return inLanes(b, op.getBlock()->getTerminator()->getOperand(0),
                 *op.getBlock(), values, type.getDimSize(0));
}

Value WindowWriter::finish(Value sum, int64_t width) {
  AffineMap map = tail.getMatchingIndexingMap(tail.getDpsInitOperand(0));
  SmallVector<Value> where = resultSubscripts();
  IRMapping values;
  for (OpOperand *operand : tail.getDpsInputOperands()) {
    Value argument = tail.getMatchingBlockArgument(operand), value = sum;
    if (operand->get() != out) {
      AffineMap own = tail.getMatchingIndexingMap(operand);
      SmallVector<Value> subscripts;
      for (AffineExpr expr : own.getResults())
        subscripts.push_back(where[*map.getResultPosition(expr)]);
      if (own.isFunctionOfDim(map.getDimPosition(map.getNumResults() - 1)))
        value = vectors.load(b, operand->get(), subscripts, width);
      else
        value = vector::BroadcastOp::create(
            b, vectors.typeOf(width),
            memref::LoadOp::create(b, operand->get(), subscripts));
    }
    values.map(argument, value);
  }
  return inLanes(b, tail.getBody()->getTerminator()->getOperand(0),
                 *tail.getBody(), values, vectors.typeOf(width).getDimSize(0));
}

void WindowWriter::addTerm(Sums &sums) {
  Position row = m >= 0 ? at[m] : Position(), column = at[n];
  // Indexed by input, row and vector. A load that does not depend on one of
  // these is stored once.
  SmallVector<SmallVector<SmallVector<Value>>> loaded(inputs.size());
  auto termOf = [&](size_t i, int64_t r, size_t v) -> Value {
    const Input &input = inputs[i];
    bool hasRows = m >= 0 && input.isFunctionOf(m);
    auto &ofInput = loaded[i];
    ofInput.resize(rows);
    auto &ofRow = ofInput[hasRows ? r : 0];
    ofRow.resize(widths.size());
    Value &term = ofRow[input.isVector() ? v : 0];
    if (!term)
      term = load(input, r, widths[v]);
    if (input.isVector())
      return term;
    return vector::BroadcastOp::create(b, vectors.typeOf(widths[v]), term);
  };
  for (int64_t r = 0; r < rows; ++r) {
    if (m >= 0)
      at[m].offset = row.offset + r;
    at[n] = column;
    for (auto [v, width] : llvm::enumerate(widths)) {
      SmallVector<Value> terms;
      for (size_t i = 0; i < inputs.size(); ++i)
        terms.push_back(termOf(i, r, v));
      Value &sum = sums[r * widths.size() + v];
      sum = combine(sum, terms, vectors.typeOf(width));
      at[n].offset += width;
    }
  }
  if (m >= 0)
    at[m] = row;
  at[n] = column;
}

void WindowWriter::addTerms(size_t i, Sums &sums) {
  if (i == steady)
    findRows();
  if (i == inner.size())
    return addTerm(sums);
  int64_t dim = inner[i];
  if (i >= writtenOut) {
    for (int64_t value = 0; value < sizes[dim]; ++value) {
      at[dim] = {{}, value};
      addTerms(i + 1, sums);
    }
    return;
  }
  bool isLast = i + 1 == inner.size();
  auto loopOver = [&](Value begin, Value end, int64_t step) {
    auto loop = scf::ForOp::create(b, begin, end, index(step), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Sums running(loop.getRegionIterArgs());
    for (int64_t u = 0; u < step; ++u) {
      at[dim] = {loop.getInductionVar(), u};
      addTerms(i + 1, running);
    }
    scf::YieldOp::create(b, running);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  };
  bool isBlocked = i == 0 && block > 0;
  Value begin = isBlocked ? at[dim].base : index(0);
  if (isBlocked && !begin)
    begin = index(at[dim].offset);
  Value end = isBlocked ? blockEnd : index(sizes[dim]);
  Position before = at[dim];
  const int64_t unroll =
      isLast ? kernel::stepsPerTurn(op, sizes[dim], sums.size(), kUnroll) : 1;
  if (unroll == 1) {
    loopOver(begin, end, 1);
  } else if (sizes[dim] % unroll == 0) {
    loopOver(begin, end, unroll);
  } else {
    // Only the last block can have a remainder.
    Value length = arith::SubIOp::create(b, end, begin);
    Value rest = arith::RemUIOp::create(b, length, index(unroll));
    Value middle = arith::SubIOp::create(b, end, rest);
    loopOver(begin, middle, unroll);
    loopOver(middle, end, 1);
  }
  at[dim] = before;
}

void WindowWriter::writeSums(bool guarded) {
  isGuarded = guarded;
  found.assign(inputs.size(), {});
  Position row = m >= 0 ? at[m] : Position(), column = at[n];
  auto forEach = [&](llvm::function_ref<void(int64_t, size_t)> body) {
    for (int64_t r = 0; r < rows; ++r) {
      if (m >= 0)
        at[m].offset = row.offset + r;
      at[n] = column;
      for (auto [v, width] : llvm::enumerate(widths)) {
        body(width, r * widths.size() + v);
        at[n].offset += width;
      }
    }
    if (m >= 0)
      at[m] = row;
    at[n] = column;
  };
  Sums sums;
  forEach([&](int64_t width, size_t) {
    sums.push_back(
        fill ? vector::BroadcastOp::create(b, vectors.typeOf(width), fill)
                   .getResult()
             : vectors.load(b, out, resultSubscripts(), width));
  });
  addTerms(0, sums);
  if (tail)
    forEach([&](int64_t width, size_t i) { sums[i] = finish(sums[i], width); });
  forEach([&](int64_t width, size_t i) {
    vectors.store(b, sums[i], target, resultSubscripts(), width);
  });
}

void WindowWriter::writeTile() {
  bool hasPadding =
      llvm::any_of(inputs, [](const Input &input) { return input.isPadded(); });
  // The terms of one row are the same code for any row. If each term looks up
  // its own row, one check that all rows exist is cheaper.
  if (!hasPadding || steady <= writtenOut || block > 0)
    return writeSums(hasPadding);
  auto branch = scf::IfOp::create(b, isInside(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  writeSums(/*isGuarded=*/false);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  writeSums(/*isGuarded=*/true);
}

//===----------------------------------------------------------------------===//
// Loops around the tiles
//===----------------------------------------------------------------------===//

void WindowWriter::over(int64_t dim, int64_t begin, int64_t end, int64_t step,
                        Next next) {
  loop(begin, end, step, [&](Value value) {
    bool isOnly = end - begin <= step;
    at[dim] = isOnly ? Position{{}, begin} : Position{value, 0};
    next();
  });
}

void WindowWriter::columns(size_t level) {
  int64_t wide = vectors.most * mostVectors;
  int64_t full = size(n) / wide * wide;
  widths.assign(mostVectors, vectors.most);
  over(n, 0, full, wide, [&] { nest(level + 1); });
  if (full == size(n))
    return;
  widths = vectors.widthsOf(size(n) - full);
  at[n] = {{}, full};
  nest(level + 1);
}

void WindowWriter::rowTiles(size_t level) {
  if (m < 0)
    return nest(level + 1);
  // Use tiles of about the same height.
  int64_t count = llvm::divideCeil(size(m), mostRows);
  int64_t low = size(m) / count, higher = size(m) % count;
  rows = low + 1;
  over(m, 0, higher * rows, rows, [&] { nest(level + 1); });
  int64_t begin = higher * rows;
  rows = low;
  over(m, begin, size(m), rows, [&] { nest(level + 1); });
}

void WindowWriter::nest(size_t level) {
  if (level == levels.size())
    return writeTile();
  auto [kind, dim] = levels[level];
  switch (kind) {
  case Level::Other:
  case Level::Outside:
    return over(dim, 0, sizes[dim], 1, [&] { nest(level + 1); });
  case Level::Block:
    return over(dim, 0, sizes[dim], block, [&] {
      blockEnd = at[dim].base ? min(add(at[dim].base, block), index(sizes[dim]))
                              : index(sizes[dim]);
      nest(level + 1);
    });
  case Level::Columns:
    return columns(level);
  case Level::Rows:
    return rowTiles(level);
  }
}
