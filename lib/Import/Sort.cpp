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
// Each element of a merge waits for the comparison before it. So a loop merges
// two pairs of runs at once, one from either half of the line.
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
  /// Two neighboring runs from `begin` to `middle` and from there to `end`.
  struct Pair {
    Value begin, middle, end;
  };
  /// Returns the runs of `length` elements at `begin`, as far as they are in
  /// the line.
  Pair getPair(Value begin, Value length);
  /// Emits the merge of one element. `places` is the place in either run, and
  /// becomes the next one. Returns the lines with the element at `to`.
  FailureOr<SmallVector<Value>> emitElement(ValueRange from, Value to,
                                            const Pair &pair,
                                            MutableArrayRef<Value> places,
                                            ValueRange lines);
  /// Emits the merges of two pairs. The second one has no more elements.
  FailureOr<SmallVector<Value>> emitMerges(ValueRange from, ValueRange to,
                                           const Pair &first,
                                           const Pair &second);
  /// Merges runs of `length` elements of `from`, and returns the lines that
  /// were `to`. Each run ends at the end of the line at the latest.
  FailureOr<SmallVector<Value>> emitPass(ValueRange from, ValueRange to,
                                         Value length);

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

LineSorter::Pair LineSorter::getPair(Value begin, Value length) {
  Value limit = createIndex(b, loc, size);
  auto getEnd = [&](Value from) -> Value {
    Value end = arith::AddIOp::create(b, loc, from, length);
    return arith::MinSIOp::create(b, loc, end, limit);
  };
  begin = arith::MinSIOp::create(b, loc, begin, limit);
  Value middle = getEnd(begin);
  return {begin, middle, getEnd(middle)};
}

FailureOr<SmallVector<Value>>
LineSorter::emitElement(ValueRange from, Value to, const Pair &pair,
                        MutableArrayRef<Value> places, ValueRange lines) {
  Value first = places[0], second = places[1];
  // The place after the last element of a run may be the end of the line. All
  // places are clamped, so that they need no checks.
  Value last = createIndex(b, loc, size - 1);
  auto clamp = [&](Value place) -> Value {
    return arith::MinUIOp::create(b, loc, place, last);
  };
  Value ofFirst = clamp(first), ofSecond = clamp(second);
  SmallVector<Value> arguments;
  for (Value line : from)
    for (Value place : {ofSecond, ofFirst})
      arguments.push_back(tensor::ExtractOp::create(b, loc, line, place));
  auto precedes = emitScalarRegion(b, comparator, arguments);
  if (failed(precedes))
    return failure();
  auto compare = [&](arith::CmpIPredicate kind, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, kind, x, y);
  };
  // The second run is next only if its element must come before the first one.
  Value isFirstDone = compare(arith::CmpIPredicate::sge, first, pair.middle);
  Value hasSecond = compare(arith::CmpIPredicate::slt, second, pair.end);
  Value isSecond = arith::OrIOp::create(b, loc, isFirstDone, precedes->front());
  isSecond = arith::AndIOp::create(b, loc, isSecond, hasSecond);
  Value one = createIndex(b, loc, 1);
  Value nextFirst = arith::AddIOp::create(b, loc, first, one),
        nextSecond = arith::AddIOp::create(b, loc, second, one);
  places[0] = arith::SelectOp::create(b, loc, isSecond, first, nextFirst);
  places[1] = arith::SelectOp::create(b, loc, isSecond, nextSecond, second);
  // A choice between floats would become a branch, which is mispredicted half
  // of the time, so the place is chosen.
  Value chosen = arith::SelectOp::create(b, loc, isSecond, ofSecond, ofFirst);
  to = clamp(to);
  SmallVector<Value> next;
  for (auto [source, line] : llvm::zip(from, lines)) {
    Value element = tensor::ExtractOp::create(b, loc, source, chosen);
    next.push_back(tensor::InsertOp::create(b, loc, element, line, to));
  }
  return next;
}

FailureOr<SmallVector<Value>> LineSorter::emitMerges(ValueRange from,
                                                     ValueRange to,
                                                     const Pair &first,
                                                     const Pair &second) {
  Value zero = createIndex(b, loc, 0), one = createIndex(b, loc, 1);
  Value count = arith::SubIOp::create(b, loc, second.end, second.begin);
  SmallVector<Value> inits{first.begin, first.middle, second.begin,
                           second.middle};
  llvm::append_range(inits, to);
  auto both = emitLoop(
      b, loc, zero, count, one, inits,
      [&](ValueRange indices,
          ValueRange carried) -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> places(carried.take_front(4)),
            lines(carried.drop_front(4));
        for (auto [pair, at] : {std::pair(&first, 0), std::pair(&second, 2)}) {
          Value place =
              arith::AddIOp::create(b, loc, pair->begin, indices.front());
          auto merged = emitElement(
              from, place, *pair, MutableArrayRef(places).slice(at, 2), lines);
          if (failed(merged))
            return failure();
          lines = *merged;
        }
        llvm::append_range(places, lines);
        return places;
      });
  if (failed(both))
    return failure();
  SmallVector<Value> rest{(*both)[0], (*both)[1]};
  rest.append(both->begin() + 4, both->end());
  auto results =
      emitLoop(b, loc, arith::AddIOp::create(b, loc, first.begin, count),
               first.end, one, rest,
               [&](ValueRange indices,
                   ValueRange carried) -> FailureOr<SmallVector<Value>> {
                 SmallVector<Value> next(carried.take_front(2));
                 auto merged = emitElement(from, indices.front(), first, next,
                                           carried.drop_front(2));
                 if (failed(merged))
                   return failure();
                 llvm::append_range(next, *merged);
                 return next;
               });
  if (failed(results))
    return failure();
  return SmallVector<Value>(llvm::drop_begin(*results, 2));
}

FailureOr<SmallVector<Value>>
LineSorter::emitPass(ValueRange from, ValueRange to, Value length) {
  Value both = arith::AddIOp::create(b, loc, length, length);
  // The first half of the pairs, which has one more if their number is odd.
  Value four = arith::AddIOp::create(b, loc, both, both);
  Value most =
      arith::AddIOp::create(b, loc, createIndex(b, loc, size - 1), four);
  Value half = arith::DivUIOp::create(b, loc, most, four);
  half = arith::MulIOp::create(b, loc, half, both);
  return emitLoop(b, loc, createIndex(b, loc, 0), half, both, to,
                  [&](ValueRange places,
                      ValueRange lines) -> FailureOr<SmallVector<Value>> {
                    Value begin = places.front();
                    Value other = arith::AddIOp::create(b, loc, begin, half);
                    Pair first = getPair(begin, length),
                         second = getPair(other, length);
                    return emitMerges(from, lines, first, second);
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
