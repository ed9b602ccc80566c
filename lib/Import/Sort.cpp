//===- Sort.cpp - Sorting -------------------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sort becomes a merge sort of each line. It begins with runs of one element.
// Each pass merges pairs of neighboring runs from one buffer to another one,
// and the length of runs doubles. A loop contains two passes, there and back,
// so that each buffer keeps its place in the loop.
//
// The sort is always stable. Any comparator terminates, also one that is not an
// order, and only permutes elements.
//
//===----------------------------------------------------------------------===//

#include "Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

namespace {

/// Emits a merge sort of lines, vectors of `size` elements.
class LineSorter {
public:
  LineSorter(ConversionPatternRewriter &b, stablehlo::SortOp op, int64_t size)
      : b(b), loc(op.getLoc()), comparator(op.getComparator()), size(size) {}

  /// Returns `lines` sorted, then as many lines of scratch memory, which were
  /// `scratch`.
  FailureOr<SmallVector<Value>> sort(ValueRange lines, ValueRange scratch);

private:
  /// Merges runs of `length` elements of `from`, and returns the lines that
  /// were `to`. Each run ends at the end of the line at the latest.
  FailureOr<SmallVector<Value>> emitPass(ValueRange from, ValueRange to,
                                         Value length);
  /// Emits the body of a loop over the elements of two merged runs. It carries
  /// the place in either run, then the lines that are written.
  FailureOr<SmallVector<Value>> emitElement(ValueRange from, Value place,
                                            ValueRange carried, Value middle,
                                            Value end);

  ConversionPatternRewriter &b;
  Location loc;
  Region &comparator;
  int64_t size;
};

struct LowerSort : OpConversionPattern<stablehlo::SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

FailureOr<SmallVector<Value>> LineSorter::emitElement(ValueRange from,
                                                      Value place,
                                                      ValueRange carried,
                                                      Value middle, Value end) {
  Value first = carried[0], second = carried[1];
  // The place after the last element of a run may be the end of the line.
  Value last = createIndex(b, loc, size - 1);
  auto read = [&](Value line, Value at) -> Value {
    Value here = arith::MinSIOp::create(b, loc, at, last);
    return tensor::ExtractOp::create(b, loc, line, here);
  };
  SmallVector<Value> firsts, seconds, arguments;
  for (Value line : from) {
    firsts.push_back(read(line, first));
    seconds.push_back(read(line, second));
    arguments.push_back(seconds.back());
    arguments.push_back(firsts.back());
  }
  auto precedes = emitScalarRegion(b, comparator, arguments);
  if (failed(precedes))
    return failure();
  auto compare = [&](arith::CmpIPredicate kind, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, kind, x, y);
  };
  // The second run is next only if its element must come before the first one.
  Value isFirstDone = compare(arith::CmpIPredicate::sge, first, middle);
  Value hasSecond = compare(arith::CmpIPredicate::slt, second, end);
  Value isSecond = arith::OrIOp::create(b, loc, isFirstDone, precedes->front());
  isSecond = arith::AndIOp::create(b, loc, isSecond, hasSecond);
  Value one = createIndex(b, loc, 1);
  Value nextFirst = arith::AddIOp::create(b, loc, first, one),
        nextSecond = arith::AddIOp::create(b, loc, second, one);
  SmallVector<Value> next{
      arith::SelectOp::create(b, loc, isSecond, first, nextFirst),
      arith::SelectOp::create(b, loc, isSecond, nextSecond, second)};
  for (auto [x, y, line] : llvm::zip(firsts, seconds, carried.drop_front(2))) {
    Value element = arith::SelectOp::create(b, loc, isSecond, y, x);
    next.push_back(tensor::InsertOp::create(b, loc, element, line, place));
  }
  return next;
}

FailureOr<SmallVector<Value>>
LineSorter::emitPass(ValueRange from, ValueRange to, Value length) {
  Value limit = createIndex(b, loc, size), one = createIndex(b, loc, 1);
  Value both = arith::AddIOp::create(b, loc, length, length);
  return emitLoop(b, loc, createIndex(b, loc, 0), limit, both, to,
                  [&](ValueRange places,
                      ValueRange lines) -> FailureOr<SmallVector<Value>> {
                    Value begin = places.front();
                    auto getEnd = [&](Value distance) -> Value {
                      Value end =
                          arith::AddIOp::create(b, loc, begin, distance);
                      return arith::MinSIOp::create(b, loc, end, limit);
                    };
                    Value middle = getEnd(length), end = getEnd(both);
                    SmallVector<Value> inits{begin, middle};
                    llvm::append_range(inits, lines);
                    auto results =
                        emitLoop(b, loc, begin, end, one, inits,
                                 [&](ValueRange place, ValueRange carried) {
                                   return emitElement(from, place.front(),
                                                      carried, middle, end);
                                 });
                    if (failed(results))
                      return failure();
                    return SmallVector<Value>(llvm::drop_begin(*results, 2));
                  });
}

FailureOr<SmallVector<Value>> LineSorter::sort(ValueRange lines,
                                               ValueRange scratch) {
  int64_t numPairs = llvm::divideCeil(llvm::Log2_64_Ceil(size), 2);
  Value one = createIndex(b, loc, 1);
  SmallVector<Value> inits{one};
  llvm::append_range(inits, lines);
  llvm::append_range(inits, scratch);
  auto results = emitLoop(
      b, loc, createIndex(b, loc, 0), createIndex(b, loc, numPairs), one, inits,
      [&](ValueRange, ValueRange carried) -> FailureOr<SmallVector<Value>> {
        Value length = carried.front();
        ValueRange from = carried.slice(1, lines.size()),
                   to = carried.drop_front(1 + lines.size());
        auto there = emitPass(from, to, length);
        if (failed(there))
          return failure();
        Value twice = arith::AddIOp::create(b, loc, length, length);
        auto back = emitPass(*there, from, twice);
        if (failed(back))
          return failure();
        SmallVector<Value> next{arith::AddIOp::create(b, loc, twice, twice)};
        llvm::append_range(next, *back);
        llvm::append_range(next, *there);
        return next;
      });
  if (failed(results))
    return failure();
  return SmallVector<Value>(llvm::drop_begin(*results));
}

LogicalResult
LowerSort::matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor,
                           ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  ValueRange inputs = adaptor.getInputs();
  auto shape = cast<RankedTensorType>(inputs.front().getType()).getShape();
  int64_t rank = shape.size(), dim = op.getDimension();
  if (dim < 0)
    dim += rank;
  if (rank == 0 || shape[dim] < 2 || llvm::is_contained(shape, 0)) {
    rewriter.replaceOp(op, inputs);
    return success();
  }
  LineSorter sorter(rewriter, op, shape[dim]);
  SmallVector<int64_t> loops(shape), lineSizes(rank, 1);
  loops[dim] = 1;
  lineSizes[dim] = shape[dim];
  // All lines share their scratch memory.
  SmallVector<Value> inits(inputs);
  for (Value input : inputs)
    inits.push_back(
        tensor::EmptyOp::create(rewriter, loc, ArrayRef<int64_t>(shape[dim]),
                                getElementTypeOrSelf(input.getType())));
  auto results =
      emitLoops(rewriter, loc, loops, inits,
                [&](ValueRange places,
                    ValueRange carried) -> FailureOr<SmallVector<Value>> {
                  ValueRange tensors = carried.take_front(inputs.size()),
                             scratch = carried.drop_front(inputs.size());
                  if (rank == 1)
                    return sorter.sort(tensors, scratch);
                  SmallVector<OpFoldResult> offsets(getAsOpFoldResult(places));
                  SmallVector<Value> lines;
                  for (Value tensor : tensors)
                    lines.push_back(emitSlice(rewriter, loc, tensor, offsets,
                                              lineSizes, dim));
                  auto sorted = sorter.sort(lines, scratch);
                  if (failed(sorted))
                    return failure();
                  for (auto [line, tensor] : llvm::zip(*sorted, tensors))
                    line = emitInsertSlice(rewriter, loc, line, tensor, offsets,
                                           lineSizes);
                  return sorted;
                });
  if (failed(results))
    return failure();
  results->truncate(inputs.size());
  rewriter.replaceOp(op, *results);
  return success();
}

void mlir::pathways::populateSortPatterns(const TypeConverter &types,
                                          RewritePatternSet &patterns) {
  patterns.add<LowerSort>(types, patterns.getContext());
}
