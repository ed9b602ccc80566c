//===- Window.cpp - Reductions of windows ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction of windows becomes a linalg.generic over places and window that
// combines elements in the order of the window, beginning with the init value.
// If each window is all elements up to a place, as in a cumulative sum, a loop
// continues the result of the previous place instead.
//
//===----------------------------------------------------------------------===//

#include "Window.h"
#include "Loops.h"
#include "Reduction.h"
#include "Shape.h"
#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pathways;

/// Longest dimension along which sums of floats up to the end are computed one
/// by one, so that each begins with its first term. Longer ones are computed
/// from the end, which costs one addition for an element.
static constexpr int64_t kMostTermsFromFirst = 128;
/// Rows shorter than this are not worth a vector operation for each.
static constexpr int64_t kLeastRow = 8;

//===----------------------------------------------------------------------===//
// Functions for several files
//===----------------------------------------------------------------------===//

SmallVector<int64_t>
mlir::pathways::getListOr(std::optional<ArrayRef<int64_t>> list, int64_t size,
                          int64_t value) {
  return list ? SmallVector<int64_t>(*list) : SmallVector<int64_t>(size, value);
}

void mlir::pathways::getPadding(DenseIntElementsAttr padding, int64_t size,
                                SmallVectorImpl<int64_t> &low,
                                SmallVectorImpl<int64_t> &high) {
  low.assign(size, 0);
  high.assign(size, 0);
  if (!padding)
    return;
  for (auto [i, value] : llvm::enumerate(padding.getValues<APInt>()))
    (i % 2 == 0 ? low : high)[i / 2] = value.getSExtValue();
}

Value mlir::pathways::emitPadding(OpBuilder &b, Location loc, Value value,
                                  Value padding, ArrayRef<int64_t> low,
                                  ArrayRef<int64_t> high,
                                  ArrayRef<int64_t> steps) {
  // Element k of a dimension is moved to low + k * step, if that is in the
  // result.
  RankedTensorType type = getTensorType(value);
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape, starts, sizes, places, strides, after;
  bool isSpread = false, isPadded = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = type.getDimSize(dim), step = steps[dim];
    int64_t spread = size == 0 ? 0 : (size - 1) * step + 1;
    shape.push_back(std::max<int64_t>(0, low[dim] + spread + high[dim]));
    int64_t first =
        std::max<int64_t>(0, llvm::divideCeilSigned(-low[dim], step));
    int64_t last = std::min(
        size - 1, llvm::divideFloorSigned(shape[dim] - 1 - low[dim], step));
    starts.push_back(first);
    sizes.push_back(std::max<int64_t>(0, last - first + 1));
    places.push_back(low[dim] + first * step);
    strides.push_back(sizes.back() > 1 ? step : 1);
    after.push_back(shape[dim] - 1 - (low[dim] + last * step));
    isSpread |= strides.back() != 1;
    isPadded |= shape[dim] != sizes.back();
  }
  RankedTensorType resultType = type.clone(shape);
  if (llvm::is_contained(shape, 0) || llvm::is_contained(sizes, 0))
    return createFilled(b, loc, resultType, padding);
  SmallVector<OpFoldResult> partSizes =
      getAsIndexOpFoldResult(b.getContext(), sizes);
  SmallVector<OpFoldResult> offsets =
      getAsIndexOpFoldResult(b.getContext(), places);
  Value part = value;
  if (ArrayRef<int64_t>(sizes) != type.getShape())
    part = tensor::ExtractSliceOp::create(
        b, loc, value, getAsIndexOpFoldResult(b.getContext(), starts),
        partSizes, SmallVector<OpFoldResult>(rank, b.getIndexAttr(1)));
  if (isSpread)
    return tensor::InsertSliceOp::create(
        b, loc, part, createFilled(b, loc, resultType, padding), offsets,
        partSizes, getAsIndexOpFoldResult(b.getContext(), strides));
  if (!isPadded)
    return part;
  return tensor::PadOp::create(b, loc, resultType, part, offsets,
                               getAsIndexOpFoldResult(b.getContext(), after),
                               padding);
}

AffineExpr mlir::pathways::getWindowPlace(AffineExpr place, int64_t stride,
                                          AffineExpr step, int64_t dilation) {
  AffineExpr expr = place * stride;
  return step ? expr + step * dilation : expr;
}

//===----------------------------------------------------------------------===//
// Windows up to a place
//===----------------------------------------------------------------------===//

namespace {

/// The lists of an operation, with an element for each dimension.
struct WindowLists {
  SmallVector<int64_t> sizes, strides, baseDilations, dilations, low, high;

  explicit WindowLists(stablehlo::ReduceWindowOp op)
      : sizes(op.getWindowDimensions()) {
    int64_t rank = sizes.size();
    strides = getListOr(op.getWindowStrides(), rank);
    baseDilations = getListOr(op.getBaseDilations(), rank);
    dilations = getListOr(op.getWindowDilations(), rank);
    getPadding(op.getPaddingAttr(), rank, low, high);
  }

  /// Returns true if the results of dimension `dim` are its elements.
  bool isTrivial(int64_t dim) const {
    return sizes[dim] == 1 && strides[dim] == 1 && baseDilations[dim] == 1 &&
           low[dim] == 0 && high[dim] == 0;
  }
  /// Returns true if each window of dimension `dim`, which has `size` elements,
  /// is all elements up to a place, or from a place on if `isReversed`.
  bool isCumulative(int64_t dim, int64_t size, bool isReversed) const {
    return sizes[dim] >= size && strides[dim] == 1 && baseDilations[dim] == 1 &&
           dilations[dim] == 1 &&
           (isReversed ? high : low)[dim] == sizes[dim] - 1 &&
           (isReversed ? low : high)[dim] == 0;
  }
};

/// Writer of a loop along a dimension that combines each element with the
/// result at the place before, or after if `isReversed`.
struct ScanWriter {
  ConversionPatternRewriter &b;
  Location loc;
  const Combiner &combiner;
  bool isReversed;

  /// Returns the results for `inputs` and scalar `inits`, both prepared.
  FailureOr<SmallVector<Value>> write(ValueRange inputs, ValueRange inits,
                                      int64_t dim);

private:
  FailureOr<SmallVector<Value>> writeRows(ValueRange inputs, ValueRange inits,
                                          int64_t dim);
  FailureOr<SmallVector<Value>> writeElements(ValueRange inputs,
                                              ValueRange inits);
  FailureOr<SmallVector<Value>> combine(ValueRange sums, ValueRange elements) {
    return isReversed ? combiner.combine(b, elements, sums)
                      : combiner.combine(b, sums, elements);
  }
  /// Creates a loop over `size` places with `carried` values and moves `b` into
  /// it. Sets `place` to the place of an iteration.
  scf::ForOp startLoop(int64_t size, ValueRange carried, Value &place);
};

} // namespace

scf::ForOp ScanWriter::startLoop(int64_t size, ValueRange carried,
                                 Value &place) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value last = index(size - 1);
  auto loop =
      scf::ForOp::create(b, loc, index(0), index(size), index(1), carried);
  b.setInsertionPointToStart(loop.getBody());
  place = loop.getInductionVar();
  if (isReversed)
    place = arith::SubIOp::create(b, loc, last, place);
  return loop;
}

FailureOr<SmallVector<Value>> ScanWriter::writeElements(ValueRange inputs,
                                                        ValueRange inits) {
  size_t count = inputs.size();
  SmallVector<Value> carried(inits);
  for (Value input : inputs)
    carried.push_back(
        tensor::EmptyOp::create(b, loc, getTensorType(input).getShape(),
                                getTensorType(input).getElementType()));
  OpBuilder::InsertionGuard guard(b);
  Value place;
  scf::ForOp loop =
      startLoop(getTensorType(inputs.front()).getDimSize(0), carried, place);
  SmallVector<Value> elements;
  for (Value input : inputs)
    elements.push_back(tensor::ExtractOp::create(b, loc, input, place));
  ValueRange before = loop.getRegionIterArgs();
  auto sums = combine(before.take_front(count), elements);
  if (failed(sums))
    return failure();
  SmallVector<Value> next(*sums);
  for (auto [sum, result] : llvm::zip_equal(*sums, before.drop_front(count)))
    next.push_back(tensor::InsertOp::create(b, loc, sum, result, place));
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults().drop_front(count));
}

FailureOr<SmallVector<Value>>
ScanWriter::writeRows(ValueRange inputs, ValueRange inits, int64_t dim) {
  size_t count = inputs.size();
  SmallVector<int64_t> shape(getTensorType(inputs.front()).getShape());
  int64_t size = shape[dim], rank = shape.size();
  SmallVector<int64_t> rowShape(shape);
  rowShape.erase(rowShape.begin() + dim);
  SmallVector<Value> carried;
  for (auto [input, init] : llvm::zip_equal(inputs, inits))
    carried.push_back(
        createFilled(b, loc, getTensorType(input).clone(rowShape), init));
  for (Value input : inputs)
    carried.push_back(tensor::EmptyOp::create(
        b, loc, shape, getTensorType(input).getElementType()));
  OpBuilder::InsertionGuard guard(b);
  Value place;
  scf::ForOp loop = startLoop(size, carried, place);
  ValueRange before = loop.getRegionIterArgs();

  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
  offsets[dim] = place;
  shape[dim] = 1;
  auto kept = llvm::to_vector(llvm::seq<int64_t>(rank));
  kept.erase(kept.begin() + dim);
  SmallVector<Value> rows;
  for (Value input : inputs)
    rows.push_back(emitSlice(b, loc, input, offsets, shape, kept));
  SmallVector<AffineMap> maps(2 * count, b.getMultiDimIdentityMap(rank - 1));
  linalg::GenericOp generic;
  {
    OpBuilder::InsertionGuard inner(b);
    generic = createGeneric(b, loc, rows, before.take_front(count), maps, {});
    auto elements = generic.getRegionInputArgs();
    auto sums = combine(generic.getRegionOutputArgs(), elements);
    if (failed(sums))
      return failure();
    linalg::YieldOp::create(b, loc, *sums);
  }
  SmallVector<Value> next(generic->getResults());
  for (auto [sum, result] :
       llvm::zip_equal(generic->getResults(), before.drop_front(count)))
    next.push_back(emitInsertSlice(b, loc, sum, result, offsets, shape));
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults().drop_front(count));
}

FailureOr<SmallVector<Value>> ScanWriter::write(ValueRange inputs,
                                                ValueRange inits, int64_t dim) {
  SmallVector<int64_t> shape(getTensorType(inputs.front()).getShape());
  int64_t size = shape[dim], rank = shape.size();
  int64_t total = 1, inner = 1;
  for (auto [i, each] : llvm::enumerate(shape)) {
    total *= each;
    if (static_cast<int64_t>(i) > dim)
      inner *= each;
  }
  SmallVector<Value> moved(inputs);
  auto move = [&](MutableArrayRef<Value> values, auto emit) {
    for (Value &value : values)
      value = emit(value);
  };
  if (total == size) {
    move(moved, [&](Value v) { return emitReshape(b, loc, v, {size}); });
    auto results = writeElements(moved, inits);
    if (succeeded(results))
      move(*results, [&](Value v) { return emitReshape(b, loc, v, shape); });
    return results;
  }
  if (inner >= kLeastRow || dim == 0)
    return writeRows(inputs, inits, dim);
  // Elements of a row would be far apart.
  SmallVector<int64_t> order = {dim};
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim)
      order.push_back(i);
  move(moved, [&](Value v) { return emitTranspose(b, loc, v, order); });
  auto results = writeRows(moved, inits, 0);
  if (succeeded(results))
    move(*results, [&](Value v) {
      return emitTranspose(b, loc, v, invertPermutationVector(order));
    });
  return results;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Combines the elements of windows. `inputs` and scalar `inits` are prepared;
/// results have `shape`.
static FailureOr<SmallVector<Value>>
reduceWindows(ConversionPatternRewriter &b, Location loc,
              const Combiner &combiner, const WindowLists &lists,
              ArrayRef<Value> inputs, ArrayRef<Value> inits,
              ArrayRef<int64_t> shape) {
  int64_t rank = shape.size(), numLoops = rank;
  unsigned count = inputs.size();
  SmallVector<int64_t> window, reductions;
  SmallVector<AffineExpr> places, steps;
  for (int64_t dim = 0; dim < rank; ++dim) {
    AffineExpr step;
    if (lists.sizes[dim] != 1) {
      window.push_back(lists.sizes[dim]);
      reductions.push_back(numLoops);
      step = b.getAffineDimExpr(numLoops++);
      steps.push_back(step);
    }
    places.push_back(getWindowPlace(b.getAffineDimExpr(dim), lists.strides[dim],
                                    step, lists.dilations[dim]));
  }
  auto getMap = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(numLoops, 0, exprs, b.getContext());
  };
  SmallVector<Value> read, results;
  SmallVector<AffineMap> maps;
  for (auto [input, init] : llvm::zip_equal(inputs, inits)) {
    read.push_back(emitPadding(b, loc, input, init, lists.low, lists.high,
                               lists.baseDilations));
    maps.push_back(getMap(places));
    results.push_back(
        createFilled(b, loc, getTensorType(input).clone(shape), init));
  }
  // This operand only says how large the window is.
  if (!window.empty()) {
    read.push_back(tensor::EmptyOp::create(
        b, loc, window, getTensorType(inputs.front()).getElementType()));
    maps.push_back(getMap(steps));
  }
  maps.append(count, getLeadingDims(b, numLoops, rank));
  OpBuilder::InsertionGuard guard(b);
  auto generic = createGeneric(b, loc, read, results, maps, reductions);
  auto elements = generic.getRegionInputArgs();
  auto combined = combiner.combine(b, generic.getRegionOutputArgs(),
                                   elements.take_front(count));
  if (failed(combined))
    return failure();
  linalg::YieldOp::create(b, loc, *combined);
  return SmallVector<Value>(generic->getResults());
}

namespace {

struct LowerReduceWindow : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Combiner combiner(op.getBody());
    WindowLists lists(op);
    ArrayRef<int64_t> shape = getTensorType(op.getInputs().front()).getShape();
    ArrayRef<int64_t> resultShape = getTensorType(op.getResult(0)).getShape();

    SmallVector<Value> inputs, inits, results;
    bool keepsInits = true, areKnown = true;
    for (unsigned i = 0, e = combiner.getNumOperands(); i < e; ++i) {
      Type from = getTensorType(op.getInputs()[i]).getElementType();
      inputs.push_back(
          combiner.prepare(rewriter, adaptor.getInputs()[i], i, from));
      Value init = readScalar(rewriter, loc, adaptor.getInitValues()[i]);
      keepsInits &= combiner.keepsInit(init);
      areKnown &= matchPattern(init, m_Constant());
      inits.push_back(combiner.prepare(rewriter, init, i, from));
    }
    if (llvm::is_contained(resultShape, 0)) {
      for (auto [i, init] : llvm::enumerate(inits))
        results.push_back(createFilled(
            rewriter, loc,
            getTensorType(op.getResult(i)).clone(combiner.getType(i)), init));
    } else {
      bool isReversed = false;
      int64_t dim = findScan(combiner, lists, shape, isReversed);
      FailureOr<SmallVector<Value>> combined;
      // The operation requires that padding changes nothing.
      if (dim >= 0 &&
          (keepsInits || (!areKnown && shape[dim] > kMostTermsFromFirst)))
        combined = ScanWriter{rewriter, loc, combiner, isReversed}.write(
            inputs, inits, dim);
      else
        combined = reduceWindows(rewriter, loc, combiner, lists, inputs, inits,
                                 resultShape);
      if (failed(combined))
        return failure();
      results = *combined;
    }
    for (auto [i, result] : llvm::enumerate(results))
      result = combiner.finish(rewriter, result, i);
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Returns the only dimension with windows that are more than an element if
  /// its windows are all elements up to a place, or, if `isReversed`, from a
  /// place on. Otherwise returns -1. The result of a window begins with the
  /// init value and the first element. A loop from the end begins with the last
  /// one, so for floats it is used only where the windows are long.
  static int64_t findScan(const Combiner &combiner, const WindowLists &lists,
                          ArrayRef<int64_t> shape, bool &isReversed) {
    int64_t found = -1;
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (lists.isTrivial(dim))
        continue;
      if (found >= 0)
        return -1;
      found = dim;
    }
    if (found < 0 || shape[found] == 0)
      return -1;
    isReversed = !lists.isCumulative(found, shape[found], false);
    if (!isReversed)
      return found;
    return lists.isCumulative(found, shape[found], true) &&
                   (combiner.isExact() || shape[found] > kMostTermsFromFirst)
               ? found
               : -1;
  }
};

} // namespace

void mlir::pathways::populateWindowPatterns(const TypeConverter &types,
                                            RewritePatternSet &patterns) {
  patterns.add<LowerReduceWindow>(types, patterns.getContext());
  populateSelectAndScatterPatterns(types, patterns);
}
